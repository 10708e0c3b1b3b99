/** An event loop that is blocked for longer counts as hung, and its leases end, in milliseconds. */
export const defaultMaxBlockedMs = 600_000;

/** A counter that an event loop raises while it runs, shared with a thread beside it. */
export type LoopBeat = Int32Array<SharedArrayBuffer>;

/** Makes a counter that stands at 0. */
export function createLoopBeat(): LoopBeat {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Raises a counter regularly, as long as the event loop runs. The timer keeps no process alive. */
export function startLoopBeat(beat: LoopBeat, everyMs: number): NodeJS.Timeout {
  return setInterval(() => Atomics.add(beat, 0, 1), everyMs).unref();
}

/** Measures from a thread for how long the event loop has been blocked. */
export class BlockedLoop {
  readonly #beat: LoopBeat;
  #last: number;
  #changedAt = performance.now();

  constructor(beat: LoopBeat) {
    this.#beat = beat;
    this.#last = Atomics.load(beat, 0);
  }

  /** For how long the counter has not changed, in milliseconds: call it more often than the loop may be blocked. */
  blockedMs(): number {
    const now = performance.now();
    const current = Atomics.load(this.#beat, 0);
    if (current !== this.#last) {
      this.#last = current;
      this.#changedAt = now;
    }
    return now - this.#changedAt;
  }
}
