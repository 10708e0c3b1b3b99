import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transform } from "node:stream";
import { Gzip } from "node:zlib";
import { onTestFinished, vi } from "vitest";
import type { BucketInbox } from "../../../src/inbox/bucket/bucket-inbox.ts";
import { recordNumber, yieldPrefix } from "../../../src/inbox/bucket/log.ts";
import type { ObjectStore } from "../../../src/inbox/bucket/object-store.ts";
import { type OpenBucketInboxOptions, startBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import { isThreadStopping } from "../../support/bundled-thread.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { incoming } from "../engine.ts";
import { MemoryObjectStore, type StoreFault, type StoreRequest } from "./memory-object-store.ts";

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
class VirtualClock {
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

/** A process with an inbox. All its requests take a time. */
export interface Process {
  name: string;
  inbox: BucketInbox;
  logger: MemoryLogger;
  /** Whether the inbox accepts a delivery now. */
  accepts: () => Promise<boolean>;
  kill: () => void;
}

export class World {
  readonly clock = new VirtualClock();
  readonly store = new MemoryObjectStore();
  latencyMs = 100;
  /** Requests for these keys take 3 s. */
  slowKeys: string | undefined;
  /** Whether owners find requests to yield at once. They look each second, which makes a long simulation slow. */
  findsRequestsAtOnce = false;
  /** The slow requests that store an object. */
  slowPuts = 0;
  stopLoad = () => {};
  /** Chooses the fault of a request. */
  fault: (request: StoreRequest & { process: string }) => StoreFault | undefined = () => undefined;
  readonly #folder = mkdtempSync(join(tmpdir(), "bucket-world-"));
  #processes = 0;
  #deliveries = 0;

  constructor() {
    this.store.now = () => this.clock.now;
    // The inbox measures pauses of a few milliseconds with real timers. Without a duration, it makes none.
    vi.spyOn(performance, "now").mockReturnValue(0);
    onTestFinished(() => {
      vi.restoreAllMocks();
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  start(options: Partial<OpenBucketInboxOptions> = {}): Process {
    this.#processes += 1;
    const process = `process ${this.#processes}`;
    const logger = createMemoryLogger();
    const { clock } = this;
    const inbox = startBucketInbox({
      store: this.#storeOf(process),
      spaceId: "acme/receiver",
      takeOver: false,
      log: logger,
      now: () => clock.now,
      monotonicNow: () => clock.now,
      wait: (ms, signal) => (this.#killed.has(process) ? new Promise(() => {}) : clock.wait(ms, { signal, process })),
      pollMs: 1_000_000,
      parentFolder: this.#folder,
      ...options,
    });
    onTestFinished(async () => {
      this.latencyMs = 100;
      this.stopLoad();
      this.fault = () => undefined;
      if (!this.#killed.has(process)) await clock.settled(inbox.close(0));
    });
    return {
      name: process,
      inbox,
      logger,
      accepts: async () => {
        this.#deliveries += 1;
        const accepting = inbox.accept(incoming(`delivery ${this.#deliveries}`, { body: "{}" }));
        return clock.settled(
          accepting.then(
            () => true,
            () => false,
          ),
        );
      },
      kill: () => {
        this.#killed.add(process);
        clock.kill(process);
        // Ends its thread. None of its requests reaches the store any more.
        void inbox.close(0);
      },
    };
  }

  readonly #killed = new Set<string>();

  /** The view of one process. Each request takes the latency, half of it before it has its effect. */
  #storeOf(process: string): ObjectStore {
    const wait = async (latencyMs: number) => {
      if (latencyMs > 0 && !this.#killed.has(process)) await this.clock.wait(latencyMs / 2, { process });
      if (this.#killed.has(process)) await new Promise(() => {});
    };
    return new Proxy(this.store, {
      get: (store, name: keyof MemoryObjectStore) => {
        if (name !== "put" && name !== "get" && name !== "list" && name !== "delete") return store[name];
        return async (key: string, ...rest: never[]) => {
          const isSlow = this.slowKeys !== undefined && key.startsWith(this.slowKeys);
          const isFree = this.findsRequestsAtOnce && name === "get" && key.startsWith(yieldPrefix);
          const latencyMs = isFree ? 0 : isSlow ? 3_000 : this.latencyMs;
          if (isSlow && name === "put") this.slowPuts += 1;
          await wait(latencyMs);
          store.intercept = () => this.fault({ method: name, key, process });
          const method: (key: string, ...rest: never[]) => Promise<unknown> = store[name];
          const result = await method.call(store, key, ...rest).then(
            (value) => () => value,
            (error) => () => {
              throw error;
            },
          );
          await wait(latencyMs);
          return result();
        };
      },
    });
  }

  async open(options: Partial<OpenBucketInboxOptions> = {}): Promise<Process> {
    const started = this.start(options);
    await this.untilOpen(started);
    return started;
  }

  async untilOpen({ inbox }: Process, maxMs?: number): Promise<number> {
    let isOpen = false;
    void inbox.opened.then(
      () => {
        isOpen = true;
      },
      () => {},
    );
    return this.clock.until(() => isOpen, maxMs);
  }

  /** Sends deliveries to a process without a pause. Returns the number of accepted ones when it is stopped. */
  load({ inbox }: Process, connections = 3): { stop: () => void; accepted: string[] } {
    const load = { isOn: true, accepted: [] as string[] };
    this.stopLoad = () => {
      load.isOn = false;
    };
    const send = async (connection: number) => {
      for (let count = 0; load.isOn; count += 1) {
        const id = `load ${connection} ${count} ${this.#processes}`;
        await inbox.accept(incoming(id, { body: "{}" })).then(
          () => void load.accepted.push(id),
          () => this.clock.wait(50),
        );
      }
    };
    for (let connection = 0; connection < connections; connection += 1) void send(connection);
    return { accepted: load.accepted, stop: this.stopLoad };
  }

  get lastRecord(): number {
    return Math.max(0, ...[...this.store.objects.keys()].map((key) => recordNumber(key) ?? 0));
  }
}
