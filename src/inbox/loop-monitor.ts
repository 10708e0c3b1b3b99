/** How long the event loop can be blocked before it counts as hung, and its leases are no longer renewed. */
export const defaultMaxBlockedMs = 600_000;

/** A counter in shared memory. The event loop increments the counter, and a thread reads the counter. */
export type LoopCounter = Int32Array<SharedArrayBuffer>;

export function createLoopCounter(): LoopCounter {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Starts incrementing the counter while the event loop runs. The timer does not keep the process alive. */
export function startLoopCounter(counter: LoopCounter, intervalMs: number): NodeJS.Timeout {
  return setInterval(() => Atomics.add(counter, 0, 1), intervalMs).unref();
}

/** Measures how long the event loop of the main thread has been blocked. Use it in another thread. */
export class LoopMonitor {
  readonly #counter: LoopCounter;
  #last: number;
  #changedAt = performance.now();

  constructor(counter: LoopCounter) {
    this.#counter = counter;
    this.#last = Atomics.load(counter, 0);
  }

  /** Returns how long the counter has been unchanged. The interval between calls limits the precision. */
  blockedMs(): number {
    const now = performance.now();
    const current = Atomics.load(this.#counter, 0);
    if (current !== this.#last) {
      this.#last = current;
      this.#changedAt = now;
    }
    return now - this.#changedAt;
  }
}
