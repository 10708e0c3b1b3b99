import type { ActivityWindow, EndpointInfo, EndpointList } from "../../console/protocol/endpoints.ts";
import type { EndpointSource } from "../../console/server/endpoints-api.ts";
import { WebhookError } from "../../core/errors.ts";
import type { DeliveryCounts, Inbox } from "../../inbox/inbox.ts";
import { formatWatched } from "../../payload/watch.ts";
import type { Activity } from "../endpoint/activity.ts";
import type { Endpoint } from "../endpoint/endpoint.ts";
import { endpointUnknown } from "../endpoint/endpoint-registry.ts";
import { activityHistory } from "./activity-history.ts";
import type { EarlierActivity } from "./earlier-activity.ts";
import { withInboxDeadline } from "./inbox-deadline.ts";
import type { Registrations } from "./registrations.ts";

/** The maximum number of triggers per webhook in 24 hours on the Hub. */
const dailyLimit = 1_000;

export interface ReceiverEndpointsOptions {
  endpoints: ReadonlyMap<string, Endpoint>;
  activity: Activity;
  /** The activity before the last reload of a dev session. */
  earlier: EarlierActivity;
  registrations: Registrations;
  /** Opens the inbox, or returns `undefined` if no endpoint runs in the background. */
  inbox: () => Promise<Inbox> | undefined;
  isSecretSet: () => boolean;
  /** Milliseconds since the epoch. */
  now: () => number;
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
    const { endpoints, activity, earlier } = this.#options;
    const inbox = await this.#readInbox();
    return {
      endpoints: await Promise.all([...endpoints.values()].map((endpoint) => this.#describe(endpoint, inbox))),
      startedAt: earlier.firstStart(activity.startedAt.getTime()),
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
    const { earlier, registrations, isSecretSet, urlOf, now } = this.#options;
    const { name, queue, scopes, repos, watch } = endpoint;
    const { handlerTime } = endpoint.activity;
    const shown = earlier.addTo(name, endpoint);
    const counts = inbox.counts[name];
    const history = (window: ActivityWindow) => activityHistory(shown, { window, now: now() });
    const today = history("24h");
    return {
      ...{ name, url: urlOf(name), background: queue !== undefined },
      ...{ scopes, repos, watch: formatWatched(watch) },
      secret: isSecretSet() ? "set" : "missing",
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
    const { endpoints, inbox } = this.#options;
    const endpoint = endpoints.get(name);
    if (!endpoint) throw endpointUnknown(name, [...endpoints.keys()]);
    const opening = endpoint.queue && inbox();
    if (opening) return withInboxDeadline(opening);
    throw new WebhookError(
      `Endpoint "${name}" answers the Hub directly, so it cannot be paused. Register it with background: true.`,
      { code: "ARGUMENT_INVALID", status: 400 },
    );
  }
}
