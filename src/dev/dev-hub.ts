import { WebhookError } from "../core/errors.ts";
import { HubClient } from "../hub/client.ts";
import { developmentTokens } from "../local-hub/accounts.ts";
import { LocalHub } from "../local-hub/local-hub.ts";
import type { StartDevOptions } from "./dev-options.ts";
import { listenFrom } from "./next-free-port.ts";

/** The port of `hub-webhooks hub`. */
export const usualHubPort = 5050;

/** Short, so that a session stops quickly. The session itself retries what fails. */
const sessionLimits = { timeout: "10s", attempts: 2 } as const;

/** The Hub of a session. */
export interface DevHub {
  client: HubClient;
  /** What the server's process is to know of it. */
  environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** What {@link openDevHub} needs. */
export interface DevHubOptions extends Pick<StartDevOptions, "hub" | "hubPort" | "token" | "endpoint"> {
  /** Whether the deliveries of a local Hub leave this machine, for a tunnel that leads back. */
  allowRemote: boolean;
  signal: AbortSignal;
}

/**
 * Finds the real Hub, or starts a local one.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `OPTION_INVALID`; `HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED` and whatever else keeps
 * the real one from listing webhooks.
 */
export async function openDevHub(options: DevHubOptions): Promise<DevHub> {
  if (options.hub === "real") {
    const { token, endpoint, signal } = options;
    const client = new HubClient({ token, endpoint, ...sessionLimits });
    // A token that is missing or wrong is told before anything else is opened.
    await client.webhooks.list({ signal });
    const environment = { ...(endpoint && { HF_ENDPOINT: endpoint }), ...(token && { HF_TOKEN: token }) };
    return { client, environment, close: async () => {} };
  }
  const hub = await startLocalHub(options);
  const token = developmentTokens[0]?.token;
  return {
    client: new HubClient({ endpoint: hub.url, token }),
    // What the handlers themselves ask the Hub for goes to the same one; unless the user says which it is to be.
    environment: process.env.HF_ENDPOINT || token === undefined ? {} : { HF_ENDPOINT: hub.url, HF_TOKEN: token },
    close: () => hub.close(),
  };
}

async function startLocalHub({ hubPort, allowRemote }: DevHubOptions): Promise<LocalHub> {
  // Handlers that are being written fail; a webhook that is suspended for that would only be in the way.
  const options = { allowRemote, suspendAfter: Number.POSITIVE_INFINITY };
  const listen = (port: number) => LocalHub.launch({ ...options, port });
  if (hubPort !== undefined) return listen(hubPort);
  const isTaken = (error: unknown) => WebhookError.isInstance(error) && error.code === "PORT_IN_USE";
  return listenFrom(usualHubPort, { listen, isTaken });
}
