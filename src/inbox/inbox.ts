import { optionError } from "../core/options.ts";
import type { Delivery, Outcome } from "../payload/parse.ts";
import type { RetryPolicy } from "./retry.ts";

/** The fields that identify a delivery. */
export type DeliveryKey = Pick<Delivery, "id" | "endpoint">;

/** A delivery to store, before its first attempt. */
export interface IncomingDelivery extends Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt"> {
  /** The request headers without secrets, by lower-case name. At most 4 KiB of JSON text, otherwise the last headers are not stored. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The ID of the delivery of the same endpoint of which this delivery is a copy. */
  readonly replayOf?: string | undefined;
}

/** A delivery that this process has claimed for an attempt. While the lease lasts, no other process runs the delivery. */
export interface ClaimedDelivery extends Omit<IncomingDelivery, "headers" | "replayOf">, Pick<Delivery, "attempt"> {
  /** Whether the delivery becomes dead if this attempt fails. */
  readonly isLastAttempt: boolean;
  /** Milliseconds until the next attempt if this attempt fails, unless the handler sets `retryAt`. */
  readonly retryDelayMs: number;
}

/**
 * The status of a delivery. `queued`: waiting for an attempt. `running`: an attempt is in progress. `succeeded`: an attempt has
 * succeeded. `ignored`: a condition of the endpoint ignored the delivery. Its last attempt has the reason. `dead`: the delivery failed
 * and is not retried, but can be replayed. `cancelled`: the delivery was discarded. It does not run, but can be replayed.
 */
export type DeliveryStatus = "queued" | "running" | "succeeded" | "ignored" | "dead" | "cancelled";

/** All statuses, in the order of a delivery's lifecycle. */
export const deliveryStatuses: readonly DeliveryStatus[] = [
  "queued",
  "running",
  "succeeded",
  "ignored",
  "dead",
  "cancelled",
];

/** What is recorded of one attempt, at most 16 KiB of JSON text. If it is larger, the inbox cuts it and sets `isTruncated`. */
export interface AttemptDetails {
  /** The handler's result as JSON text. Missing if the handler returned `undefined`. */
  result?: string;
  /** The stack of the thrown error, with its causes. */
  stack?: string;
  /** The lines that the handler logged with `context.log`, oldest first. */
  logs?: readonly AttemptLog[];
  /** Whether something was cut to fit the limit. */
  isTruncated?: boolean;
}

/** A line that a handler logged during an attempt. */
export interface AttemptLog {
  /** Milliseconds since the epoch. */
  at: number;
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** The JSON text of an object. */
  fields?: string;
}

/** One run of a handler for a delivery. */
export interface DeliveryAttempt {
  /** The number of the attempt, starting at 1. */
  number: number;
  /** Missing if the process crashed during the attempt and the inbox is in Redis or PostgreSQL. */
  startedAt?: Date;
  /**
   * The duration in milliseconds. If the process crashed during the attempt, SQLite stores the time until the last heartbeat, and
   * Redis and PostgreSQL store no duration.
   */
  durationMs?: number;
  /**
   * `ignored`: a condition of the endpoint ignored the delivery, and the handler did not run. `abandoned`: the process stopped or lost
   * its lease before the handler finished.
   */
  outcome: "succeeded" | "ignored" | "failed" | "abandoned";
  /** The error of a failed or abandoned attempt. */
  error?: { code: string; message: string };
  /** Why the delivery was ignored. */
  reason?: string;
  /** Only returned by `Inbox.get`. Deleted with the body after the retention period. */
  details?: AttemptDetails;
}

/** A delivery in the inbox. */
export interface StoredDelivery extends DeliveryKey, Pick<Delivery, "receivedAt"> {
  status: DeliveryStatus;
  /** When the next attempt of a queued delivery is due. */
  dueAt?: Date;
  /** When the current attempt of a running delivery started. */
  startedAt?: Date;
  /** When the delivery succeeded, was ignored, became dead, or was discarded. */
  finishedAt?: Date;
  /** The body as it was received. Missing after the retention period, when only the ID is kept to detect duplicates. */
  body?: string;
  /** The request headers without secrets. Only returned by `Inbox.get`. Deleted with the body after the retention period. */
  headers?: Readonly<Record<string, string>>;
  /** The ID of the delivery of the same endpoint of which this delivery is a copy. Missing if it is not a copy. */
  replayOf?: string;
  attempts: readonly DeliveryAttempt[];
}

