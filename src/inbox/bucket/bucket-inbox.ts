import { withDeadline } from "../../core/deadline.ts";
import { formatDuration } from "../../core/duration.ts";
import type { WebhookError } from "../../core/errors.ts";
import type {
  DeliveryCounts,
  DeliveryKey,
  DeliveryPage,
  EndpointQueue,
  Inbox,
  InboxDescription,
  InboxProblem,
  IncomingDelivery,
  ListOptions,
  StoredDelivery,
} from "../inbox.ts";
import { inboxUnavailable } from "../inbox-errors.ts";
import type { OwnActions } from "../own-actions.ts";
import type { SqliteInbox } from "../sqlite/sqlite-inbox.ts";
import type { LogWriter } from "./log-writer.ts";
import type { OwnerHeartbeat } from "./ownership.ts";
import type { RepairedGap } from "./repair.ts";
import type { SnapshotSchedule } from "./snapshot-schedule.ts";

export interface BucketInboxOptions {
  /** The URL of the inbox without credentials, for messages. */
  name: string;
  /** The working store. Its changes are stored in the log. */
  inbox: SqliteInbox;
  writer: LogWriter;
  heartbeat: OwnerHeartbeat;
  snapshots: SnapshotSchedule;
  /** Returns the numbers of the records whose changes are missing. */
  readOpenGaps: () => readonly number[];
  /** See {@link BucketInbox.repair}. */
  repair: () => Promise<RepairedGap[]>;
  /** Removes the working file. */
  removeFile: () => void;
  /**
   * How long a delivery waits for the bucket, in milliseconds. Default `20_000`, so that the Hub receives a response before its
   * timeout of 30 s.
   */
  maxWaitMs?: number;
  /** The maximum size of the deliveries that wait for the bucket, in bytes. Default 32 MiB. */
  maxWaitingBytes?: number;
}

/** How long the last records may take when the inbox closes, in milliseconds. */
const maxReleaseMs = 5_000;

/** Stores deliveries in a bucket. A SQLite file on the local disk is the working store. */
export class BucketInbox implements Inbox {
  readonly ownActions: OwnActions;
  readonly bucket?: string;
  readonly #options: Required<BucketInboxOptions>;
  #waitingBytes = 0;
  #closed: Promise<{ interrupted: number }> | undefined;

  constructor(options: BucketInboxOptions) {
    this.#options = { maxWaitMs: 20_000, maxWaitingBytes: 32 * 2 ** 20, ...options };
    this.ownActions = options.inbox.ownActions;
    const bucket = /^hf:\/\/buckets\/([^/]+\/[^/]+)/.exec(options.name)?.[1];
    if (bucket !== undefined) this.bucket = bucket;
  }

  async accept(delivery: IncomingDelivery): Promise<{ duplicate: boolean }> {
    const { inbox, maxWaitMs, maxWaitingBytes } = this.#options;
    this.#throwIfAway();
    const bytes = Buffer.byteLength(delivery.body);
    // A single delivery is always accepted, because its body can be larger than the limit.
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > maxWaitingBytes) {
      throw inboxUnavailable(
        new Error(`More than ${maxWaitingBytes / 2 ** 20} MiB of deliveries are waiting for the bucket.`),
      );
    }
    this.#waitingBytes += bytes;
    const accepted = inbox.accept(delivery).finally(() => {
      this.#waitingBytes -= bytes;
    });
    return withDeadline(accepted, maxWaitMs, notStoredInTime);
  }

  startWorker(queue: EndpointQueue): void {
    this.#options.inbox.startWorker(queue);
  }

  list(options?: ListOptions): Promise<DeliveryPage> {
    return this.#options.inbox.list(options);
  }

  get(key: DeliveryKey): Promise<StoredDelivery | undefined> {
    return this.#options.inbox.get(key);
  }

  replay(key: DeliveryKey): Promise<void> {
    return this.#change(() => this.#options.inbox.replay(key));
  }

  replayDead(endpoint: string): Promise<number> {
    return this.#change(() => this.#options.inbox.replayDead(endpoint));
  }

  discard(key: DeliveryKey): Promise<void> {
    return this.#change(() => this.#options.inbox.discard(key));
  }

  pause(endpoint: string): Promise<void> {
    return this.#change(() => this.#options.inbox.pause(endpoint));
  }

  resume(endpoint: string): Promise<void> {
    return this.#change(() => this.#options.inbox.resume(endpoint));
  }

  pausedEndpoints(): Promise<readonly string[]> {
    return this.#options.inbox.pausedEndpoints();
  }

  counts(): Promise<Readonly<Record<string, DeliveryCounts>>> {
    return this.#options.inbox.counts();
  }

  async problems(): Promise<readonly InboxProblem[]> {
    const { name, writer, readOpenGaps, inbox } = this.#options;
    if (writer.fencedBy) {
      return [
        {
          code: "INBOX_TAKEN_OVER",
          severity: "unavailable",
          message: `Another process has taken over the inbox ${name}, so this process rejects deliveries. Stop this process.`,
        },
      ];
    }
    // While a record is being retried, a storage check would wait for it.
    if (writer.outage) {
      return [
        {
          code: "INBOX_UNAVAILABLE",
          severity: "unavailable",
          message: `The bucket of the inbox ${name} has not stored a record for ${formatDuration(writer.outage.forMs)}. Check the status of the bucket and the access key.`,
        },
      ];
    }
    const gaps = readOpenGaps();
    if (gaps.length === 0) return inbox.problems();
    const gap: InboxProblem = {
      code: "INBOX_DAMAGED",
      severity: "degraded",
      message: `Some records of the inbox ${name} are missing or unreadable (${gaps.slice(0, 10).join(", ")}), so deliveries can be missing. New deliveries are stored. To restore what is readable, run: npx hub-webhooks deliveries repair`,
    };
    return [...(await inbox.problems()), gap];
  }

  describe(): Promise<InboxDescription> {
    return this.#options.inbox.describe();
  }

  prune(): Promise<number> {
    return this.#options.inbox.prune();
  }

  /** Repairs the gaps of the log (see `repairGaps`). @throws `INBOX_UNAVAILABLE`, `ObjectStoreError` */
  repair(): Promise<RepairedGap[]> {
    return this.#options.repair();
  }

  close(graceMs: number): Promise<{ interrupted: number }> {
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ interrupted: number }> {
    const { inbox, writer, heartbeat, snapshots, removeFile } = this.#options;
    await snapshots.close();
    // If the bucket does not store the last results in time, they are lost, and their deliveries run again.
    const timer = setTimeout(() => writer.close(), graceMs + maxReleaseMs);
    const result = await inbox.close(graceMs);
    clearTimeout(timer);
    writer.close();
    await heartbeat.stop();
    removeFile();
    return result;
  }

  /** Makes a change and waits until it is stored. @throws `INBOX_UNAVAILABLE` if the change is not stored in time. */
  async #change<Result>(change: () => Promise<Result>): Promise<Result> {
    this.#throwIfAway();
    return withDeadline(change(), this.#options.maxWaitMs, notStoredInTime);
  }

  /** Rejects deliveries immediately while the bucket is away, so that they do not fill the memory. */
  #throwIfAway(): void {
    const { writer, maxWaitMs } = this.#options;
    writer.throwIfTakenOver();
    if (writer.outage && writer.outage.forMs >= maxWaitMs) throw inboxUnavailable(writer.outage.error);
  }
}

function notStoredInTime(): WebhookError {
  return inboxUnavailable(new Error("The bucket has not stored the delivery in time."));
}
