import { WebhookError } from "../errors.ts";
import { HubClient } from "../hub/client.ts";
import { developmentTokens } from "../local-hub/accounts.ts";
import { LocalHub } from "../local-hub/local-hub.ts";
import type { StartDevOptions } from "./dev-options.ts";

/** The port of `hub-webhooks hub`. */
const usualPort = 5050;

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
}

/**
 * Finds the real Hub, or starts a local one.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `OPTION_INVALID`.
 */
export async function openDevHub(options: DevHubOptions): Promise<DevHub> {
  if (options.hub === "real") {
    const { token, endpoint } = options;
    return { client: new HubClient({ token, endpoint }), environment: {}, close: async () => {} };
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
  try {
    return await LocalHub.start({ port: hubPort ?? usualPort, allowRemote });
  } catch (error) {
    if (hubPort !== undefined || !WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") throw error;
    return LocalHub.start({ allowRemote });
  }
}
