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

export type ClaimGate = ReturnType<typeof createClaimGate>;

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
export function createClaimGate({ now, monotonicNow, firstHoldMs, findSuspects, wakeWorkers }: ClaimGateOptions) {
  let suspects: readonly Suspect[] = [];
  let state: "open" | "holding" | "alone" | "closed" = "open";
  let busy = 0;
  let holdMs = firstHoldMs;
  /** When the gate can next hold back or admit other deliveries, by the monotonic clock. */
  let changesAt = 0;
  /** When the last suspect started to run alone, by the monotonic clock. */
  let aloneSince = 0;

  function advance(): void {
    if (state === "alone" || state === "closed") return;
    const due = suspects.find(({ dueAt }) => dueAt <= now());
    if (due === undefined) {
      holdMs = firstHoldMs;
      open();
    } else if (busy === 0) {
      void runAlone(due);
    } else if (monotonicNow() >= changesAt) {
      changesAt = monotonicNow() + holdMs;
      if (state === "open") {
        state = "holding";
      } else if (holdMs < maxHoldMs) {
        holdMs = Math.min(holdMs * 2, maxHoldMs);
        open();
      } else {
        holdMs = firstHoldMs;
        open();
        void due.run();
      }
    }
  }

  function open(): void {
    if (state === "open") return;
    state = "open";
    wakeWorkers();
  }

  async function runAlone(suspect: Suspect): Promise<void> {
    state = "alone";
    aloneSince = monotonicNow();
    // Without this, another suspect could start alone after a minute if this one is not claimed by then.
    busy += 1;
    const hasRun = await suspect.run();
    busy -= 1;
    if (state !== "alone") return;
    // If the suspect could not be claimed, the next poll tries again.
    suspects = hasRun ? findSuspects() : [];
    endAlone();
    // If no worker claims a delivery, the next suspect can run immediately.
    if (busy === 0) advance();
  }

  function endAlone(): void {
    holdMs = firstHoldMs;
    changesAt = monotonicNow() + Math.max(firstHoldMs, monotonicNow() - aloneSince);
    open();
  }

  return {
    /** Returns whether a worker may claim deliveries now. If so, the worker must call `leave` after the claim. */
    enter(): boolean {
      if (state !== "open") return false;
      busy += 1;
      return true;
    },
    /** Records that a delivery has started. The worker must call `leave` when the delivery ends. */
    start(): void {
      busy += 1;
    },
    /** Records that a claim or a delivery has ended. */
    leave(): void {
      busy -= 1;
      if (busy === 0) advance();
    },
    /** Finds suspects and runs one if possible. Call this method at regular intervals. */
    poll(): void {
      suspects = findSuspects();
      if (state === "alone" && monotonicNow() - aloneSince >= maxHoldMs) endAlone();
      advance();
    },
    /** Prevents new claims, including claims of suspects. */
    close(): void {
      state = "closed";
    },
  };
}
