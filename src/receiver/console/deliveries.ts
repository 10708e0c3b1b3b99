import type {
  ConsoleStatus,
  DeadCount,
  DeadReplayed,
  DeliveryDetails,
  DeliveryKey,
  DeliverySummary,
  ReplayFailure,
} from "../../console/protocol/deliveries.ts";
import { countedStatuses } from "../../console/protocol/inbox.ts";
import {
  type DeliveryQuery,
  type DeliverySource,
  deliveryUnknown,
  FieldError,
  parseSentPayload,
} from "../../console/server/api.ts";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { userStackLines } from "../../core/terminal.ts";
import type { Inbox, StoredDelivery } from "../../inbox/inbox.ts";
import { predictFilter } from "../../payload/filter.ts";
import { problemsOf } from "../../payload/parse.ts";
import type { Endpoint } from "../endpoint.ts";
import type { RecentDelivery } from "../history.ts";
import { withInboxDeadline } from "../inbox.ts";
import { listDeliveries, summarize, timelineOf } from "./delivery-rows.ts";
import type { ConsoleSource } from "./inbox.ts";

const replaysAtOnce = 100;
const timeoutMs = 10_000;

interface ReplayDeadOptions {
  /** When to start no more replays, as `performance.now()` measures the time. */
  stopAt: number;
  onReplayed: (key: DeliveryKey) => void;
  log: Logger;
  mask: (message: string) => string;
}

/** Replays deliveries until all are replayed, or until `stopAt`. A failed replay does not stop the others. */
export async function replayAll(
  inbox: Pick<Inbox, "replay">,
  keys: readonly DeliveryKey[],
  { stopAt, onReplayed, log, mask }: ReplayDeadOptions,
): Promise<DeadReplayed> {
  const failures = new Map<string, ReplayFailure>();
  let [replayed, failed, next] = [0, 0, 0];
  const replay = async (key: DeliveryKey) => {
    try {
      await withInboxDeadline(inbox.replay(key), timeoutMs);
      replayed += 1;
    } catch (thrown) {
      const { code, message } = toWebhookError(thrown);
      const known = failures.get(code);
      if (!known) log.error({ ...key, code, err: thrown }, "A dead delivery could not be replayed.");
      failures.set(code, { code, error: known?.error ?? mask(message), count: (known?.count ?? 0) + 1 });
      failed += 1;
    }
    onReplayed(key);
  };
  while (next < keys.length && performance.now() < stopAt) {
    await Promise.all(keys.slice(next, next + replaysAtOnce).map(replay));
    next += replaysAtOnce;
  }
  const sorted = [...failures.values()].sort((one, other) => other.count - one.count);
  return { replayed, failed, failures: sorted, isMore: next < keys.length };
}

function toWebhookError(thrown: unknown): WebhookError {
  if (WebhookError.isInstance(thrown) && thrown.code !== "INTERNAL") return thrown;
  return new WebhookError("The inbox could not replay the delivery. See the log of the server for the cause.", {
    code: "INTERNAL",
    status: 500,
    cause: thrown,
  });
}

const maxBody = 1_048_576;
/** The maximum number of dead deliveries that one request counts or replays. */
const maxDead = 10_000;
const maxPageSize = 1_000;
const findTimeoutMs = 25_000;
/** After this time, a request starts no more replays. Proxies and `dev` wait 60 s for an answer. */
const replayTimeoutMs = 45_000;

