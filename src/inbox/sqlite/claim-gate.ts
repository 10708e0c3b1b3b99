import { maxHoldMs } from "../retry.ts";

/** A queued suspect. See `retry.ts` for the term. */
export interface Suspect {
  dueAt: number;
  /** Claims and runs the suspect. Resolves with `false` if the suspect could not be claimed. Never rejects. */
  run: () => Promise<boolean>;
}

interface ClaimGateOptions {
  now: () => number;
  monotonicNow: () => number;
  /** The duration of the first hold of other deliveries. Running deliveries can end during this time. */
  firstHoldMs: number;
  findSuspects: () => readonly Suspect[];
  wakeWorkers: () => void;
}

/**
 * Runs suspects alone if possible, so that a second crash identifies its cause. See `retry.ts` for the terms "suspect"
 * and "alone".
 *
 * A suspect that is due waits until no delivery is running. In a busy process, the gate alternates between holding back other
 * deliveries and admitting them again. The gate doubles the hold time each time, up to a minute. If a handler still runs after
 * that, the suspect runs while other deliveries are running, and a crash does not identify its cause. A suspect that runs alone
 * also holds back other deliveries for at most a minute. After that, other deliveries run for the same length of time before the
 * next suspect.
 */
export class ClaimGate {
  readonly #options: ClaimGateOptions;
  #suspects: readonly Suspect[] = [];
  #state: "open" | "holding" | "alone" | "closed" = "open";
  #busy = 0;
  #holdMs: number;
  /** When the gate can next hold back or admit other deliveries, by the monotonic clock. */
  #changesAt = 0;
  /** When the last suspect started to run alone, by the monotonic clock. */
  #aloneSince = 0;

  constructor(options: ClaimGateOptions) {
    this.#options = options;
    this.#holdMs = options.firstHoldMs;
  }

  /** Returns whether a worker may claim deliveries now. If so, the worker must call `leave` after the claim. */
  enter(): boolean {
    if (this.#state !== "open") return false;
    this.#busy += 1;
    return true;
  }

  /** Records that a delivery has started. The worker must call `leave` when the delivery ends. */
  start(): void {
    this.#busy += 1;
  }

  /** Records that a claim or a delivery has ended. */
  leave(): void {
    this.#busy -= 1;
    if (this.#busy === 0) this.#advance();
  }

  /** Finds suspects and runs one if possible. Call this method at regular intervals. */
  poll(): void {
    this.#suspects = this.#options.findSuspects();
    if (this.#state === "alone" && this.#options.monotonicNow() - this.#aloneSince >= maxHoldMs) this.#endAlone();
    this.#advance();
  }

  /** Prevents new claims, including claims of suspects. */
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
    const { monotonicNow, findSuspects } = this.#options;
    this.#state = "alone";
    this.#aloneSince = monotonicNow();
    // Without this, another suspect could start alone after a minute if this one is not claimed by then.
    this.#busy += 1;
    const hasRun = await suspect.run();
    this.#busy -= 1;
    if (this.#state !== "alone") return;
    // If the suspect could not be claimed, the next poll tries again.
    this.#suspects = hasRun ? findSuspects() : [];
    this.#endAlone();
    // If no worker claims a delivery, the next suspect can run immediately.
    if (this.#busy === 0) this.#advance();
  }

  #endAlone(): void {
    const { monotonicNow, firstHoldMs } = this.#options;
    this.#holdMs = firstHoldMs;
    this.#changesAt = monotonicNow() + Math.max(firstHoldMs, monotonicNow() - this.#aloneSince);
    this.#open();
  }
}
