import type { LogRecord } from "../../../src/inbox/bucket/log.ts";
import type { LogTarget } from "../../../src/inbox/bucket/log-replay.ts";
import type { DatabaseCopy } from "../../../src/inbox/bucket/snapshots.ts";

/** A record. `isTorn`: whether only a part was stored. */
export interface ModelRecord {
  number: number;
  writer: string;
  kind: LogRecord["kind"];
  value: string;
  isTorn: boolean;
}

/** What the log of an inbox must look like. Throws an error if an event breaks a rule. */
export class LogModel {
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
export interface ModelChanges {
  value: string;
  after: number;
  number: number;
  fences: readonly number[];
}

/** A small database with the rules of a working file. */
export class ModelDatabase implements LogTarget {
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

export function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

function parse(bytes: Uint8Array) {
  return JSON.parse(new TextDecoder().decode(bytes));
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new Error(message);
}
