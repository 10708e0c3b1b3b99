import type {
  ActivityBar,
  ActivityWindow,
  EndpointInfo,
  EndpointList,
  RegistrationInfo,
} from "../../console/protocol/deliveries.ts";
import type { EndpointSource } from "../../console/server/api.ts";
import { WebhookError } from "../../core/errors.ts";
import { maskUrl, webhooksPath } from "../../core/urls.ts";
import type { Webhook } from "../../hub/webhooks/schemas.ts";
import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import { formatWatched } from "../../payload/watch.ts";
import { endpointUnknown } from "../context.ts";
import { hour, hubDailyLimit, minute, type SlotSize, slotOf } from "../counts.ts";
import type { Endpoint } from "../endpoint.ts";
import type { SecretCheck } from "../request.ts";
import type { EarlierActivity, ShownActivity } from "./snapshot.ts";
import { type ConsoleSource, withInboxDeadline } from "./source.ts";

const windows: Readonly<Record<ActivityWindow, { length: number; slotsPerBar: number; size: SlotSize }>> = {
  "15m": { length: 15, slotsPerBar: 1, size: minute },
  "1h": { length: 12, slotsPerBar: 5, size: minute },
  "24h": { length: 24, slotsPerBar: 1, size: hour },
};

/** Returns the counts of an endpoint in the bars of a window, oldest first. `now`: milliseconds since the epoch. */
export function activityHistory(
  activity: Pick<ShownActivity, "countsIn">,
  { window, now }: { window: ActivityWindow; now: number },
): readonly ActivityBar[] {
  const { length, slotsPerBar, size } = windows[window];
  const first = slotOf(now, size) - length * slotsPerBar + 1;
  return Array.from({ length }, (_, bar) => {
    const sums = [0, 0, 0, 0];
    for (let slot = first + bar * slotsPerBar; slot < first + (bar + 1) * slotsPerBar; slot += 1) {
      const counts = activity.countsIn(size, slot);
      sums.forEach((sum, kind) => {
        sums[kind] = sum + (counts[kind] ?? 0);
      });
    }
    const [deliveries = 0, failures = 0, attempts = 0, failedAttempts = 0] = sums;
    return { deliveries, failures, attempts, failedAttempts };
  });
}

/** How long an answer of the Hub is cached. Opening the console must not use up the rate limit of the account. */
const cacheMs = 60_000;
const timeoutMs = 3_000;

/** Describes the webhook that delivers to `url`. */
function describeRegistration(
  url: string,
  webhooks: readonly Webhook[],
  { hubUrl, secretCheck }: { hubUrl: string; secretCheck: SecretCheck },
): RegistrationInfo {
  const identify = ({ id, url: target }: Webhook) => ({
    webhookId: id,
    url: target && maskUrl(target),
    settingsUrl: `${hubUrl}/settings/webhooks/${encodeURIComponent(id)}`,
  });
  const exact = webhooks.find((webhook) => isDeliveredTo(webhook, url));
  const path = url.slice(url.lastIndexOf(webhooksPath));
  const other = webhooks.find((webhook) => webhook.url && withoutQuery(webhook.url).endsWith(path));
  // The origin of a server that another server mounts is unknown.
  const found = exact ?? (url.startsWith("/") ? other : undefined);
  if (found) return { ...identify(found), ...stateOf(found, secretCheck) };
  if (other) {
    const message = `The webhook delivers to another server. Set its URL to ${url}, or run \`npx hub-webhooks sync\`.`;
    return { ...identify(other), state: "url-differs", message };
  }
  const message = "No webhook delivers to this endpoint. Create one on the Hub, or run `npx hub-webhooks sync`.";
  return { state: "missing", message };
}

/** Whether the deliveries of a webhook are sent to `url`. */
export function isDeliveredTo(webhook: Webhook, url: string): boolean {
  return webhook.url !== undefined && withoutQuery(webhook.url) === withoutQuery(url);
}

/** Returns whether a webhook delivers to this server, or why it does not. */
export function stateOf(webhook: Webhook, secretCheck: SecretCheck): Pick<RegistrationInfo, "state" | "message"> {
  const { disabled, hasSecret, secret = hasSecret === false ? "" : "***" } = webhook;
  // The Hub may return asterisks instead of a secret.
  if (secretCheck.isSet() && !/[*•]{3}/.test(secret) && !secretCheck.accepts(secret)) {
    const message = "The server refuses the secret of the webhook. Set WEBHOOK_SECRET, or run `npx hub-webhooks sync`.";
    return { state: "secret-differs", message };
  }
  if (disabled === false) return { state: "enabled" };
  // A literal, which the type checks: the schemas of the Hub stay unloaded.
  if (disabled === "suspended-after-failure") {
    const message = "The Hub suspended the webhook after failed deliveries. Fix the cause, then enable it.";
    return { state: "suspended", message };
  }
  return { state: "disabled", message: "The webhook is disabled. Enable it to receive deliveries." };
}

