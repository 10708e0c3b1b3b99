import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A timer of a {@link VirtualClock}. */
interface VirtualTimer {
  at: number;
  /** The process that waits. */
  process: string;
  resolve: () => void;
}

/** How long the clock waits for a condition at least, in real milliseconds. */
const minWaitMs = 5_000;

/** A clock whose time only passes when a test advances it. */
export class VirtualClock {
  now = Date.parse("2026-01-01T00:00:00Z");
  #timers: VirtualTimer[] = [];
  /** Whether each step also waits for threads, such as those that compress large records. */
  waitsForThreads = true;
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
    const rounds = isDone ? 6 : Number(this.waitsForThreads);
    for (let round = 0; round < rounds && (this.#next?.at ?? Number.POSITIVE_INFINITY) > this.now + 1_000; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 4));
      if (isDone?.()) return;
    }
    // The start of a process, which writes its working file, must not appear to take a long time.
    while (isUsingFiles()) await settle(true);
    const next = this.#next;
    if (next === undefined || next.at > until) this.now = Math.max(this.now, Math.min(until, this.now + 60_000));
    else {
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.resolve();
    }
    await settle(this.waitsForThreads);
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

const compress = promisify(gzip);
/** One for each thread of Node's pool. */
const probes = ["", "", "", ""];

/** Waits until the callbacks that are ready have run. Threads compress records, and the probes end after the records before them. */
async function settle(waitsForThreads: boolean): Promise<void> {
  if (waitsForThreads) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    await Promise.all(probes.map((probe) => compress(probe)));
  }
  for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

function isUsingFiles(): boolean {
  return process.getActiveResourcesInfo().some((name) => /^(FS|File)/.test(name));
}
