import fc from "fast-check";
import { expect, test } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import { recordKey, recordNumber, recordPrefix } from "../../../src/inbox/bucket/log-keys.ts";
import { decodeRecord } from "../../../src/inbox/bucket/log-record.ts";
import { LogWriter } from "../../../src/inbox/bucket/log-writer.ts";
import { ObjectStoreError } from "../../../src/inbox/bucket/object-store.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { MemoryObjectStore, type StoreFault } from "./memory-object-store.ts";
import { LogModel } from "./protocol-model.ts";

/** Set `RUNS=20000` for a longer search. */
const numRuns = Number(process.env.RUNS ?? 400);

const faults: readonly StoreFault[] = ["lost answer", "failed", "late", "refused", "torn"];

/** A pause of a process, at a request or before a repetition. The test decides which process continues. */
interface Pause {
  process: string;
  isPut: boolean;
  continue: (fault?: StoreFault) => void;
}

/** Runs several processes that write to one log. Each step is decided by a number. */
class Simulation {
  readonly model = new LogModel();
  readonly store = new MemoryObjectStore();
  readonly acknowledged: string[] = [];
  #pauses: Pause[] = [];
  #processes = 0;
  readonly #alive = new Set<string>();
  failure: unknown;

  constructor() {
    this.store.onStored = ({ key, body, isTorn }) => {
      const number = recordNumber(key);
      if (number === undefined) return;
      const { writer, kind, value } = read(body);
      this.#check(() => this.model.store({ number, writer, kind, value, isTorn }));
    };
  }

  /** Starts a process that takes over the log and appends values until it is fenced or killed. */
  start(): void {
    this.#processes += 1;
    const writerId = `process ${this.#processes}`;
    this.#alive.add(writerId);
    const store = this.#storeOf(writerId);
    void this.#run(writerId, store).catch((error: unknown) => {
      this.failure ??= error;
    });
  }

  async #run(writerId: string, store: MemoryObjectStore): Promise<void> {
    const keys = await store.list(recordPrefix).catch(() => undefined);
    if (keys === undefined) return void this.#alive.delete(writerId);
    const writer = new LogWriter({
      store,
      writerId,
      next: Math.max(0, ...keys.map(({ key }) => recordNumber(key) ?? 0)) + 1,
      log: createMemoryLogger(),
      monotonicNow: () => 0,
      wait: () => this.#pause(writerId, { isPut: false }).then(() => undefined),
    });
    for (let count = 0; ; count += 1) {
      const value = `${writerId} ${count}`;
      const kind = count === 0 ? "takeover" : "changes";
      try {
        if (kind === "takeover") {
          // A process whose takeover fails otherwise reads the log again, like a new process.
          if (!(await writer.takeOver({}))) return void this.#alive.delete(writerId);
          continue;
        }
        const number = await writer.append({ kind, body: () => new TextEncoder().encode(value) });
        this.#check(() => this.model.acknowledge({ number, value }));
        this.acknowledged.push(value);
      } catch (error) {
        if (error instanceof ObjectStoreError) return void this.#alive.delete(writerId);
        if (!WebhookError.isInstance(error)) throw error;
        if (error.code === "INBOX_TAKEN_OVER") return void this.#alive.delete(writerId);
        this.#check(() => this.model.refuse(value));
        if (kind === "takeover") return void this.#alive.delete(writerId);
      }
      await this.#pause(writerId, { isPut: false });
    }
  }

  /** The view of one process. A killed process sends no further requests. */
  #storeOf(process: string): MemoryObjectStore {
    const pause = (isPut: boolean) => this.#pause(process, { isPut });
    return new Proxy(this.store, {
      get: (store, name: keyof MemoryObjectStore) => {
        if (name !== "put" && name !== "get" && name !== "list") return store[name];
        return async (...args: never[]) => {
          const fault = await pause(name === "put");
          store.intercept = () => fault;
          const method: (...args: never[]) => Promise<unknown> = store[name];
          return method.apply(store, args);
        };
      },
    });
  }

  #pause(process: string, { isPut }: { isPut: boolean }): Promise<StoreFault | undefined> {
    return new Promise((resolve) => {
      if (this.#alive.has(process)) this.#pauses.push({ process, isPut, continue: resolve });
    });
  }

  async step(choice: number): Promise<void> {
    const action = choice % 16;
    const picked = Math.floor(choice / 16);
    if (this.#pauses.length === 0 || (action === 0 && this.#alive.size < 3)) this.start();
    else if (action === 1 && this.#alive.size > 1) this.#kill(picked);
    else if (action === 2 && this.store.late > 0) this.store.runLate(picked % this.store.late);
    else if (action === 3) this.#prune(picked);
    else this.#continue(picked, faults[action - 4]);
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failure !== undefined) throw this.failure;
  }

  #kill(picked: number): void {
    const process = [...this.#alive][picked % this.#alive.size];
    if (process === undefined) return;
    this.#alive.delete(process);
    this.#pauses = this.#pauses.filter((pause) => pause.process !== process);
  }

  /** Deletes records as the owner does after two snapshots. At least the last record remains. */
  #prune(picked: number): void {
    const last = Math.max(0, ...[...this.store.objects.keys()].map((key) => recordNumber(key) ?? 0));
    for (const number of this.model.prune(Math.min(picked, last - 1))) this.store.objects.delete(recordKey(number));
  }

  #continue(picked: number, fault: StoreFault | undefined): void {
    const [pause] = this.#pauses.splice(picked % this.#pauses.length, 1);
    // Only records can be torn. A torn list or read is a failed request.
    pause?.continue(fault === "torn" && !pause.isPut ? "failed" : fault);
  }

  #check(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.failure ??= error;
    }
  }

  /** Reads the values of the log. */
  async readValues(): Promise<string[]> {
    const values: string[] = [];
    for (const [, { body }] of [...this.store.objects].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const record = await decodeRecord(body);
      if (record?.kind === "changes") values.push(new TextDecoder().decode(record.body));
    }
    return values;
  }
}

/** Reads a small record without its checksum, because the model needs the content of torn records too. */
function read(bytes: Uint8Array) {
  const [, header = "", value = ""] = new TextDecoder().decode(bytes).split("\n");
  const { writer, kind }: { writer: string; kind: "takeover" | "changes" } = JSON.parse(header);
  return { writer, kind, value: kind === "takeover" ? `${writer} 0` : value };
}

test("processes that write to one log never lose or repeat a record, and only the owner writes", async () => {
  let [acknowledged, takeovers] = [0, 0];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(16 * 60), { minLength: 30, maxLength: 150 }), async (choices) => {
      const simulation = new Simulation();
      for (const choice of choices) await simulation.step(choice);
      const values = simulation.model.values;
      expect(values).toEqual(expect.arrayContaining(await simulation.readValues()));
      expect(values).toEqual(expect.arrayContaining(simulation.acknowledged));
      acknowledged += simulation.acknowledged.length;
      takeovers += new Set(values.map((value) => value.replace(/ \d+$/, ""))).size;
    }),
    { numRuns },
  );
  // The search must reach the interesting states.
  expect({ acknowledged: acknowledged > numRuns, takeovers: takeovers > numRuns }).toEqual({
    acknowledged: true,
    takeovers: true,
  });
});