/** An endpoint's handler and the settings with which the inbox runs the handler. */
export interface EndpointQueue {
  endpoint: string;
  /** The maximum number of deliveries that run at the same time in this process. */
  concurrency: number;
  policy: RetryPolicy;
  /** The retention period of finished deliveries. */
  retentionMs: number;
  /**
   * Runs the handler and never rejects. The signal is aborted when `Inbox.close` is called and when the lease of the delivery is
   * lost. If the handler fails after the signal was aborted, the attempt is interrupted: the delivery runs again,
   * and the attempt does not count.
   */
  run: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<FinishedRun>;
  /** Called after an attempt has ended in this process, so that the delivery may have changed. Must not throw. */
  onAttemptStored?: ((key: DeliveryKey) => void) | undefined;
}

/** The end of a run that the inbox stores as an attempt. */
export type FinishedRun = Outcome & {
  /** What the inbox stores with the attempt. */
  readonly details?: AttemptDetails;
  /**
   * Called once after the attempt was stored, with the stored step: a delivery that was replayed while it was running is queued
   * again, regardless of its outcome. Not called for an attempt that has no effect on the delivery, such as a failure after another
   * process has taken it over. Must not throw.
   */
  readonly onStored?: (next: NextStep) => void;
};

/** What happens to a delivery after an attempt. */
export type NextStep =
  | { status: "succeeded" | "ignored" | "dead" }
  | {
      status: "queued";
      /** When the next attempt is due, in milliseconds since the epoch. */
      dueAt: number;
      /** Whether the attempt counts toward `maxAttempts`. An interrupted attempt does not count. */
      counts: boolean;
    };

/**
 * Returns the next step after a handler has ended. The inbox stores it, unless the delivery was replayed or another process has taken it
 * over, and passes the stored step to `FinishedRun.onStored`. Attempts whose handler has not ended take another path: the inbox queues
 * them again when it closes, and `leases.ts` decides after a crash.
 *
 * - A delivery that the handler processed has succeeded, and one that a condition ignored is ignored.
 * - If the attempt was interrupted, by a shutdown or because the lease was lost, the delivery runs again immediately.
 * - After a failure, the delivery is retried at the requested time, otherwise after the wait of the retry policy. The delivery is
 *   dead if the error is not retryable or no attempts are left.
 */
export function nextStep(
  outcome: Outcome,
  run: { claimed: Pick<ClaimedDelivery, "isLastAttempt" | "retryDelayMs">; isInterrupted: boolean; now: number },
): NextStep {
  const { claimed, isInterrupted, now } = run;
  if (outcome.status !== "failed") return { status: outcome.status };
  if (isInterrupted) return { status: "queued", dueAt: now, counts: false };
  if (!outcome.error.retryable || claimed.isLastAttempt) return { status: "dead" };
  const requested = outcome.retryAt?.getTime() ?? Number.NaN;
  return { status: "queued", dueAt: Number.isNaN(requested) ? now + claimed.retryDelayMs : requested, counts: true };
}

/** Filters and pagination for a list of deliveries. A delivery must match all filters. */
export interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  /** The exact name of a repository with or without its type, such as `dataset:acme/data` or `acme/data`. */
  repository?: string;
  /** The exact scope of the event, such as `repo.content`. */
  scope?: string;
  /** The exact action of the event, such as `update`. */
  action?: string;
  /** Only deliveries that were received at this time or later. */
  receivedFrom?: Date;
  /** Only deliveries that were received before this time. */
  receivedUntil?: Date;
  /**
   * Words, separated by spaces, to find in the ID, the first MiB of the body, and the errors and log lines of the attempts. Each word must
   * be part of one of these texts. Case and accents are ignored.
   */
  search?: string;
  /** The maximum number of deliveries on the page, from 1 to 1,000. Default `50`. */
  limit?: number;
  /** The `next` field of the previous page. */
  cursor?: string;
}