/** The query can contain the secret. */
function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/, "").replace(/\/$/, "");
}

interface InboxState {
  counts: Readonly<Record<string, DeliveryCounts>>;
  paused: readonly string[];
}

interface ReceiverEndpointsOptions {
  /** The activity before the last reload of a dev session. */
  earlier: EarlierActivity;
  onChange: () => void;
}

export class ReceiverEndpoints implements EndpointSource {
  readonly #source: ConsoleSource;
  readonly #options: ReceiverEndpointsOptions;
  #read: { at: number; webhooks: Promise<readonly Webhook[] | RegistrationInfo> } | undefined;

  constructor(source: ConsoleSource, options: ReceiverEndpointsOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** @param options.isFresh whether to ask the Hub, also if an answer is cached. */
  async list({ isFresh = false }: { isFresh?: boolean } = {}): Promise<EndpointList> {
    if (isFresh) this.#read = undefined;
    const { endpoints, activity, history } = this.#source.server;
    const inbox = await this.#readInbox();
    return {
      endpoints: await Promise.all(endpoints.all.map((endpoint) => this.#describe(endpoint, inbox))),
      startedAt: this.#options.earlier.firstStart(activity.startedAt),
      refused: history.refused,
    };
  }

  async pause(endpoint: string): Promise<void> {
    await withInboxDeadline((await this.#inboxOf(endpoint)).pause(endpoint));
    this.#options.onChange();
  }

  async resume(endpoint: string): Promise<void> {
    await withInboxDeadline((await this.#inboxOf(endpoint)).resume(endpoint));
    this.#options.onChange();
  }

  async #describe(endpoint: Endpoint, inbox: InboxState): Promise<EndpointInfo> {
    const { name, queue, watch, activity, scopes, actions, repos, refs, paths, ignoreSelf } = endpoint;
    const { server } = this.#source;
    const url = this.#source.urlOf(name);
    const shown = this.#options.earlier.addTo(name, activity);
    const { queued = 0, running = 0, dead = 0 } = inbox.counts[name] ?? {};
    const history = (window: ActivityWindow) => activityHistory(shown, { window, now: server.now() });
    const today = history("24h");
    return {
      ...{ name, url, background: queue !== undefined },
      ...{ scopes, actions, repos, refs, paths, ignoreSelf, watch: formatWatched(watch) },
      secret: server.secretCheck.isSet() ? "set" : "missing",
      registration: await this.#findRegistration(url),
      isPaused: inbox.paused.includes(name),
      activity: { "15m": history("15m"), "1h": history("1h"), "24h": today },
      handlerTime: activity.handlerTime,
      queue: queue && { queued, running, dead },
      today: { deliveries: today.reduce((sum, { deliveries }) => sum + deliveries, 0), limit: hubDailyLimit },
      catchUp: server.catchUps.get(name),
      last: shown.last && { status: shown.last.outcome, at: shown.last.at },
    };
  }

  /** Returns the state of the webhook whose URL is `url`. Never rejects. */
  async #findRegistration(url: string): Promise<RegistrationInfo> {
    const { hub, server } = this.#source;
    const { now } = server;
    const kept = this.#read;
    // The age is negative if the clock was set back.
    const isFresh = kept && now() >= kept.at && now() - kept.at <= cacheMs;
    const read = isFresh ? kept : { at: now(), webhooks: this.#listWebhooks() };
    this.#read = read;
    const webhooks = await read.webhooks;
    if ("state" in webhooks) return webhooks;
    return describeRegistration(url, webhooks, { hubUrl: hub.client.hubUrl, secretCheck: server.secretCheck });
  }

  async #listWebhooks(): Promise<readonly Webhook[] | RegistrationInfo> {
    try {
      return await this.#source.hub.client.webhooks.list({ signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      return { state: "unknown", message: WebhookError.isInstance(error) ? error.message : "The Hub did not answer." };
    }
  }

  async #readInbox(): Promise<InboxState> {
    const inbox = await this.#source.inbox();
    if (!inbox) return { counts: {}, paused: [] };
    const [counts, paused] = await withInboxDeadline(Promise.all([inbox.counts(), inbox.pausedEndpoints()]));
    return { counts, paused };
  }

  /** @throws `ENDPOINT_UNKNOWN`; `ARGUMENT_INVALID` for an inline endpoint, whose deliveries the Hub waits for. */
  async #inboxOf(name: string): Promise<Inbox> {
    const { endpoints } = this.#source.server;
    const endpoint = endpoints.byName.get(name);
    if (!endpoint) throw endpointUnknown(name, endpoints.names);
    const inbox = endpoint.queue && (await this.#source.inbox());
    if (inbox) return inbox;
    throw new WebhookError(
      `Endpoint "${name}" answers the Hub directly, so it cannot be paused. Register it with background: true.`,
      { code: "ARGUMENT_INVALID", status: 400 },
    );
  }
}
