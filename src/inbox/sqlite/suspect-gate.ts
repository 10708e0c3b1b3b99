import { maxHoldMs } from "../crash-policy.ts";

/** A delivery that was running when a process crashed. */
export interface Suspect {
  /** Milliseconds since the epoch. */
  dueAt: number;
  /** Runs it. Resolves with whether it could be taken; never rejects. */
  run: () => Promise<boolean>;
}

/** What a {@link SuspectGate} is made from. */
export interface SuspectGateOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds of a clock that is never set. */
  monotonicNow: () => number;
  /** How long new deliveries are held back at first, in milliseconds, so that those that run can end. */
  firstHoldMs: number;
  /** Finds the suspects that this process can run. */
  findSuspects: () => readonly Suspect[];
  /** Lets all workers take deliveries again. */
  wakeWorkers: () => void;
}

/**
 * Lets a suspect run only while no other delivery runs in this process: should it crash the process again, it crashes
 * alone.
 *
 * A suspect that is due waits until nothing runs. In a busy process, new deliveries are held back for a while, then let
 * through for as long, and each time twice as long, up to a minute. Where handlers take longer than that, the suspect
 * runs beside them: a crash then counts as one beside others. After a suspect that ran alone, the others go on for as
 * long as it took.
 */
export class SuspectGate {
  readonly #options: SuspectGateOptions;
  #suspects: readonly Suspect[] = [];
  #state: "open" | "holding" | "alone" | "closed" = "open";
  /** How many deliveries run, or are being taken. */
  #busy = 0;
  #holdMs: number;
  /** When the state may change, by the monotonic clock. */
  #changesAt = 0;

  constructor(options: SuspectGateOptions) {
    this.#options = options;
    this.#holdMs = options.firstHoldMs;
  }

  /** Whether a worker may take deliveries now. If so, it calls `leave` when it has taken them, or one has ended. */
  enter(): boolean {
    if (this.#state !== "open") return false;
    this.#busy += 1;
    return true;
  }

  /** Counts a delivery that starts to run, until `leave`. */
  start(): void {
    this.#busy += 1;
  }

  leave(): void {
    this.#busy -= 1;
    if (this.#busy === 0) this.#advance();
  }

  /** Looks for suspects, and runs one if it can. Call it regularly. */
  look(): void {
    this.#suspects = this.#options.findSuspects();
    this.#advance();
  }

  /** Runs no suspect any more. */
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
    // What could not be taken is not tried again before the next look.
    this.#suspects = hasRun ? findSuspects() : [];
    this.#holdMs = firstHoldMs;
    this.#changesAt = monotonicNow() + Math.max(firstHoldMs, monotonicNow() - startedAt);
    // A worker that takes nothing leaves at once, and then the next suspect runs.
    this.#open();
    if (this.#busy === 0) this.#advance();
  }
}