/** A page of deliveries, newest first. A delivery whose status changes between two requests can appear on both pages or on neither. */
export interface DeliveryPage {
  deliveries: readonly StoredDelivery[];
  /**
   * The cursor of the next page. Missing on the last page. With filters, a page can contain fewer deliveries than `limit`, or none,
   * and still have a next page, because the duration of one request is limited.
   */
  next?: string;
  /**
   * How far the filters other than `endpoint` and `status` were applied: the time when the last examined delivery was received. Missing if
   * all deliveries were examined. `next` continues the search.
   */
  searchedUntil?: Date;
}

/** The number of an endpoint's deliveries in each status. */
export type DeliveryCounts = Readonly<Record<DeliveryStatus, number>>;

/** A problem with storing or running deliveries. */
export interface InboxProblem {
  /** A stable code, such as `INBOX_UNAVAILABLE`. */
  code: string;
  /** `unavailable`: the inbox cannot store or cannot run any delivery. `degraded`: the problem affects only some deliveries. */
  severity: "unavailable" | "degraded";
  /**
   * Describes the problem and how to fix it, without secrets. Show the message only to the owner, because it can contain file and
   * host names.
   */
  message: string;
}

/** What an inbox reports about its storage. */
export interface InboxDescription {
  /** Settings of the storage that can cause the loss of accepted deliveries, each with its remedy. Without secrets. */
  warnings?: readonly string[];
}

/** Stores deliveries and runs them in the background. */
export interface Inbox {
  /**
   * Stores a delivery. After the promise resolves, the delivery survives crashes and power failures, unless the inbox is in memory
   * or its server does not sync each write to disk. `duplicate`: whether the
   * delivery was already stored. A dead delivery is queued again and is not a duplicate.
   *
   * @throws `INBOX_FULL` or `INBOX_UNAVAILABLE` if the delivery is not stored.
   */
  accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }>;
  /** Starts running an endpoint's deliveries. Later calls for the same endpoint have no effect. */
  startWorker(queue: EndpointQueue): void;
  /** Lists deliveries, newest first. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** Returns a delivery with its attempts, or `undefined` if the delivery is not stored. */
  get(key: DeliveryKey): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, regardless of its status. @throws `DELIVERY_UNKNOWN` if the delivery or its body is not stored. */
  replay(key: DeliveryKey): Promise<void>;
  /** Replays all dead deliveries of an endpoint. Returns the number of replayed deliveries. */
  replayDead(endpoint: string): Promise<number>;
  /**
   * Discards a queued or dead delivery, which becomes `cancelled`. Has no effect if the delivery has finished otherwise.
   *
   * @throws `DELIVERY_UNKNOWN` if the delivery is not stored, `DELIVERY_RUNNING` while it is running.
   */
  discard(key: DeliveryKey): Promise<void>;
  /**
   * Pauses an endpoint in all processes of the inbox, also after restarts. The inbox still accepts and stores the endpoint's deliveries,
   * but no process claims them. Running deliveries finish. Has no effect if the endpoint is paused.
   */
  pause(endpoint: string): Promise<void>;
  /** Resumes an endpoint. Within a second, all processes claim its deliveries again. Has no effect if the endpoint is not paused. */
  resume(endpoint: string): Promise<void>;
  /** Returns the names of the paused endpoints, sorted. */
  pausedEndpoints(): Promise<readonly string[]>;
  /** Counts deliveries by endpoint and status. Unlike `list`, includes deliveries whose body was deleted after the retention period. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** Returns the current problems, or an empty list if the inbox is healthy. Resolves within 3 s and never rejects. */
  problems(): Promise<readonly InboxProblem[]>;
  /** Describes the storage. Does not read deliveries. */
  describe?(): Promise<InboxDescription>;
  /** Deletes deliveries whose retention period has ended. Returns the number of deleted deliveries. */
  prune(): Promise<number>;
  /**
   * The changes that servers of this inbox made on the Hub. If missing, a server only remembers its own recent changes, in memory.
   */
  readonly ownActions?: OwnActions;
  /** What `catchUp` has seen of the Hub. If missing, a server with `catchUp` or `poll` does not start. */
  readonly cursors?: Cursors;
  /**
   * The Storage Bucket of the Hub that stores the inbox, such as `me/inbox`. A server ignores the events of this bucket, because
   * storing such an event would cause the next one. Missing if the inbox is stored elsewhere.
   */
  readonly bucket?: string;
  /**
   * Stops claiming deliveries, aborts the signals of running handlers, and waits up to `graceMs` milliseconds for these handlers.
   * If a handler fails or does not finish during this time, its delivery is queued again, and the attempt does not count. Returns
   * the number of these interrupted deliveries. Later calls return the result of the first call.
   */
  close(graceMs: number): Promise<{ interrupted: number }>;
}

