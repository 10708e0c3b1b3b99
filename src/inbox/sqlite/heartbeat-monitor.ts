/** The last observed number of heartbeats of a process, and how long this number has not changed. */
interface Observation {
  heartbeats: number | undefined;
  unchangedMs: number;
}

/**
 * Detects processes that are gone. A process is gone if its number of heartbeats has not changed for the duration of a
 * lease. The time is measured with the monotonic clock of this process, so that wrong clocks of other processes have no
 * effect.
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
   * Observes the number of heartbeats of each process with running deliveries. The number is `undefined` for a process that has not
   * sent any heartbeats yet. Returns the IDs of the processes that are gone.
   */
  observe(processes: ReadonlyMap<string, number | undefined>): string[] {
    const now = this.#monotonicNow();
    // The limit gives other processes time to send a heartbeat after the machine was suspended.
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

  /** Restarts all observations. Call this method after a period in which no process could write heartbeats. */
  reset(): void {
    this.#observations.clear();
  }
}
