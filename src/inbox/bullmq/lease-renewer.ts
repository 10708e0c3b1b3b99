import { Worker } from "node:worker_threads";
import { programUrl } from "../../core/package-root.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";

/** A lease on a delivery: the lock of a job of BullMQ. */
export interface HeldLease {
  endpoint: string;
  jobId: string;
  token: string;
}

/** The data of the thread. */
export interface LeaseRenewerData {
  /** The URL of the inbox. */
  url: string;
  leaseMs: number;
  maxBlockedMs: number;
  loopCounter: LoopCounter;
}

/** The lease that a slot of the thread holds from now on. The previous lease of the slot has ended. */
export interface SlotMessage {
  slot: number;
  lease: HeldLease;
}

/** How often the event loop increments the counter during a lease. */
export const countsPerLease = 16;

/**
 * Renews leases while the event loop is blocked; otherwise, BullMQ renews them. A thread monitors the event loop. When the loop is
 * blocked for an eighth of a lease, the thread opens a connection and renews all leases.
 */
export class LeaseRenewer {
  readonly #thread: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #freeSlots: number[] = [];
  #slots = 0;

  /**
   * @param options.maxBlockedMs an event loop that is blocked for longer counts as hung, and its leases expire, in
   *   milliseconds.
   * @param options.onError called when leases could not be renewed, or when the thread has failed.
   */
  constructor({
    onError,
    ...options
  }: Omit<LeaseRenewerData, "loopCounter"> & {
    onError: (error: Error) => void;
  }) {
    const loopCounter = createLoopCounter();
    const workerData: LeaseRenewerData = { ...options, loopCounter };
    this.#thread = new Worker(programUrl("lease-renewer-thread", import.meta.url), { workerData, execArgv: [] });
    this.#thread.unref();
    this.#thread.on("message", onError);
    this.#thread.on("error", (cause) => {
      const message =
        "The thread that renews leases has failed. A handler that blocks the event loop now loses its lease.";
      onError(new Error(message, { cause }));
    });
    this.#timer = startLoopCounter(loopCounter, options.leaseMs / countsPerLease);
  }

  /** Renews a lease until the returned function is called. */
  hold(lease: HeldLease): () => void {
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    this.#thread.postMessage({ slot, lease } satisfies SlotMessage);
    // The thread need not know that the lease has ended: renewing it has no effect.
    return () => this.#freeSlots.push(slot);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.terminate();
  }
}
