import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { defaultHubPort } from "../core/urls.ts";
import { HubClient } from "../hub/client.ts";
import { developmentTokens, serverToken } from "../local-hub/accounts.ts";
import { contextOf } from "../local-hub/hub-context.ts";
import { LocalHub } from "../local-hub/local-hub.ts";
import type { RegistrationSession } from "../registration/state.ts";
import { deleteStaleWebhooks, TemporaryWebhooks } from "../registration/temporary.ts";
import type { DevConfig } from "./dev-options.ts";
import { listenOnFreePort } from "./dev-proxy.ts";
import type { WebhookListeners } from "./webhook-reconciler.ts";

/** Low limits, because closing a session must not take minutes, and the session retries failed updates itself. */
const clientLimits = { timeout: "10s", attempts: 2 } as const;

/** A server can itself change the Hub while it loads, and its webhooks do not exist before. */
const maxHeldMs = 5_000;

/** The real Hub or local Hub that a session uses. */
export interface DevHub {
  client: HubClient;
  /** Missing on the real Hub. */
  localHub?: LocalHub;
  environment: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/**
 * Connects to the real Hub, or starts a local Hub.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `OPTION_INVALID`; `HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED`, and other errors
 * that occur when the webhooks on the real Hub are listed.
 */
export async function openDevHub(
  options: Pick<DevConfig, "isReal" | "hubPort" | "token" | "hubUrl"> & {
    /** Whether a local Hub can deliver to other machines, which is required for a tunnel. */
    allowRemote: boolean;
    /** Resolves when the webhooks of the session exist. Until then, at most {@link maxHeldMs}, the local Hub holds pushes. */
    ready: Promise<void>;
    signal: AbortSignal;
  },
): Promise<DevHub> {
  if (options.isReal) {
    const { token, hubUrl, signal } = options;
    const client = new HubClient({ token, hubUrl, ...clientLimits });
    // Fail early if the token is missing or invalid, before the other parts of the session are opened.
    await client.webhooks.list({ signal });
    const environment = { ...(hubUrl && { HF_ENDPOINT: hubUrl }), ...(token && { HF_TOKEN: token }) };
    return { client, environment, close: async () => {} };
  }
  const { hubPort, allowRemote, ready, signal } = options;
  // Never suspend webhooks, because handlers often fail during development.
  const listen = (port: number) => LocalHub.launch({ allowRemote, suspendAfter: Number.POSITIVE_INFINITY, port });
  const hub = await (hubPort === undefined ? listenOnFreePort(defaultHubPort, listen) : listen(hubPort));
  contextOf(hub).changesHeldUntil = Promise.race([
    ready,
    sleep(maxHeldMs, undefined, { signal, ref: false }).catch(() => {}),
  ]);
  const token = developmentTokens[0]?.token;
  return {
    client: new HubClient({ hubUrl: hub.url, token }),
    localHub: hub,
    // Handlers also use the local Hub, unless the user has set HF_ENDPOINT.
    environment: process.env.HF_ENDPOINT ? {} : { HF_ENDPOINT: hub.url, HF_TOKEN: serverToken },
    close: () => hub.close(),
  };
}

/**
 * Opens the state file for a session's temporary webhooks, without creating webhooks. On the real Hub, first deletes
 * webhooks that earlier sessions left behind. With a local Hub, which stops with the session, the state file is in a
 * temporary folder. `release` deletes this folder.
 *
 * @param options.alive the URL that other sessions request to check whether this session is running, and the expected response.
 * @throws `STATE_UNUSABLE`, and the signal's abort reason.
 */
export async function openWebhookState(
  { client, localHub }: DevHub,
  options: WebhookListeners & Pick<DevConfig, "state"> & Pick<RegistrationSession, "alive"> & { signal: AbortSignal },
): Promise<{ webhooks: TemporaryWebhooks; release(): Promise<void> }> {
  const { state, alive, signal, onSteps, onProblem } = options;
  const session = { id: randomUUID(), alive };
  if (localHub) {
    const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-dev-"));
    const webhooks = await TemporaryWebhooks.open({ client, state: join(folder, "registrations.json"), session });
    return { webhooks, release: () => rm(folder, { recursive: true, force: true }) };
  }
  const deleted = await deleteStaleWebhooks({ client, state, signal, onFailed: ({ error }) => onProblem(error) });
  if (deleted.length > 0) {
    onSteps(deleted.map(({ id, endpoint }) => `deleted webhook ${id} of ${endpoint}, left by an earlier session`));
  }
  return { webhooks: await TemporaryWebhooks.open({ client, state, session }), release: async () => {} };
}
