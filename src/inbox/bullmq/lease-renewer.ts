import { Worker } from "node:worker_threads";
import { programUrl } from "../../core/package-root.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";

/** A lease on a delivery: the lock of a job of BullMQ. */
export interface HeldLease {
  endpoint: string;
  jobId: string;
  token: string;
}

/** What the thread of a {@link LeaseRenewer} is started with. */
export interface LeaseThreadData {
  /** The URL of the inbox. */
  url: string;
  leaseMs: number;
  maxBlockedMs: number;
  /** Changes for as long as the event loop runs. */
  beat: LoopCounter;
}

/** Tells the thread which lease a slot holds: whatever the slot held before has ended. */
export interface SlotMessage {
  slot: number;
  lease: HeldLease;
}

/** How often the event loop shows that it runs, per lease. */
export const beatsPerLease = 16;

/**
 * Renews leases while the event loop is blocked. As long as the loop runs, BullMQ renews them. A thread watches for that,
 * and takes over with a connection of its own when the loop stands still for an eighth of a lease.
 */
export class LeaseRenewer {
  readonly #thread: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #freeSlots: number[] = [];
  #slots = 0;

  /**
   * @param options.maxBlockedMs after this time a blocked process is considered hung, and its leases end, in
   *   milliseconds.
   * @param options.onError called when leases could not be renewed, or the thread has failed.
   */
  constructor({
    onError,
    ...options
  }: Omit<LeaseThreadData, "beat"> & {
    onError: (error: Error) => void;
  }) {
    const beat = createLoopCounter();
    const workerData: LeaseThreadData = { ...options, beat };
    this.#thread = new Worker(programUrl("lease-renewer-thread", import.meta.url), { workerData, execArgv: [] });
    this.#thread.unref();
    this.#thread.on("message", onError);
    this.#thread.on("error", (cause) => {
      const message = "The thread that renews leases has failed: a handler that blocks the event loop loses its lease.";
      onError(new Error(message, { cause }));
    });
    this.#timer = startLoopCounter(beat, options.leaseMs / beatsPerLease);
  }

  /** Renews a lease until the returned function is called. */
  hold(lease: HeldLease): () => void {
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    this.#thread.postMessage({ slot, lease } satisfies SlotMessage);
    // A lease that has ended is not worth a message: renewing it does nothing.
    return () => this.#freeSlots.push(slot);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.terminate();
  }
}
