import { Worker } from "node:worker_threads";
import { programUrl } from "../../core/files.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";

/** A worker's lease for a delivery. BullMQ stores the lease as a lock of the job. */
export interface HeldLease {
  endpoint: string;
  jobId: string;
  token: string;
}

export interface LeaseRenewerData {
  url: string;
  leaseMs: number;
  maxBlockedMs: number;
  loopCounter: LoopCounter;
}

/** A message to the thread that puts a lease into a slot. The previous lease in the slot has ended. */
export interface SlotMessage {
  slot: number;
  lease: HeldLease;
}

/** How many times per lease duration the event loop increments the loop counter and the thread reads the counter. */
export const countsPerLease = 16;

/**
 * Renews leases from a thread while the event loop is blocked, because BullMQ renews leases only on the event loop.
 * After the event loop has been blocked for an eighth of the lease duration, the thread connects to the inbox server
 * and renews all leases until the event loop runs again or counts as hung.
 */
export class LeaseRenewer {
  readonly #thread: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #freeSlots: number[] = [];
  #slots = 0;

  /** @param options.onError called when leases cannot be renewed or the thread has failed. */
  constructor(options: Omit<LeaseRenewerData, "loopCounter"> & { onError: (error: Error) => void }) {
    const { url, leaseMs, maxBlockedMs, onError } = options;
    const loopCounter = createLoopCounter();
    const workerData: LeaseRenewerData = { url, leaseMs, maxBlockedMs, loopCounter };
    this.#thread = new Worker(programUrl("lease-renewer-thread", import.meta.url), { workerData, execArgv: [] });
    this.#thread.on("message", onError);
    this.#thread.on("error", (cause) => {
      const message =
        "The thread that renews leases has failed. A delivery whose handler blocks the event loop can now run twice. Restart the server.";
      onError(new Error(message, { cause }));
    });
    // `unref` must follow the listeners, because adding a message listener keeps the process alive.
    this.#thread.unref();
    this.#timer = startLoopCounter(loopCounter, leaseMs / countsPerLease);
  }

  /** Registers a lease for renewal. Call the returned function when the lease has ended. */
  hold(lease: HeldLease): () => void {
    const slot = this.#freeSlots.pop() ?? this.#slots++;
    this.#thread.postMessage({ slot, lease } satisfies SlotMessage);
    // The thread is not notified, because renewing an ended lease has no effect.
    return () => this.#freeSlots.push(slot);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#thread.terminate();
  }
}
