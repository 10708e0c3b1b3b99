import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { streamTexts } from "../../jobs/event-stream.ts";

/** The time for which changes can be read again. As on the Hub. */
const keptMs = 15 * 60 * 1_000;
const maxKept = 10_000;
/** The pause after which a stream sends a comment, so that clients and proxies do not close the connection. As on the Hub. */
const keepAliveMs = 30_000;

export interface FeedChange {
  path: string;
  op: "add" | "update" | "delete";
  /** In bytes. This field and the following fields are absent for a deleted file. */
  size?: number;
  xetHash?: string;
  uploadedAt?: string;
  mtime?: string | null;
}

interface FeedStart {
  cursor: string | undefined;
  since: number | undefined;
}

interface Batch {
  sequence: number;
  at: number;
  bucketId: string;
  changes: readonly FeedChange[];
}

/** Streams the changes of files in buckets, and the changes of the last 15 minutes again. They are kept in memory only. */
export class BucketFeed {
  readonly #now: () => number;
  readonly #startedAt: number;
  /** Cursors of another local Hub are too old. */
  readonly #id = randomUUID().slice(0, 8);
  readonly #changed = new EventEmitter().setMaxListeners(0);
  readonly #closing = new AbortController();
  #batches: Batch[] = [];
  #size = 0;
  #last = 0;
  /** The latest change that was dropped. */
  #dropped = { sequence: 0, at: Number.NEGATIVE_INFINITY };

  constructor({ now }: { now: () => number }) {
    this.#now = now;
    this.#startedAt = now();
  }

  publish(bucketId: string, changes: readonly FeedChange[]): void {
    this.#last += 1;
    this.#batches.push({ sequence: this.#last, at: this.#now(), bucketId, changes });
    this.#size += changes.length;
    this.#drop();
    this.#changed.emit("change");
  }

  /** Ends the streams of buckets that were deleted, or that the client can no longer read. */
  checkAccess(): void {
    this.#changed.emit("change");
  }

  /** Ends all streams. Clients continue after their last cursor. */
  close(): void {
    this.#closing.abort();
  }

  /**
   * Streams server-sent events: the changes after `cursor` or `since`, `ready`, and new changes. If they are too old, the stream consists
   * of the event `reset`.
   *
   * @param options.since in milliseconds since the epoch.
   * @param options.isOpen returns whether the client can still read the bucket.
   */
  stream(bucketId: string, options: FeedStart & { isOpen: () => boolean }): ReadableStream<Uint8Array> {
    const canceled = new AbortController();
    const signal = AbortSignal.any([canceled.signal, this.#closing.signal]);
    return streamTexts(this.#read(bucketId, options, signal), canceled);
  }

  async *#read(
    bucketId: string,
    options: FeedStart & { isOpen: () => boolean },
    signal: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const { isOpen } = options;
    // Sends the headers of the response before the first event.
    yield ": stream\n\n";
    let after = this.#findStart(options);
    if (after === undefined) {
      yield format("reset", { reason: "cursor_too_old" });
      return;
    }
    for (let isReady = false; !signal.aborted && isOpen(); ) {
      // Listens before the read, so that no change is missed.
      const stop = new AbortController();
      const changed = this.#wait(AbortSignal.any([signal, stop.signal]));
      const start = after;
      const batches = this.#batches.filter((batch) => batch.bucketId === bucketId && batch.sequence > start);
      after = this.#last;
      for (const { sequence, changes } of batches) yield format("changes", { cursor: this.#cursor(sequence), changes });
      if (!isReady) yield format("ready", { cursor: this.#cursor(after) });
      isReady = true;
      if (batches.length === 0 && !(await changed)) yield ": ping\n\n";
      stop.abort();
      if (after < this.#dropped.sequence) {
        yield format("reset", { reason: "cursor_too_old" });
        return;
      }
    }
    if (this.#closing.signal.aborted) yield format("reconnect", { cursor: this.#cursor(after) });
  }

  /** Resolves with whether something changed before the next comment is due. */
  async #wait(signal: AbortSignal): Promise<boolean> {
    const pause = AbortSignal.timeout(keepAliveMs);
    try {
      await once(this.#changed, "change", { signal: AbortSignal.any([signal, pause]) });
      return true;
    } catch {
      return !pause.aborted;
    }
  }

  /** Returns the change after which a stream starts, or `undefined` if it is too old. */
  #findStart({ cursor, since }: FeedStart): number | undefined {
    this.#drop();
    if (cursor !== undefined) {
      const [id, sequence = ""] = cursor.split("-");
      const isKnown = id === this.#id && /^\d{1,15}$/.test(sequence) && Number(sequence) <= this.#last;
      return isKnown && Number(sequence) >= this.#dropped.sequence ? Number(sequence) : undefined;
    }
    if (since === undefined) return this.#last;
    if (since < this.#startedAt || since <= this.#dropped.at) return undefined;
    return (this.#batches.find(({ at }) => at >= since)?.sequence ?? this.#last + 1) - 1;
  }

  #cursor(sequence: number): string {
    return `${this.#id}-${sequence}`;
  }

  #drop(): void {
    const oldest = this.#now() - keptMs;
    for (let first = this.#batches[0]; first && (first.at < oldest || this.#size > maxKept); first = this.#batches[0]) {
      this.#batches.shift();
      this.#size -= first.changes.length;
      this.#dropped = first;
    }
  }
}

function format(event: string, data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