/** The deliveries of a receiver: those in its inbox, and those in memory. */
export function createDeliveries(source: ConsoleSource) {
  const { server, pipeline, mask, urlOf } = source;
  const { history, endpoints, log } = server;
  const { recent } = history;
  const running = new Set<Promise<void>>();

  /** Runs a copy of a delivery, with a new ID. */
  const submit = async ({ endpoint: name, id: replayOf }: DeliveryKey, body: string): Promise<DeliveryKey> => {
    const endpoint = endpoints.byName.get(name);
    if (!endpoint) {
      throw new WebhookError(`The server has no endpoint "${name}" any longer. Register it again, then replay.`, {
        code: "ENDPOINT_UNKNOWN",
        status: 404,
      });
    }
    const { id, done } = await pipeline.submit(endpoint, { body, replayOf });
    if (done) {
      running.add(done);
      void done.finally(() => running.delete(done));
    }
    return { endpoint: name, id };
  };

  const findDead = async (query: DeliveryQuery): Promise<Omit<DeadCount, "count"> & { keys: DeliveryKey[] }> => {
    const inbox = await source.inbox();
    const dead: DeliveryQuery = { ...query, statuses: ["dead"] };
    // Without this limit, the search would continue after its request has failed.
    const stopAt = performance.now() + findTimeoutMs;
    const keys: DeliveryKey[] = [];
    let searchedUntil: number | undefined;
    let cursor: string | undefined;
    do {
      const page = await listDeliveries(dead, { limit: maxPageSize, cursor }, { inbox, recent });
      keys.push(...page.deliveries.map(({ endpoint, id }) => ({ endpoint, id })));
      searchedUntil = page.searchedUntil;
      cursor = page.next;
    } while (cursor !== undefined && keys.length <= maxDead && performance.now() < stopAt);
    const isMore = cursor !== undefined || keys.length > maxDead;
    return { keys: keys.slice(0, maxDead), isMore, ...(searchedUntil !== undefined && { searchedUntil }) };
  };

  const readTotals = async (inbox: Inbox | undefined): Promise<Partial<Record<ConsoleStatus, number>>> => {
    const totals: Partial<Record<ConsoleStatus, number>> = {};
    const add = (status: ConsoleStatus, count: number) => {
      if (count > 0) totals[status] = (totals[status] ?? 0) + count;
    };
    for (const { status } of recent.values()) add(status, 1);
    for (const counts of Object.values((await inbox?.counts()) ?? {})) {
      for (const status of countedStatuses) add(status, counts[status]);
    }
    return totals;
  };

  return {
    /** Waits until the replays of inline deliveries have ended. */
    async settle(): Promise<void> {
      await Promise.allSettled(running);
    },
    async list(query, page) {
      const inbox = await source.inbox();
      const [list, totals] = await withInboxDeadline(
        Promise.all([listDeliveries(query, page, { recent, inbox }), readTotals(inbox)]),
      );
      return { ...list, totals };
    },
    async summary(key: DeliveryKey): Promise<DeliverySummary | undefined> {
      const inMemory = recent.get(key);
      if (inMemory) return summarize(inMemory);
      const inbox = await source.inbox();
      const stored = inbox && (await withInboxDeadline(inbox.get(key)));
      return stored && summarize(stored);
    },
    async get(key) {
      const endpoint = endpoints.byName.get(key.endpoint);
      const shared = { url: urlOf(key.endpoint), recordsDetails: history.recordsDetails };
      const inMemory = recent.get(key);
      if (inMemory)
        return { ...describe(inMemory, inMemory.body), ...shared, prediction: predict(endpoint, inMemory.body) };
      const inbox = await source.inbox();
      if (!inbox) return undefined;
      const [stored, paused] = await withInboxDeadline(Promise.all([inbox.get(key), inbox.pausedEndpoints()]));
      if (stored?.body === undefined) return undefined;
      return {
        ...{ ...describe(stored, stored.body), ...shared },
        prediction: predict(endpoint, stored.body),
        retentionMs: endpoint?.queue?.retentionMs,
        ...(stored.status === "queued" && paused.includes(key.endpoint) && { isPaused: true }),
      };
    },
    async replay(key) {
      const inMemory = recent.get(key);
      if (inMemory) return submit(key, inMemory.body);
      const inbox = await source.inbox();
      if (!inbox) throw deliveryUnknown();
      await withInboxDeadline(inbox.replay(key));
      history.changed(key);
      return key;
    },
    async replayEdited(key, body) {
      try {
        return await submit(key, body);
      } catch (error) {
        if (!WebhookError.isInstance(error) || !["PAYLOAD_INVALID", "BODY_NOT_JSON"].includes(error.code)) throw error;
        throw new FieldError(error, problemsOf(error) ?? [{ path: [], problem: error.message }]);
      }
    },
    async countDead(query) {
      const { keys, ...rest } = await withInboxDeadline(findDead(query), replayTimeoutMs);
      return { count: keys.length, ...rest };
    },
    async replayDead(query) {
      const stopAt = performance.now() + replayTimeoutMs;
      const inbox = await source.inbox();
      if (!inbox) return { replayed: 0, failed: 0, failures: [], isMore: false };
      const { keys, isMore } = await withInboxDeadline(findDead(query), replayTimeoutMs);
      const result = await replayAll(inbox, keys, { stopAt, log, mask, onReplayed: (key) => history.changed(key) });
      return { ...result, isMore: isMore || result.isMore };
    },
    async discard(key) {
      const inbox = await source.inbox();
      if (!inbox || recent.get(key)) throw deliveryUnknown();
      await withInboxDeadline(inbox.discard(key));
      history.changed(key);
    },
  } satisfies DeliverySource & { settle: () => Promise<void>; summary: (key: DeliveryKey) => Promise<unknown> };
}

/** Predicts what the filter of an endpoint decides about a body. Missing if the endpoint is gone, or the body is not a Hub payload. */
function predict(endpoint: Endpoint | undefined, body: string): DeliveryDetails["prediction"] {
  const parsed = parseSentPayload(body);
  return endpoint && "payload" in parsed ? predictFilter(endpoint, parsed.payload) : undefined;
}

function describe(delivery: StoredDelivery | RecentDelivery, body: string) {
  const { headers } = delivery;
  const timeline = timelineOf(delivery);
  return {
    ...{ ...summarize(delivery), ...shownBody(body), timeline },
    failedAt: firstOwnFrame(timeline.at(-1)?.stack),
    headers: headers && Object.entries(headers),
  };
}

function firstOwnFrame(stack: string | undefined): string | undefined {
  const frame = /^\s+at (.+)/;
  return userStackLines(stack ?? "").flatMap((line) => frame.exec(line)?.[1] ?? [])[0];
}

function shownBody(body: string): Pick<DeliveryDetails, "body" | "bodyLength"> {
  return body.length <= maxBody ? { body } : { body: body.slice(0, maxBody).toWellFormed(), bodyLength: body.length };
}
