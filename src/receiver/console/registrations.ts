import type { RegistrationInfo } from "../../console/protocol/endpoints.ts";
import { WebhookError } from "../../core/errors.ts";
import { webhooksPath } from "../../core/paths.ts";
import { maskUrl } from "../../core/urls.ts";
import type { HubClient } from "../../hub/client.ts";
import { suspendedAfterFailure, type Webhook } from "../../hub/webhooks/schemas.ts";

/** How long an answer of the Hub is cached. Opening the console must not use up the rate limit of the account. */
const cacheMs = 60_000;
/** The maximum time that the page waits for the Hub. */
const timeoutMs = 3_000;

export interface RegistrationsOptions {
  hub: () => HubClient;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Finds the webhooks of endpoints on the Hub. */
export class Registrations {
  readonly #options: RegistrationsOptions;
  #read: { at: number; webhooks: Promise<readonly Webhook[] | RegistrationInfo> } | undefined;

  constructor(options: RegistrationsOptions) {
    this.#options = options;
  }

  /** Returns the state of the webhook whose URL is `url`. Never rejects. */
  async find(url: string): Promise<RegistrationInfo> {
    const { now } = this.#options;
    if (!this.#read || now() - this.#read.at > cacheMs) this.#read = { at: now(), webhooks: this.#list() };
    const webhooks = await this.#read.webhooks;
    if ("state" in webhooks) return webhooks;
    return describeRegistration(url, { webhooks, hubUrl: this.#options.hub().hubUrl });
  }

  async #list(): Promise<readonly Webhook[] | RegistrationInfo> {
    try {
      return await this.#options.hub().webhooks.list({ signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      return { state: "unknown", message: WebhookError.isInstance(error) ? error.message : "The Hub did not answer." };
    }
  }
}

/** Describes the webhook that delivers to `url`. */
function describeRegistration(
  url: string,
  { webhooks, hubUrl }: { webhooks: readonly Webhook[]; hubUrl: string },
): RegistrationInfo {
  const identify = ({ id, url: target }: Webhook) => ({
    webhookId: id,
    ...(target !== undefined && { url: maskUrl(target) }),
    settingsUrl: `${hubUrl}/settings/webhooks/${encodeURIComponent(id)}`,
  });
  const exact = webhooks.find(
    (webhook) => webhook.url !== undefined && withoutQuery(webhook.url) === withoutQuery(url),
  );
  if (exact) return { ...identify(exact), ...stateOf(exact) };
  const path = `${webhooksPath}${url.slice(url.lastIndexOf(webhooksPath) + webhooksPath.length)}`;
  const other = webhooks.find((webhook) => webhook.url !== undefined && withoutQuery(webhook.url).endsWith(path));
  // The origin of a server that another server mounts is unknown.
  if (other && url.startsWith("/")) return { ...identify(other), ...stateOf(other) };
  if (other) {
    const message = `The webhook delivers to another server. Set its URL to ${url}, or run \`npx hub-webhooks sync\`.`;
    return { ...identify(other), state: "url-differs", message };
  }
  const message = "No webhook delivers to this endpoint. Create one on the Hub, or run `npx hub-webhooks sync`.";
  return { state: "missing", message };
}

function stateOf({ disabled }: Webhook): Pick<RegistrationInfo, "state" | "message"> {
  if (disabled === false) return { state: "enabled" };
  if (disabled === suspendedAfterFailure) {
    return {
      state: "suspended",
      message: "The Hub suspended the webhook after failed deliveries. Fix the cause, then enable it.",
    };
  }
  return { state: "disabled", message: "The webhook is disabled. Enable it to receive deliveries." };
}

/** The query can contain the secret. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, "").replace(/\/$/, "");
}
