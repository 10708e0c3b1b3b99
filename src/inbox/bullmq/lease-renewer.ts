import { Worker } from "node:worker_threads";
import { programUrl } from "../../core/package-root.ts";
import { createLoopCounter, type LoopCounter, startLoopCounter } from "../loop-monitor.ts";

/** The lease of a delivery. BullMQ stores a lease as the lock of a job. */
export interface HeldLease {
  endpoint: string;
  jobId: string;
  token: string;
}

/** The `workerData` of the thread. */
export interface LeaseRenewerData {
  /** The URL of the inbox. */
  url: string;
  leaseMs: number;
  maxBlockedMs: number;
  loopCounter: LoopCounter;
}

/** A message to the thread. The lease replaces the previous lease in the slot, which has ended. */
export interface SlotMessage {
  slot: number;
  lease: HeldLease;
}

/** The number of times that the event loop increments the counter during a lease. */
export const countsPerLease = 16;

/**
 * Renews leases while the event loop is blocked, because BullMQ renews leases only while the event loop runs. A thread monitors the
 * event loop. When the event loop has been blocked for an eighth of a lease, the thread opens a connection and renews all leases.
 */
export class LeaseRenewer {
  readonly #thread: Worker;
  readonly #timer: NodeJS.Timeout;
  readonly #freeSlots: number[] = [];
  #slots = 0;

  /**
   * @param options.maxBlockedMs after this time in milliseconds, a blocked event loop counts as hung, and its leases expire.
   * @param options.onError called when leases could not be renewed or the thread has failed.
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
        "The thread that renews leases has failed. Handlers that block the event loop can now lose their leases. Restart the server.";
      onError(new Error(message, { cause }));
    });
    this.#timer = startLoopCounter(loopCounter, options.leaseMs / countsPerLease);
  }

  /** Renews a lease until the returned function is called. */
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
