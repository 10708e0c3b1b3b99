import * as z from "zod/mini";
import type {
  ActivityBar,
  ActivityWindow,
  EndpointInfo,
  EndpointList,
  RegistrationInfo,
} from "../../console/protocol/endpoints.ts";
import type { EndpointSource } from "../../console/server/api.ts";
import { WebhookError } from "../../core/errors.ts";
import { maskUrl, webhooksPath } from "../../core/urls.ts";
import type { HubClient } from "../../hub/client.ts";
import { suspendedAfterFailure, type Webhook } from "../../hub/webhooks/schemas.ts";
import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import { formatWatched } from "../../payload/watch.ts";
import type { ServerContext } from "../context.ts";
import {
  type Activity,
  activityOutcomes,
  type EndpointActivity,
  hour,
  minute,
  type SlotSize,
  slotOf,
} from "../counts.ts";
import type { Endpoint } from "../endpoint.ts";
import { endpointUnknown } from "../endpoint-registry.ts";
import { withInboxDeadline } from "./inbox.ts";

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

/** A slot of time and its counts, in the order of {@link EndpointActivity.countsIn}. */
const slotCounts = z.tuple([z.number(), z.array(z.number())]);

const endpointSnapshot = z.object({
  name: z.string(),
  minutes: z.array(slotCounts),
  hours: z.array(slotCounts),
  last: z.optional(z.object({ outcome: z.enum(activityOutcomes), at: z.number() })),
});
type EndpointSnapshot = z.infer<typeof endpointSnapshot>;

const snapshot = z.object({
  /** Milliseconds since the epoch. */
  startedAt: z.number(),
  endpoints: z.array(endpointSnapshot),
});
type Snapshot = z.infer<typeof snapshot>;

/** The activity of an endpoint, as the console shows it. */
interface ShownActivity {
  countsIn(size: SlotSize, slot: number): ArrayLike<number>;
  /** `at`: milliseconds since the epoch. */
  last: EndpointSnapshot["last"];
}

interface EarlierEndpoint {
  minutes: ReadonlyMap<number, readonly number[]>;
  hours: ReadonlyMap<number, readonly number[]>;
  last: EndpointSnapshot["last"];
}

/** The activity of the earlier processes of a dev session. Empty in the first process and outside a session. */
export class EarlierActivity {
  readonly #startedAt: number | undefined;
  readonly #endpoints: ReadonlyMap<string, EarlierEndpoint>;

