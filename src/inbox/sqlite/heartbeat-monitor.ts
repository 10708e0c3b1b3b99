/** The last observed number of heartbeats of a process. */
interface Observation {
  heartbeats: number | undefined;
  unchangedMs: number;
}

/**
 * Detects processes that are gone: their number of heartbeats has not changed for the length of a lease, by the monotonic clock
 * of this process. It never compares the clocks of two processes.
 */
export class HeartbeatMonitor {
  readonly #leaseMs: number;
  readonly #monotonicNow: () => number;
  readonly #observations = new Map<string, Observation>();
  #lastAt: number;

  constructor({ leaseMs, monotonicNow }: { leaseMs: number; monotonicNow: () => number }) {
    this.#leaseMs = leaseMs;
    this.#monotonicNow = monotonicNow;
    this.#lastAt = monotonicNow();
  }

  /**
   * Observes the number of heartbeats of each process with running deliveries; `undefined` if it has sent none yet. Returns the
   * processes that are gone.
   */
  observe(processes: ReadonlyMap<string, number | undefined>): string[] {
    const now = this.#monotonicNow();
    // After the whole machine was suspended, the others need some time for a heartbeat.
    const elapsed = Math.min(now - this.#lastAt, this.#leaseMs / 3);
    this.#lastAt = now;
    for (const id of this.#observations.keys()) if (!processes.has(id)) this.#observations.delete(id);
    return [...processes].flatMap(([id, heartbeats]) => {
      const last = this.#observations.get(id);
      const unchangedMs = last !== undefined && last.heartbeats === heartbeats ? last.unchangedMs + elapsed : 0;
      this.#observations.set(id, { heartbeats, unchangedMs });
      return unchangedMs >= this.#leaseMs ? [id] : [];
    });
  }

  /** Starts again after a time in which no process could write a heartbeat. */
  reset(): void {
    this.#observations.clear();
  }
}
