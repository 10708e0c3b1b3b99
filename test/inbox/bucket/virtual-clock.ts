import type { Transform } from "node:stream";
import { Gzip } from "node:zlib";
import { isThreadStopping } from "../../support/bundled-thread.ts";

/** A timer of a {@link VirtualClock}. */
interface VirtualTimer {
  at: number;
  /** The process that waits. */
  process: string;
  resolve: () => void;
}

/** How long the clock waits for a condition at least, in real milliseconds. */
const minWaitMs = 5_000;
/** How long threads can be busy at most, in real milliseconds. */
const maxSettleMs = 15_000;

/** A clock whose time only passes when a test advances it. */
export class VirtualClock {
  now = Date.parse("2026-01-01T00:00:00Z");
  #timers: VirtualTimer[] = [];
  /** Processes whose timers do not fire, as after SIGSTOP. */
  readonly paused = new Set<string>();

  /** Waits for a time in milliseconds. Rejects if the signal is aborted. */
  wait(ms: number, { signal, process = "" }: { signal?: AbortSignal; process?: string } = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = { at: this.now + ms, process, resolve };
      this.#timers.push(timer);
      signal?.addEventListener("abort", () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
        reject(signal.reason);
      });
    });
  }

  /** Removes the timers of a process that was killed. Its promises stay pending. */
  kill(process: string): void {
    this.#timers = this.#timers.filter((timer) => timer.process !== process);
    this.paused.delete(process);
  }

  /** Advances the time to the next timer, and runs what waits for it. At most until a time. */
  async step(until = Number.POSITIVE_INFINITY, isDone?: () => boolean): Promise<void> {
    // Work on a busy machine must not appear to take a long time.
    for (
      let round = isDone ? 6 : 1;
      round > 0 && (this.#next?.at ?? Number.POSITIVE_INFINITY) > this.now + 1_000;
      round -= 1
    ) {
      await new Promise((resolve) => setTimeout(resolve, 4));
      if (isDone?.()) return;
    }
    // The start of a process, which writes its working file, must not appear to take a long time.
    if (isUsingFiles()) await settle();
    const next = this.#next;
    if (next === undefined || next.at > until) this.now = Math.max(this.now, Math.min(until, this.now + 60_000));
    else {
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.resolve();
    }
    await settle();
  }

  get #next(): VirtualTimer | undefined {
    const due = this.#timers.filter(({ process }) => !this.paused.has(process));
    return due.sort((one, other) => one.at - other.at)[0];
  }

  /** Advances the time. */
  async advance(ms: number): Promise<void> {
    const until = this.now + ms;
    while (this.now < until) await this.step(until);
  }

  /** Advances the time until a promise is settled. */
  async settled<Result>(pending: Promise<Result>): Promise<Result> {
    let isPending = true;
    const end = () => {
      isPending = false;
    };
    pending.then(end, end);
    await this.until(() => !isPending);
    return pending;
  }

  /** Advances the time until a condition is true. Returns the duration in milliseconds. */
  async until(isTrue: () => boolean, maxMs = 300_000): Promise<number> {
    const startedAt = this.now;
    // The exit of a thread takes real time.
    const minUntil = Date.now() + minWaitMs;
    while (!isTrue()) {
      if (this.now - startedAt > maxMs && Date.now() > minUntil)
        throw new Error(`The condition is still false after ${maxMs} ms.`);
      await this.step(Math.max(startedAt + maxMs, this.now) + 1, isTrue);
    }
    return this.now - startedAt;
  }
}

/** The streams of zlib that are running in threads. Nothing else shows that a record is still being compressed. */
const compressing = new Set<Transform>();
const base: Transform = Object.getPrototypeOf(Object.getPrototypeOf(Gzip.prototype));
const transform = base._transform;
base._transform = function (chunk, encoding, done) {
  compressing.add(this);
  // After an error, the callback is not called.
  this.once("close", () => compressing.delete(this));
  transform.call(this, chunk, encoding, (...result) => {
    compressing.delete(this);
    done(...result);
  });
};

/** Waits until the callbacks that are ready have run, and threads have compressed the records or have stopped. */
async function settle(): Promise<void> {
  const startedAt = Date.now();
  do {
    for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
    if (Date.now() - startedAt > maxSettleMs) {
      const streams = [...compressing].map((stream) => stream.constructor.name);
      throw new Error(`The process is still busy: ${[...streams, ...process.getActiveResourcesInfo()].join(", ")}.`);
    }
  } while (compressing.size > 0 || isThreadStopping() || isUsingFiles());
}

function isUsingFiles(): boolean {
  // Node lists the finished read of a `Blob` of a file until the garbage is collected.
  return process.getActiveResourcesInfo().some((name) => /^(FS|File(?!HandleReadWrap)|CloseReq)/.test(name));
}
