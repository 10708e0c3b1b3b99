/** What a process has last seen of another one. */
interface Sighting {
  beat: number | undefined;
  unchangedMs: number;
}

/**
 * Finds out which owners are gone: those whose count of beats has stayed the same for the length of a lease, by a clock
 * of this process that nobody sets. So no two clocks are compared.
 */
export class OwnerWatch {
  readonly #leaseMs: number;
  readonly #monotonicNow: () => number;
  readonly #sightings = new Map<string, Sighting>();
  #lastAt: number;

  constructor({ leaseMs, monotonicNow }: { leaseMs: number; monotonicNow: () => number }) {
    this.#leaseMs = leaseMs;
    this.#monotonicNow = monotonicNow;
    this.#lastAt = monotonicNow();
  }

  /** Takes in the beats of all owners that hold deliveries now; `undefined`: none yet. Returns those that are gone. */
  observe(beats: ReadonlyMap<string, number | undefined>): string[] {
    const now = this.#monotonicNow();
    // When the whole machine has stood still, the others need some time to show that they are alive.
    const elapsed = Math.min(now - this.#lastAt, this.#leaseMs / 3);
    this.#lastAt = now;
    for (const owner of this.#sightings.keys()) if (!beats.has(owner)) this.#sightings.delete(owner);
    return [...beats].flatMap(([owner, beat]) => {
      const seen = this.#sightings.get(owner);
      const unchangedMs = seen?.beat === beat && seen !== undefined ? seen.unchangedMs + elapsed : 0;
      this.#sightings.set(owner, { beat, unchangedMs });
      return unchangedMs >= this.#leaseMs ? [owner] : [];
    });
  }

  /** Starts again: no process could write for a while, so none could show that it is alive. */
  reset(): void {
    this.#sightings.clear();
  }
}
