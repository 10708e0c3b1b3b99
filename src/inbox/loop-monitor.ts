/** An event loop that is blocked for longer counts as hung, and its leases expire, in milliseconds. */
export const defaultMaxBlockedMs = 600_000;

/** A counter that an event loop increments while it runs, shared with a thread. */
export type LoopCounter = Int32Array<SharedArrayBuffer>;

export function createLoopCounter(): LoopCounter {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Increments the counter while the event loop runs. The timer does not keep the process alive. */
export function startLoopCounter(counter: LoopCounter, intervalMs: number): NodeJS.Timeout {
  return setInterval(() => Atomics.add(counter, 0, 1), intervalMs).unref();
}

/** Measures from a thread how long the event loop has been blocked. */
export class LoopMonitor {
  readonly #counter: LoopCounter;
  #last: number;
  #changedAt = performance.now();

  constructor(counter: LoopCounter) {
    this.#counter = counter;
    this.#last = Atomics.load(counter, 0);
  }

  /** How long the counter has not changed, in milliseconds. Call it more often than the loop may be blocked. */
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
