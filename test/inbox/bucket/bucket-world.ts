import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { BucketInbox } from "../../../src/inbox/bucket/bucket-inbox.ts";
import { recordNumber, yieldPrefix } from "../../../src/inbox/bucket/log.ts";
import type { ObjectStore } from "../../../src/inbox/bucket/object-store.ts";
import { type OpenBucketInboxOptions, startBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { incoming } from "../engine.ts";
import { MemoryObjectStore, type StoreFault, type StoreRequest } from "./memory-object-store.ts";
import { VirtualClock } from "./virtual-clock.ts";

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
