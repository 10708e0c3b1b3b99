import fc from "fast-check";
import { expect, test } from "vitest";
import { SnapshotSchedule } from "../../../src/inbox/bucket/snapshot-schedule.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";

/** Set `RUNS=5000` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 100);
const minRecords = 3;
const maxRecords = 10_000;
const minShare = 0.25;
const retryMs = 60_000;
/** A snapshot has two parts of this size, of which the first one waits for the test. */
const partBytes = 500;

/** What the schedule must do. */
class Model {
  records = 0;
  bytes = 0;
  snapshotBytes = 0;
  now = 0;
  retryAt = 0;
  isClosed = false;
  /** The number of records and bytes when the snapshot started that is in progress. */
  running: { records: number; bytes: number; isCopied: boolean } | undefined;
  readonly expected = { started: 0, stored: 0, warnings: 0, isClosed: false };

  count(bytes: number): void {
    this.records += 1;
    this.bytes += bytes;
    const isLarge = this.records >= minRecords && this.bytes >= minShare * this.snapshotBytes;
    if ((isLarge || this.records >= maxRecords) && this.now >= this.retryAt) this.start();
  }

  start(): void {
    if (this.isClosed || this.running) return;
    this.running = { records: this.records, bytes: this.bytes, isCopied: false };
    this.expected.started += 1;
  }

  /** The copy or the first part is complete, or has failed. */
  continue(isFailed: boolean): void {
    const { running } = this;
    if (!running) return;
    if (!isFailed && !running.isCopied) running.isCopied = true;
    else this.#end(running, isFailed);
  }

  close(): void {
    this.isClosed = true;
    // A part that is being stored is awaited.
    if (!this.running?.isCopied) this.running = undefined;
    this.expected.isClosed = !this.running;
  }

  #end({ records, bytes }: { records: number; bytes: number }, isFailed: boolean): void {
    this.running = undefined;
    this.expected.isClosed = this.isClosed;
    if (this.isClosed) return;
    if (isFailed) {
      this.retryAt = this.now + retryMs;
      this.expected.warnings += 1;
      return;
    }
    this.records -= records;
    this.bytes -= bytes;
    this.snapshotBytes = 2 * partBytes;
    this.expected.stored += 1;
  }
}

/** A schedule whose copies and parts wait for the test. */
class Subject {
  now = 0;
  readonly found = { started: 0, stored: 0, warnings: 0, isClosed: false };
  readonly schedule: SnapshotSchedule;
  #held: PromiseWithResolvers<undefined> | undefined;

  constructor() {
    const store = new MemoryObjectStore();
    store.intercept = ({ method, key }) => (method === "put" && key.endsWith("/000000") ? this.#hold() : undefined);
    store.onStored = ({ key }) => {
      if (key.endsWith("/manifest")) this.found.stored += 1;
    };
    const log = createMemoryLogger();
    log.warn = () => {
      this.found.warnings += 1;
    };
    this.schedule = new SnapshotSchedule({
      store,
      file: "",
      log,
      monotonicNow: () => this.now,
      records: 0,
      snapshotBytes: 0,
      minRecords,
      copyDatabase: async (_file, signal) => {
        this.found.started += 1;
        const number = this.found.started;
        await this.#hold(signal);
        const parts = (async function* () {
          yield new Uint8Array(partBytes);
          yield new Uint8Array(partBytes);
        })();
        return { number, fences: [], bytes: 1, parts, [Symbol.asyncDispose]: async () => {} };
      },
    });
  }

  continue(isFailed: boolean): void {
    if (isFailed) this.#held?.reject(new Error("The snapshot failed."));
    else this.#held?.resolve(undefined);
  }

  close(): void {
    void this.schedule.close().then(() => {
      this.found.isClosed = true;
    });
  }

  #hold(signal?: AbortSignal): Promise<undefined> {
    const held = Promise.withResolvers<undefined>();
    this.#held = held;
    signal?.addEventListener("abort", () => held.reject(signal.reason));
    return held.promise;
  }
}

/** A step of both the model and the subject. */
function command(name: string, run: (target: Model | Subject) => void): fc.AsyncCommand<Model, Subject> {
  return {
    check: () => true,
    toString: () => name,
    async run(model, subject) {
      run(model);
      run(subject);
      await new Promise((resolve) => setImmediate(resolve));
      expect(subject.found).toEqual(model.expected);
    },
  };
}

const commands = [
  fc
    .oneof(
      { weight: 3, arbitrary: fc.tuple(fc.integer({ min: 1, max: 5 }), fc.constantFrom(0, 50, 1_000)) },
      { weight: 1, arbitrary: fc.constant([maxRecords - 1, 0] as const) },
    )
    .map(([count, bytes]) =>
      command(`count ${count} records of ${bytes} bytes`, (target) => {
        const schedule =
          target instanceof Model ? { countRecord: (size: number) => target.count(size) } : target.schedule;
        for (let counted = 0; counted < count; counted += 1) schedule.countRecord(bytes);
      }),
    ),
  fc
    .constantFrom(false, false, true)
    .map((isFailed) => command(isFailed ? "fail" : "continue", (target) => target.continue(isFailed))),
  fc.constantFrom(1, retryMs - 1, retryMs).map((ms) =>
    command(`wait ${ms} ms`, (target) => {
      target.now += ms;
    }),
  ),
  fc.constant(command("start", (target) => (target instanceof Model ? target : target.schedule).start())),
];
const closing = fc.constant(command("close", (target) => target.close()));

test("snapshots start when they are due, one at a time, are retried a minute after a failure, and end when the schedule closes", {
  tags: "slow",
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.commands(commands, { maxCommands: 40, size: "max" }),
      fc.commands([...commands, closing], { maxCommands: 10, size: "max" }),
      async (before, after) => {
        await fc.asyncModelRun(() => ({ model: new Model(), real: new Subject() }), [...before, ...after]);
      },
    ),
    { numRuns },
  );
});
