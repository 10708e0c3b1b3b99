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
import { withInboxDeadline } from "../inbox.ts";
import type { SecretCheck } from "../request.ts";
import type { ConsoleSource } from "./inbox.ts";
import type { EarlierActivity, ShownActivity } from "./snapshot.ts";

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
    const firstOfBar = first + bar * slotsPerBar;
    const counts = Array.from({ length: slotsPerBar }, (_, slot) => activity.countsIn(size, firstOfBar + slot));
    const sum = (kind: number) => counts.reduce((total, slot) => total + (slot[kind] ?? 0), 0);
    return { deliveries: sum(0), failures: sum(1), attempts: sum(2), failedAttempts: sum(3) };
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

export type ReceiverEndpoints = ReturnType<typeof createEndpoints>;

/** @param options.earlier the activity before the last reload of a dev session. */
export function createEndpoints(
  source: ConsoleSource,
  { earlier, onChange }: { earlier: EarlierActivity; onChange: () => void },
) {
  const { server, hub } = source;
  const { endpoints, secretCheck, now } = server;
  let read: { at: number; webhooks: Promise<readonly Webhook[] | RegistrationInfo> } | undefined;

  const listWebhooks = async (): Promise<readonly Webhook[] | RegistrationInfo> => {
    try {
      return await hub.client.webhooks.list({ signal: AbortSignal.timeout(timeoutMs) });
    } catch (error) {
      return { state: "unknown", message: WebhookError.isInstance(error) ? error.message : "The Hub did not answer." };
    }
  };

  /** Returns the state of the webhook whose URL is `url`. Never rejects. */
  const findRegistration = async (url: string): Promise<RegistrationInfo> => {
    // The age is negative if the clock was set back.
    const isFresh = read && now() >= read.at && now() - read.at <= cacheMs;
    if (!read || !isFresh) read = { at: now(), webhooks: listWebhooks() };
    const webhooks = await read.webhooks;
    if ("state" in webhooks) return webhooks;
    return describeRegistration(url, webhooks, { hubUrl: hub.client.hubUrl, secretCheck });
  };

  const readInbox = async (): Promise<InboxState> => {
    const inbox = await source.inbox();
    if (!inbox) return { counts: {}, paused: [] };
    const [counts, paused] = await withInboxDeadline(Promise.all([inbox.counts(), inbox.pausedEndpoints()]));
    return { counts, paused };
  };

  const describe = async (endpoint: Endpoint, { counts, paused }: InboxState): Promise<EndpointInfo> => {
    const { name, queue, watch, activity, scopes, actions, repos, refs, paths, ignoreSelf } = endpoint;
    const url = source.urlOf(name);
    const shown = earlier.addTo(name, activity);
    const { queued = 0, running = 0, dead = 0 } = counts[name] ?? {};
    const history = (window: ActivityWindow) => activityHistory(shown, { window, now: now() });
    const today = history("24h");
    return {
      ...{ name, url, background: queue !== undefined },
      ...{ scopes, actions, repos, refs, paths, ignoreSelf, watch: formatWatched(watch) },
      secret: secretCheck.isSet() ? "set" : "missing",
      registration: await findRegistration(url),
      isPaused: paused.includes(name),
      activity: { "15m": history("15m"), "1h": history("1h"), "24h": today },
      handlerTime: activity.handlerTime,
      queue: queue && { queued, running, dead },
      today: { deliveries: today.reduce((sum, { deliveries }) => sum + deliveries, 0), limit: hubDailyLimit },
      catchUp: server.catchUps.get(name),
      last: shown.last && { status: shown.last.outcome, at: shown.last.at },
    };
  };

  /** @throws `ENDPOINT_UNKNOWN`; `ARGUMENT_INVALID` for an inline endpoint, whose deliveries the Hub waits for. */
  const inboxOf = async (name: string): Promise<Inbox> => {
    const endpoint = endpoints.byName.get(name);
    if (!endpoint) throw endpointUnknown(name, endpoints.names);
    const inbox = endpoint.queue && (await source.inbox());
    if (inbox) return inbox;
    throw new WebhookError(
      `Endpoint "${name}" answers the Hub directly, so it cannot be paused. Register it with background: true.`,
      { code: "ARGUMENT_INVALID", status: 400 },
    );
  };

  return {
    /** @param options.isFresh whether to ask the Hub, also if an answer is cached. */
    async list({ isFresh = false }: { isFresh?: boolean } = {}): Promise<EndpointList> {
      if (isFresh) read = undefined;
      const inbox = await readInbox();
      return {
        endpoints: await Promise.all(endpoints.all.map((endpoint) => describe(endpoint, inbox))),
        startedAt: earlier.firstStart(server.activity.startedAt),
        refused: server.history.refused,
      };
    },
    async pause(endpoint: string): Promise<void> {
      await withInboxDeadline((await inboxOf(endpoint)).pause(endpoint));
      onChange();
    },
    async resume(endpoint: string): Promise<void> {
      await withInboxDeadline((await inboxOf(endpoint)).resume(endpoint));
      onChange();
    },
  } satisfies EndpointSource;
}
