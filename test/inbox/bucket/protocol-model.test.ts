// @module-tag slow

import fc from "fast-check";
import { expect, test } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import { type LogRecord, type LogWriter, recordNumber } from "../../../src/inbox/bucket/log.ts";
import { LogReplay, type LogTarget } from "../../../src/inbox/bucket/log-replay.ts";
import { ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { type DatabaseCopy, restoreSnapshot, storeSnapshot } from "../../../src/inbox/bucket/snapshots.ts";
import { takeOverLog } from "../../../src/inbox/bucket/take-over.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { MemoryObjectStore, type StoreFault, type StoreRequest, viewOf } from "./memory-object-store.ts";

/** A record. `isTorn`: whether only a part was stored. */
interface ModelRecord {
  number: number;
  writer: string;
  kind: LogRecord["kind"];
  value: string;
  isTorn: boolean;
}

/** What the log of an inbox must look like. Throws an error if an event breaks a rule. */
class LogModel {
  readonly #records: ModelRecord[] = [];
  readonly #acknowledged = new Set<number>();
  readonly #refused = new Set<string>();
  readonly #deleted = new Set<number>();
  /** Several writers can be the owner if a torn record can be a takeover. */
  #owners = new Set<string>();

  /** The store has stored a record. */
  store(record: ModelRecord): void {
    const { number, writer, kind, value, isTorn } = record;
    // Without effect, because a snapshot contains the later records: a repeated record, or a takeover after a long pause.
    if (this.#deleted.has(number) && (kind === "takeover" || this.#records[number - 1]?.value === value)) return;
    check(number === this.#records.length + 1, `record ${number} leaves a hole, or replaces a deleted record`);
    check(!this.#refused.has(value), `${value} was refused, but is stored`);
    check(kind === "takeover" || this.#owners.has(writer), `${writer} is not the owner, but stores record ${number}`);
    check(!this.valuesUpTo(number).includes(value), `${value} is stored twice`);
    this.#records.push(record);
    this.#owners = new Set(isTorn ? [...this.#owners, ...(kind === "takeover" ? [writer] : [])] : [writer]);
  }

  /** A record was deleted from the store. `snapshots`: the numbers of the complete snapshots. */
  delete(number: number, snapshots: readonly number[]): void {
    check(
      snapshots.some((snapshot) => snapshot >= number),
      `record ${number} was deleted, but no snapshot contains it`,
    );
    this.#deleted.add(number);
  }

  checkWriter(number: number, writer: string): void {
    check(this.#records[number - 1]?.writer === writer, `record ${number} was deleted, but fences ${writer}`);
  }

  /** A writer reports that a record is stored. */
  acknowledge({ number, value }: Pick<ModelRecord, "number" | "value">): void {
    const record = this.#records[number - 1];
    check(record?.value === value && !record.isTorn, `${value} is not stored, but was acknowledged`);
    check(!this.#acknowledged.has(number), `record ${number} was acknowledged twice`);
    this.#acknowledged.add(number);
  }

  /** A writer reports that a value is not stored, and never will be. */
  refuse(value: string): void {
    check(!this.valuesUpTo(Number.POSITIVE_INFINITY).includes(value), `${value} is stored, but was refused`);
    this.#refused.add(value);
  }

  /** A process uses a database that was built from the records up to a number. */
  use(database: ModelDatabase, { last, gaps }: { last: number; gaps: readonly number[] }): void {
    for (const number of gaps) check(this.#records[number - 1]?.isTorn === true, `record ${number} counts as a gap`);
    const [expected, found] = [this.valuesUpTo(last), database.values];
    check(
      expected.length === found.length && expected.every((value, index) => value === found[index]),
      `a process uses ${found.join(", ") || "nothing"} instead of ${expected.join(", ") || "nothing"}`,
    );
  }

  get acknowledged(): number {
    return this.#acknowledged.size;
  }

  get takeovers(): number {
    return this.#records.filter(({ kind }) => kind === "takeover").length;
  }

  get deleted(): number {
    return this.#deleted.size;
  }

  get last(): number {
    return this.#records.length;
  }

  /** Returns the values of the readable records, in order. */
  valuesUpTo(last: number): string[] {
    const records = this.#records.filter(
      ({ number, kind, isTorn }) => number <= last && kind !== "takeover" && !isTorn,
    );
    return records.map(({ value }) => value);
  }
}

/** The changes of a record: one value, the position of the previous changes, and records that must not be deleted. */
interface ModelChanges {
  value: string;
  after: number;
  number: number;
  fences: readonly number[];
}

/** A small database with the rules of a working file. */
class ModelDatabase implements LogTarget {
  readonly gapNumbers: ReadonlySet<number> = new Set();
  position = 0;
  values: string[] = [];
  #fences = new Set<number>();

  prepare(): void {}

  apply(bytes: Uint8Array): boolean {
    const { after }: ModelChanges = parse(bytes);
    if (after !== this.position) return false;
    this.applyPossible(bytes);
    return true;
  }

  applyPossible(bytes: Uint8Array): void {
    const { value, number, fences }: ModelChanges = parse(bytes);
    this.values.push(value);
    this.position = number;
    for (const fence of fences) this.#fences.add(fence);
  }

  /** Returns a copy in two parts. */
  copy(): DatabaseCopy {
    const { position: number, values } = this;
    const bytes = encode({ number, values, fences: [...this.#fences] });
    return {
      number,
      fences: [...this.#fences],
      bytes: bytes.length,
      parts: (async function* () {
        yield bytes.slice(0, 10);
        yield bytes.slice(10);
      })(),
    };
  }

  readonly restore = async (parts: AsyncIterable<Uint8Array>): Promise<number> => {
    const found: Uint8Array[] = [];
    for await (const part of parts) found.push(part);
    const bytes = Buffer.concat(found);
    const isComplete = found.length === 2;
    const { number, values, fences } = isComplete ? parse(bytes) : { number: 0, values: [], fences: [] };
    this.position = number;
    this.values = values;
    this.#fences = new Set(fences);
    return bytes.length;
  };
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function parse(bytes: Uint8Array) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new Error(message);
}

/** Set `RUNS=20000` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 100);

const faults: Readonly<Record<StoreRequest["method"], readonly StoreFault[]>> = {
  put: ["lost answer", "failed", "late", "refused", "torn"],
  get: ["short", "hidden", "failed", "refused"],
  list: ["failed", "refused"],
  delete: ["lost answer", "failed", "late", "refused"],
};
/** How often a process reads an object wrongly in a row. An object that cannot be read more often counts as damaged. */
const maxWrongReads = 3;
/** No fault. */
const none = { fault: 11, isRepeated: false };
const maxProcesses = 4;
const recordsPerSnapshot = 2;

/** A pause of a process, at a request or before a repetition. The test decides which process continues. */
interface Pause {
  process: string;
  request: StoreRequest | undefined;
  continue: (fault?: StoreFault) => void;
}

/** Runs several processes that use one log. Each step is decided by a number. */
class Simulation {
  readonly model = new LogModel();
  readonly store = new MemoryObjectStore();
  #pauses: Pause[] = [];
  #processes = 0;
  readonly #alive = new Set<string>();
  readonly #owners = new Map<string, LogWriter>();
  readonly #wrongReads = new Map<string, number>();
  /** Whether lists do not change. */
  #isStale = false;
  failure: unknown;

  constructor() {
    this.store.onStored = ({ key, body, isTorn }) => {
      const number = recordNumber(key);
      if (number !== undefined) this.#check(() => this.model.store({ number, isTorn, ...read(body) }));
    };
    this.store.onDeleted = (key) => {
      const number = recordNumber(key);
      if (number !== undefined) this.#check(() => this.#delete(number));
    };
  }

  #delete(number: number): void {
    this.model.delete(number, this.#completeSnapshots());
    for (const { next, fencedBy, writerId } of this.#owners.values()) {
      // A process that stores its own last record again finds the fence at the next number.
      if (next === number && !fencedBy) this.model.checkWriter(number, writerId);
    }
  }

  #completeSnapshots(): number[] {
    const keys = [...this.store.objects.keys()].filter((key) => key.endsWith("/manifest"));
    return keys.map((key) => Number(/\d+/.exec(key)?.[0]));
  }

  /** Starts a process that takes over the log and appends values until it is fenced or killed, or a process that only reads. */
  start(isReader = false): void {
    this.#processes += 1;
    const process = `${isReader ? "reader" : "process"} ${this.#processes}`;
    this.#alive.add(process);
    const run = isReader ? this.#read(process) : this.#own(process);
    void run.then(
      () => this.#alive.delete(process),
      (error: unknown) => {
        this.failure ??= error;
      },
    );
  }

  async #own(process: string): Promise<void> {
    const log = createMemoryLogger();
    const store = this.#storeOf(process);
    for (;;) {
      await this.#pause(process);
      try {
        const database = new ModelDatabase();
        const snapshot = await restoreSnapshot({ store, target: database.restore, log });
        const replay = new LogReplay({ store, target: database, snapshot, log });
        const owned = await takeOverLog({
          store,
          replay,
          writerId: crypto.randomUUID(),
          owner: { host: process, pid: 1, startedAt: "" },
          rules: { isForced: true, mayReplace: true },
          log,
          monotonicNow: () => 0,
          wait: async () => void (await this.#pause(process)),
          signal: new AbortController().signal,
          onTakenOver: () => {},
        });
        if (owned === undefined) continue;
        this.#owners.set(process, owned.writer);
        const last = owned.writer.next - 1;
        const gaps = replay.newGaps.map(({ number }) => number);
        this.#check(() => this.model.use(database, { last, gaps }));
        return await this.#serve(process, { store, database, writer: owned.writer, fences: [...replay.fences, last] });
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
      }
    }
  }

  async #serve(
    process: string,
    {
      store,
      database,
      writer,
      fences,
    }: { store: MemoryObjectStore; database: ModelDatabase; writer: LogWriter; fences: readonly number[] },
  ): Promise<void> {
    let snapshot: Promise<void> | undefined;
    for (let count = 1; ; count += 1) {
      const value = `${process} ${count}`;
      try {
        let changes: Uint8Array = new Uint8Array();
        const body = (number: number) => {
          const all = [...fences, ...writer.unreadable];
          changes = encode({ value, after: database.position, number, fences: all } satisfies ModelChanges);
          return changes;
        };
        const number = await writer.append({ kind: "changes", body });
        this.#check(() => this.model.acknowledge({ number, value }));
        database.apply(changes);
        if (count % recordsPerSnapshot === 0) {
          const copy = database.copy();
          this.#check(() => this.model.use(database, { last: number, gaps: [] }));
          const { signal } = new AbortController();
          snapshot ??= storeSnapshot(store, copy, signal).then(
            () => {
              snapshot = undefined;
            },
            (error: unknown) => {
              snapshot = undefined;
              if (!(error instanceof Error)) this.failure ??= error;
            },
          );
        }
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
        if (WebhookError.isInstance(error) && error.code === "INBOX_TAKEN_OVER") break;
        this.#check(() => this.model.refuse(value));
      }
      await this.#pause(process);
    }
    await snapshot;
    this.#owners.delete(process);
  }

  async #read(process: string): Promise<void> {
    const log = createMemoryLogger();
    const store = this.#storeOf(process);
    for (let count = 0; count < 3; count += 1) {
      await this.#pause(process);
      try {
        const database = new ModelDatabase();
        const snapshot = await restoreSnapshot({ store, target: database.restore, log });
        const replay = new LogReplay({ store, target: database, snapshot, log, isReadOnly: true });
        while (await replay.catchUp()) {
          const gaps = replay.newGaps.map(({ number }) => number);
          this.#check(() => this.model.use(database, { last: replay.next - 1, gaps }));
          await this.#pause(process);
        }
      } catch (error) {
        if (!isStoreFailure(error)) throw error;
      }
    }
  }

  /** The view of one process. A killed process sends no further requests. */
  #storeOf(process: string): MemoryObjectStore {
    const view = viewOf(this.store, (request) => this.#pause(process, request));
    return new Proxy(view, {
      get: (store, name: keyof MemoryObjectStore) => (name === "wait" ? () => this.#pause(process) : store[name]),
    });
  }

  #pause(process: string, request?: StoreRequest): Promise<StoreFault | undefined> {
    return new Promise((resolve) => {
      if (this.#alive.has(process)) this.#pauses.push({ process, request, continue: resolve });
    });
  }

  async step(choice: number): Promise<void> {
    const action = choice % 32;
    const picked = Math.floor(choice / 32);
    if (this.#alive.size === 0) this.start();
    else if (action < 4 && this.#alive.size < maxProcesses) this.start(picked % 4 === 0);
    else if (action < 6 && this.#alive.size > 1) this.#kill(picked);
    else if (action === 6 && this.store.late > 0) this.store.runLate(picked % this.store.late);
    else if (action === 7) this.#freezeLists();
    else return this.#continue(picked, { fault: (action - 8) % 12, isRepeated: action < 12 });
    await this.#settle();
  }

  #freezeLists(): void {
    this.#isStale = !this.#isStale;
    if (this.#isStale) this.store.keepView();
  }

  #kill(picked: number): void {
    const process = [...this.#alive][picked % this.#alive.size];
    if (process === undefined) return;
    this.#alive.delete(process);
    this.#owners.delete(process);
    this.#pauses = this.#pauses.filter((pause) => pause.process !== process);
  }

  /** Lets one process send several requests. The last one, or each of them, has a fault. */
  async #continue(picked: number, { fault, isRepeated }: { fault: number; isRepeated: boolean }): Promise<void> {
    const process = [...this.#alive][picked % this.#alive.size];
    for (let requests = Math.floor(picked / maxProcesses) % 24; requests >= 0; requests -= 1) {
      const index = this.#pauses.findIndex((pause) => pause.process === process);
      const [pause] = index < 0 ? [] : this.#pauses.splice(index, 1);
      if (pause === undefined) return;
      pause.continue(this.#faultOf(pause, requests === 0 || isRepeated ? fault : undefined));
      await this.#settle();
    }
  }

  #faultOf({ process, request }: Pause, index: number | undefined): StoreFault | undefined {
    if (request === undefined) return undefined;
    const fault = index === undefined ? undefined : faults[request.method][index];
    if (request.method === "list") return fault ?? (this.#isStale ? "stale" : undefined);
    if (fault !== "short" && fault !== "hidden") return fault;
    const key = `${process} ${request.key}`;
    const wrongReads = (this.#wrongReads.get(key) ?? 0) + 1;
    this.#wrongReads.set(key, wrongReads);
    return wrongReads > maxWrongReads ? undefined : fault;
  }

  async #settle(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== undefined) throw this.failure;
  }

  /** Stops all processes, and checks that a new one finds everything. */
  async finish(): Promise<void> {
    while (this.#alive.size > 0) this.#kill(0);
    this.#isStale = false;
    this.start();
    const { last } = this.model;
    for (let steps = 0; this.model.last < last + 2 && steps < 5_000; steps += 1) await this.#continue(0, none);
    expect(this.model.last).toBeGreaterThanOrEqual(last + 2);
  }

  #check(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.failure ??= error;
    }
  }
}

function isStoreFailure(error: unknown): boolean {
  return error instanceof ObjectStoreError || WebhookError.isInstance(error);
}

/** Reads a small record without its checksum, because the model needs the content of torn records too. */
function read(bytes: Uint8Array) {
  const [, header = "", body = ""] = new TextDecoder().decode(bytes).split("\n");
  const { writer, kind, number }: { writer: string; kind: "takeover" | "changes"; number: number } = JSON.parse(header);
  const value: string = kind === "takeover" ? `takeover ${number} ${writer}` : JSON.parse(body).value;
  return { writer, kind, value };
}

test("processes that share a log never lose or repeat a record, and only the owner writes", {
  timeout: 20_000 + 100 * numRuns,
}, async () => {
  const found = { acknowledged: 0, takeovers: 0, deleted: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(32 * 96 - 1), { minLength: 40, maxLength: 120 }), async (choices) => {
      const simulation = new Simulation();
      for (const choice of choices) await simulation.step(choice);
      await simulation.finish();
      const { model } = simulation;
      found.acknowledged += model.acknowledged;
      found.takeovers += model.takeovers;
      found.deleted += model.deleted;
    }),
    // A smaller counterexample would take minutes.
    { numRuns, endOnFailure: true },
  );
  if (process.env.RUNS !== undefined) console.log(`${numRuns} runs: ${JSON.stringify(found)}`);
  // The search must reach the interesting states.
  expect(Object.values(found).every((count) => count > numRuns)).toBe(true);
});