const defaultPageSize = 50;
const maxPageSize = 1_000;

/** Returns the maximum number of deliveries on a page. @throws `OPTION_INVALID` if `limit` is invalid. */
export function pageSize({ limit = defaultPageSize }: ListOptions): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= maxPageSize) return limit;
  throw optionError({ option: "limit", value: limit, expected: `a whole number from 1 to ${maxPageSize}` });
}

/**
 * The changes on the Hub that the servers of this inbox made, by key. A server uses them to recognize the events that it caused
 * itself (`ignoreSelf`). Keys are short texts without secrets, such as `comment 6123…`.
 */
export interface OwnActions {
  /** Stores keys for 14 days. Keeps only the latest 100,000 keys. @throws if the keys cannot be stored. */
  add(keys: readonly string[]): Promise<void>;
  /** Returns the keys that are stored. @throws if the keys cannot be read. */
  find(keys: readonly string[]): Promise<ReadonlySet<string>>;
}

/** How long keys are stored. The Hub retries deliveries for a shorter time. */
export const ownActionRetentionMs = 14 * 24 * 3_600_000;

/** The maximum number of stored keys. The oldest keys are removed first. */
export const maxOwnActions = 100_000;

/** Texts that the servers of an inbox keep beside the deliveries of an endpoint, by key. They have no retention period. */
export interface Cursors {
  /** Returns the text of a key, or `undefined`. */
  get(endpoint: string, key: string): Promise<string | undefined>;
  /** Returns all texts of an endpoint, by key. */
  list(endpoint: string): Promise<ReadonlyMap<string, string>>;
  /** Stores all texts of a change, or none. @throws if the texts cannot be stored. */
  set(endpoint: string, texts: ReadonlyMap<string, string>): Promise<void>;
  /**
   * Gives a holder an exclusive claim for a time, renews it, or returns it with `forMs: 0`. Resolves with `false` while another holder
   * has the claim.
   */
  claim(claim: CursorClaim): Promise<boolean>;
}

/** A claim that only one holder has at a time. */
export interface CursorClaim {
  key: string;
  /** Identifies the process. */
  holder: string;
  /** The duration in milliseconds. */
  forMs: number;
}

/**
 * A claim that ends later than this time from now, in milliseconds, was made before the clock was set back, and is free. Otherwise, the
 * claim of a killed process could last for as long as the clock was set back. Claims of catch-up last for two minutes, so the clocks of
 * two machines can differ by several minutes.
 */
export const maxClaimMs = 10 * 60_000;

/** The size of an inbox file before and after its unused space was returned to the disk. */
export interface CompactedInbox {
  bytesBefore: number;
  bytesAfter: number;
}

/** A record of a bucket that could not be read when the inbox was restored. `recovered`: the number of its deliveries that were added. */
export interface RepairedGap {
  record: number;
  isReadable: boolean;
  recovered: number;
}
