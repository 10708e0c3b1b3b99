import { optionError } from "../core/option-error.ts";
import type { Delivery, Outcome } from "../payload/delivery.ts";
import type { RetryPolicy } from "./retry-policy.ts";

/** Identifies a delivery. */
export type DeliveryKey = Pick<Delivery, "id" | "endpoint">;

/** A delivery to store, which has no attempt yet. */
export type IncomingDelivery = Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt">;

/** A delivery that this process has claimed for an attempt: no other process runs it at the same time. */
export interface ClaimedDelivery extends IncomingDelivery, Pick<Delivery, "attempt"> {
  /** Whether the delivery is dead if this attempt fails. */
  readonly isLastAttempt: boolean;
  /** Milliseconds until the next attempt if this one fails, unless the handler asks for another time. */
  readonly retryDelayMs: number;
}

/**
 * The state of a delivery: waiting for an attempt, running, succeeded, or dead after its last attempt. Dead deliveries can be
 * replayed.
 */
export type DeliveryStatus = "queued" | "running" | "succeeded" | "dead";

/** One run of the handler on a delivery. */
export interface DeliveryAttempt {
  /** From 1. */
  number: number;
  /** Missing if the process was killed and the inbox is in Redis or PostgreSQL. */
  startedAt?: Date;
  /** Missing like `startedAt`. In SQLite, the duration until the last heartbeat of a killed process. */
  durationMs?: number;
  /** `abandoned`: the process stopped before the handler was done. */
  outcome: "succeeded" | "failed" | "abandoned";
  /** The error of a failed or abandoned attempt. */
  error?: { code: string; message: string };
}

/** A delivery in the inbox. */
export interface StoredDelivery extends DeliveryKey, Pick<Delivery, "receivedAt"> {
  status: DeliveryStatus;
  /** When the next attempt is due, if queued. */
  dueAt?: Date;
  /** When the current attempt started, if running. */
  startedAt?: Date;
  /** When it succeeded or died. */
  finishedAt?: Date;
  /** The body as it was received. Missing after the retention, when only the ID is kept to recognize duplicates. */
  body?: string;
  attempts: readonly DeliveryAttempt[];
}

/** How an inbox processes the deliveries of an endpoint. */
export interface QueueOptions {
  endpoint: string;
  /** How many deliveries may run at the same time in this process. */
  concurrency: number;
  policy: RetryPolicy;
  /** How long finished deliveries are kept, in milliseconds. */
  retentionMs: number;
  /** Runs the handler; never rejects. The signal is aborted when the inbox closes, or when the lease of the delivery is lost. */
  run: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<Outcome>;
}

/** Which deliveries to list. */
export interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  /** Default 50, at most 1,000. */
  limit?: number;
  /** `next` of the previous page. */
  cursor?: string;
}

/** Deliveries, newest first. A delivery whose status changes between two pages may be on both or on neither. */
export interface DeliveryPage {
  deliveries: readonly StoredDelivery[];
  /** The cursor of the next page; missing on the last page. */
  next?: string;
}

/** The number of deliveries of an endpoint in each status. */
export type DeliveryCounts = Readonly<Record<DeliveryStatus, number>>;

/** A problem that keeps an inbox from storing or running deliveries. */
export interface InboxProblem {
  /** Stable, such as `INBOX_UNAVAILABLE`. */
  code: string;
  /** `unavailable`: no delivery can be stored, or none runs. `degraded`: some still are. */
  severity: "unavailable" | "degraded";
  /** What happened and what to do next, without secrets. Only for the owner: it may contain file and host names. */
  message: string;
}

/** Stores deliveries and runs them in the background. */
export interface Inbox {
  /**
   * Stores a delivery: once this resolves, it survives a crash and a power failure. `duplicate`: it was already stored, and
   * does not run again unless it was dead.
   *
   * @throws `INBOX_FULL`, `INBOX_UNAVAILABLE`: the delivery is not stored.
   */
  accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }>;
  /** Starts to run the deliveries of an endpoint. Calling it again for the same endpoint has no effect. */
  work(queue: QueueOptions): void;
  /** Lists deliveries, newest first. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** Gets a delivery with its attempts; `undefined` if it is not stored. */
  get(key: DeliveryKey): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, in any status. @throws `DELIVERY_UNKNOWN`. */
  replay(key: DeliveryKey): Promise<void>;
  /** Replays all dead deliveries of an endpoint. Returns their number. */
  replayDead(endpoint: string): Promise<number>;
  /** Counts deliveries by endpoint, with those past their retention whose IDs are still kept: these are not listed. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** The current problems; empty if the inbox is healthy. Resolves within three seconds, never rejects. */
  problems(): Promise<readonly InboxProblem[]>;
  /** Removes deliveries that finished before their retention. Returns their number. */
  prune(): Promise<number>;
  /** Stops claiming deliveries, waits up to `graceMs` for running handlers, and puts unfinished deliveries back. */
  close(graceMs: number): Promise<void>;
}

const defaultPageSize = 50;
const maxPageSize = 1_000;

/** The number of deliveries on a page. @throws `OPTION_INVALID`. */
export function pageSize({ limit = defaultPageSize }: ListOptions): number {
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= maxPageSize) return limit;
  throw optionError({ option: "limit", value: limit, expected: `a whole number from 1 to ${maxPageSize}` });
}
