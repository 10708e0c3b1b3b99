import { optionError } from "../core/option-error.ts";
import type { Delivery, Outcome } from "../payload/delivery.ts";
import type { OwnActions } from "./own-actions.ts";
import type { RetryPolicy } from "./retry-policy.ts";

/** The fields that identify a delivery. */
export type DeliveryKey = Pick<Delivery, "id" | "endpoint">;

/** A delivery to store, before its first attempt. */
export type IncomingDelivery = Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt">;

/** A delivery that this process has claimed for an attempt. While the lease lasts, no other process runs the delivery. */
export interface ClaimedDelivery extends IncomingDelivery, Pick<Delivery, "attempt"> {
  /** Whether the delivery becomes dead if this attempt fails. */
  readonly isLastAttempt: boolean;
  /** Milliseconds until the next attempt if this attempt fails, unless the handler sets `retryAt`. */
  readonly retryDelayMs: number;
}

/**
 * The status of a delivery. `queued`: waiting for an attempt. `running`: an attempt is in progress. `succeeded`: an attempt has
 * succeeded. `dead`: the delivery failed and is not retried, but can be replayed.
 */
export type DeliveryStatus = "queued" | "running" | "succeeded" | "dead";

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
  /** `abandoned`: the process stopped or lost its lease before the handler finished. */
  outcome: "succeeded" | "failed" | "abandoned";
  /** The error of a failed or abandoned attempt. */
  error?: { code: string; message: string };
}

/** A delivery in the inbox. */
export interface StoredDelivery extends DeliveryKey, Pick<Delivery, "receivedAt"> {
  status: DeliveryStatus;
  /** When the next attempt of a queued delivery is due. */
  dueAt?: Date;
  /** When the current attempt of a running delivery started. */
  startedAt?: Date;
  /** When the delivery succeeded or became dead. */
  finishedAt?: Date;
  /** The body as it was received. Missing after the retention period, when only the ID is kept to detect duplicates. */
  body?: string;
  attempts: readonly DeliveryAttempt[];
}

/** An endpoint's handler and the settings with which the inbox runs the handler. */
export interface EndpointQueue {
  endpoint: string;
  /** The maximum number of deliveries that run at the same time in this process. */
  concurrency: number;
  policy: RetryPolicy;
  /** The retention period of finished deliveries, in milliseconds. */
  retentionMs: number;
  /**
   * Runs the handler and never rejects. The signal is aborted when `Inbox.close` is called and when the lease of the delivery is
   * lost. If the handler fails after the signal was aborted, the attempt counts as interrupted (see `next-step.ts`).
   */
  run: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Outcome>;
}

/** Filters and pagination for a list of deliveries. */
export interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  /** The maximum number of deliveries on the page, from 1 to 1,000. Default `50`. */
  limit?: number;
  /** The `next` field of the previous page. */
  cursor?: string;
}

/** A page of deliveries, newest first. A delivery whose status changes between two requests can appear on both pages or on neither. */
export interface DeliveryPage {
  deliveries: readonly StoredDelivery[];
  /** The cursor of the next page. Missing on the last page. */
  next?: string;
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
  /** Counts deliveries by endpoint and status. Unlike `list`, includes deliveries whose body was deleted after the retention period. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** Returns the current problems, or an empty list if the inbox is healthy. Resolves within 3 s and never rejects. */
  problems(): Promise<readonly InboxProblem[]>;
  /** Deletes deliveries whose retention period has ended. Returns the number of deleted deliveries. */
  prune(): Promise<number>;
  /**
   * The changes that servers of this inbox made on the Hub. If missing, a server only remembers its own recent changes, in memory.
   */
  readonly ownActions?: OwnActions;
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
