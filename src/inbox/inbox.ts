import type { Outcome } from "../payload/delivery.ts";
import type { RetryPolicy } from "./retry-policy.ts";
import type { DeliveryStatus, StoredDelivery } from "./stored-delivery.ts";

/** A delivery that is to be kept. */
export interface Arrival {
  id: string;
  endpoint: string;
  body: string;
  receivedAt: Date;
}

/** A delivery that is to be worked on. */
export interface Task {
  id: string;
  endpoint: string;
  body: string;
  receivedAt: Date;
  /** Number of this attempt, from 1. */
  attempt: number;
  /** Whether nothing comes after this attempt, should it fail. */
  isLast: boolean;
  /** Milliseconds until the next attempt, should this one fail, unless the handler asks for another time. */
  retryWaitMs: number;
}

/** What an inbox is told of an endpoint. */
export interface QueueOptions {
  endpoint: string;
  /** How many of its deliveries are worked on at the same time. */
  concurrency: number;
  policy: RetryPolicy;
  /** Milliseconds for which a finished delivery is kept. */
  retentionMs: number;
  /** Runs the handler; never rejects. The signal is aborted when the inbox closes, or when the delivery was lost. */
  run: (task: Task, signal: AbortSignal) => Promise<Outcome>;
}

/** Which deliveries to list. */
export interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  /** Default 50, at most 1,000. */
  limit?: number;
  /** `next` of the page before. */
  cursor?: string;
}

/** Deliveries, newest first; what moves from one status to another between two pages may be on both, or on none. */
export interface DeliveryPage {
  deliveries: readonly StoredDelivery[];
  /** Where the next page begins; absent on the last. */
  next?: string;
}

/** Names one delivery. */
export interface DeliveryKey {
  id: string;
  endpoint: string;
}

/** How many deliveries an endpoint has in each status. */
export type DeliveryCounts = Readonly<Record<DeliveryStatus, number>>;

/** Something that keeps an inbox from storing or running deliveries. */
export interface InboxProblem {
  /** Stable, such as `INBOX_UNAVAILABLE`. */
  code: string;
  /** `unavailable`: no delivery can be stored, or none runs. `degraded`: part of the work goes on. */
  severity: "unavailable" | "degraded";
  /** What happened and what to do next. It may name files and hosts: for the owner only, and without secrets. */
  message: string;
}

/** Keeps deliveries until they are done. */
export interface Inbox {
  /**
   * Keeps a delivery; it is there after a crash and a power cut once this resolves. `duplicate`: it was there already,
   * and is not run again unless it was dead.
   *
   * @throws `INBOX_FULL`, `INBOX_UNAVAILABLE`: then it is not kept.
   */
  accept(arrival: Arrival): Promise<{ duplicate: boolean }>;
  /** Begins to work on the deliveries of an endpoint; asked once more for the same one, it leaves that as it is. */
  work(queue: QueueOptions): void;
  /** One page of what it keeps, newest first. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** One delivery with its attempts; `undefined` where it is not kept. */
  get(key: DeliveryKey): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, whatever its status. @throws `DELIVERY_UNKNOWN`. */
  replay(key: DeliveryKey): Promise<void>;
  /** Runs every dead delivery of an endpoint again. Returns how many. */
  replayDead(endpoint: string): Promise<number>;
  /** By endpoint. What is past its retention counts for as long as its id is kept, although it is not listed any more. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** What keeps it from its work right now; empty when it is healthy. Resolves within three seconds, never rejects. */
  problems(): Promise<readonly InboxProblem[]>;
  /** Forgets what finished longer ago than its retention. Returns how many. */
  prune(): Promise<number>;
  /** Stops working, gives handlers `graceMs` to end, and hands back what they did not finish. */
  close(graceMs: number): Promise<void>;
}