  private constructor({ startedAt, endpoints }: { startedAt?: number; endpoints: readonly EndpointSnapshot[] }) {
    this.#startedAt = startedAt;
    this.#endpoints = new Map(
      endpoints.map(({ name, minutes, hours, last }) => [
        name,
        { minutes: new Map(minutes), hours: new Map(hours), last },
      ]),
    );
  }

  /** Reads what {@link takeSnapshot} returned. Empty if the value has another format, from another version of this package. */
  static read(value: unknown): EarlierActivity {
    return new EarlierActivity(snapshot.safeParse(value).data ?? { endpoints: [] });
  }

  /** When the first process started, or `startedAt` if there is no earlier one. Milliseconds since the epoch. */
  firstStart(startedAt: number): number {
    return this.#startedAt ?? startedAt;
  }

  /** Adds the activity of an endpoint in the earlier processes to its activity in this one. */
  addTo(name: string, { activity }: { activity: EndpointActivity | undefined }): ShownActivity {
    const earlier = this.#endpoints.get(name);
    const last = activity?.last;
    return {
      countsIn: (size, slot) => {
        const own = activity?.countsIn(size, slot) ?? [];
        const before = (size === hour ? earlier?.hours : earlier?.minutes)?.get(slot);
        return before ? before.map((count, kind) => count + (own[kind] ?? 0)) : own;
      },
      last: last ? { outcome: last.outcome, at: last.at.getTime() } : earlier?.last,
    };
  }

  /** Returns the activity of this process and the earlier ones as plain data, for the next process. */
  takeSnapshot({
    activity,
    endpoints,
    now,
  }: {
    activity: Activity;
    endpoints: ReadonlyMap<string, { activity: EndpointActivity }>;
    /** Milliseconds since the epoch. */
    now: number;
  }): Snapshot {
    // An endpoint whose file has an error for a moment must not lose its counts.
    const names = new Set([...this.#endpoints.keys(), ...endpoints.keys()]);
    return {
      startedAt: this.firstStart(activity.startedAt.getTime()),
      endpoints: Array.from(names, (name) => {
        const shown = this.addTo(name, { activity: endpoints.get(name)?.activity });
        const { last } = shown;
        return {
          name,
          minutes: slotsOf(shown, { size: minute, now }),
          hours: slotsOf(shown, { size: hour, now }),
          ...(last && { last }),
        };
      }),
    };
  }
}

/** Returns the slots that are shown and have counts. */
function slotsOf(activity: ShownActivity, { size, now }: { size: SlotSize; now: number }): [number, number[]][] {
  const present = slotOf(now, size);
  return Array.from({ length: size.slots }, (_, age): [number, number[]] => [
    present - age,
    Array.from(activity.countsIn(size, present - age)),
  ]).filter(([, counts]) => counts.some((count) => count > 0));
}

/** How long an answer of the Hub is cached. Opening the console must not use up the rate limit of the account. */
const cacheMs = 60_000;
/** The maximum time that the page waits for the Hub. */
const timeoutMs = 3_000;

interface RegistrationsOptions {
  serverHub: { readonly client: HubClient };
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
    const kept = this.#read;
    // The age is negative if the clock was set back.
    const isFresh = kept && now() >= kept.at && now() - kept.at <= cacheMs;
    const read = isFresh ? kept : { at: now(), webhooks: this.#list() };
    this.#read = read;
    const webhooks = await read.webhooks;
    if ("state" in webhooks) return webhooks;
    return describeRegistration(url, { webhooks, hubUrl: this.#options.serverHub.client.hubUrl });
  }

  async #list(): Promise<readonly Webhook[] | RegistrationInfo> {
    try {
      return await this.#options.serverHub.client.webhooks.list({ signal: AbortSignal.timeout(timeoutMs) });
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

/** The maximum number of triggers per webhook in 24 hours on the Hub. */
const dailyLimit = 1_000;

interface ReceiverEndpointsOptions {
  server: ServerContext;
  /** The activity before the last reload of a dev session. */
  earlier: EarlierActivity;
  registrations: Registrations;
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  inbox: () => Promise<Inbox> | undefined;
  /** Returns the public URL of an endpoint. */
  urlOf: (endpoint: string) => string;
  /** Called after an endpoint was paused or resumed. */
  onChange: () => void;
}

/** The state of the endpoints in the inbox. */
interface InboxState {
  counts: Readonly<Record<string, DeliveryCounts>>;
  paused: readonly string[];
}

/** The endpoints of a receiver. */
export class ReceiverEndpoints implements EndpointSource {
  readonly #options: ReceiverEndpointsOptions;

  constructor(options: ReceiverEndpointsOptions) {
    this.#options = options;
  }

  async list(): Promise<EndpointList> {
    const { server, earlier } = this.#options;
    const inbox = await this.#readInbox();
    return {
      endpoints: await Promise.all(server.endpoints.all.map((endpoint) => this.#describe(endpoint, inbox))),
      startedAt: earlier.firstStart(server.activity.startedAt.getTime()),
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
    const { server, earlier, registrations, urlOf } = this.#options;
    const { name, queue, scopes, repos, watch } = endpoint;
    const { handlerTime } = endpoint.activity;
    const shown = earlier.addTo(name, endpoint);
    const counts = inbox.counts[name];
    const history = (window: ActivityWindow) => activityHistory(shown, { window, now: server.now() });
    const today = history("24h");
    return {
      ...{ name, url: urlOf(name), background: queue !== undefined },
      ...{ scopes, repos, watch: formatWatched(watch) },
      secret: server.secretCheck.isSet() ? "set" : "missing",
      registration: await registrations.find(urlOf(name)),
      isPaused: inbox.paused.includes(name),
      activity: { "15m": history("15m"), "1h": history("1h"), "24h": today },
      ...(handlerTime && { handlerTime }),
      ...(queue && {
        queue: { queued: counts?.queued ?? 0, running: counts?.running ?? 0, dead: counts?.dead ?? 0 },
      }),
      today: { deliveries: today.reduce((sum, { deliveries }) => sum + deliveries, 0), limit: dailyLimit },
      ...(shown.last && { last: { status: shown.last.outcome, at: shown.last.at } }),
    };
  }

  async #readInbox(): Promise<InboxState> {
    const opening = this.#options.inbox();
    if (!opening) return { counts: {}, paused: [] };
    const inbox = await withInboxDeadline(opening);
    const [counts, paused] = await withInboxDeadline(Promise.all([inbox.counts(), inbox.pausedEndpoints()]));
    return { counts, paused };
  }

  /** @throws `ENDPOINT_UNKNOWN`; `ARGUMENT_INVALID` for an inline endpoint, whose deliveries the Hub waits for. */
  async #inboxOf(name: string): Promise<Inbox> {
    const { server, inbox } = this.#options;
    const endpoint = server.endpoints.byName.get(name);
    if (!endpoint) throw endpointUnknown(name, server.endpoints.names);
    const opening = endpoint.queue && inbox();
    if (opening) return withInboxDeadline(opening);
    throw new WebhookError(
      `Endpoint "${name}" answers the Hub directly, so it cannot be paused. Register it with background: true.`,
      { code: "ARGUMENT_INVALID", status: 400 },
    );
  }
}
