import { maxHoldMs } from "../crash-policy.ts";

/** A queued delivery that was running when a process crashed, and may have caused the crash. */
export interface Suspect {
  /** Milliseconds since the epoch. */
  dueAt: number;
  /** Claims and runs it. Resolves with whether it could be claimed; never rejects. */
  run: () => Promise<boolean>;
}

export interface SuspectGateOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
  /** How long new deliveries are first held back, in milliseconds, so that running ones can end. */
  firstHoldMs: number;
  /** Finds the suspects that this process can run. */
  findSuspects: () => readonly Suspect[];
  /** Lets all workers claim deliveries again. */
  wakeWorkers: () => void;
}

/**
 * Runs a suspect only while no other delivery runs in this process: if it crashes the process again, it is the cause.
 *
 * A due suspect waits until nothing runs. In a busy process, the gate alternates between holding back new deliveries and
 * admitting them, each time for twice as long, up to a minute. If handlers take longer than that, the suspect runs
 * beside them, and a crash does not identify the cause. After a suspect that ran alone, the others run for as long as it ran.
 */
export class SuspectGate {
  readonly #options: SuspectGateOptions;
  #suspects: readonly Suspect[] = [];
  #state: "open" | "holding" | "alone" | "closed" = "open";
  /** The number of deliveries that run or are being claimed. */
  #busy = 0;
  #holdMs: number;
  /** When the state may change, in milliseconds of the monotonic clock. */
  #changesAt = 0;

  constructor(options: SuspectGateOptions) {
    this.#options = options;
    this.#holdMs = options.firstHoldMs;
  }

  /** Returns whether a worker may claim deliveries now. If so, the worker calls `leave` after the claim. */
  enter(): boolean {
    if (this.#state !== "open") return false;
    this.#busy += 1;
    return true;
  }

  /** Counts a running delivery until `leave`. */
  start(): void {
    this.#busy += 1;
  }

  /** Ends a claim or a delivery. */
  leave(): void {
    this.#busy -= 1;
    if (this.#busy === 0) this.#advance();
  }

  /** Finds suspects, and runs one if possible. Call it regularly. */
  poll(): void {
    this.#suspects = this.#options.findSuspects();
    this.#advance();
  }

  /** Stops running suspects. */
  close(): void {
    this.#state = "closed";
  }

  #advance(): void {
    if (this.#state === "alone" || this.#state === "closed") return;
    const { now, monotonicNow, firstHoldMs } = this.#options;
    const due = this.#suspects.find(({ dueAt }) => dueAt <= now());
    if (due === undefined) {
      this.#holdMs = firstHoldMs;
      this.#open();
    } else if (this.#busy === 0) {
      void this.#runAlone(due);
    } else if (monotonicNow() >= this.#changesAt) {
      this.#changesAt = monotonicNow() + this.#holdMs;
      if (this.#state === "open") {
        this.#state = "holding";
      } else if (this.#holdMs < maxHoldMs) {
        this.#holdMs = Math.min(this.#holdMs * 2, maxHoldMs);
        this.#open();
      } else {
        this.#holdMs = firstHoldMs;
        this.#open();
        void due.run();
      }
    }
  }

  #open(): void {
    if (this.#state === "open") return;
    this.#state = "open";
    this.#options.wakeWorkers();
  }

  async #runAlone(suspect: Suspect): Promise<void> {
    const { monotonicNow, firstHoldMs, findSuspects } = this.#options;
    this.#state = "alone";
    const startedAt = monotonicNow();
    const hasRun = await suspect.run();
    if (this.#state !== "alone") return;
    // A suspect that could not be claimed is tried again at the next poll.
    this.#suspects = hasRun ? findSuspects() : [];
    this.#holdMs = firstHoldMs;
    this.#changesAt = monotonicNow() + Math.max(firstHoldMs, monotonicNow() - startedAt);
    // A worker that claims nothing leaves immediately, and then the next suspect runs.
    this.#open();
    if (this.#busy === 0) this.#advance();
  }
}
