/** A record. `isTorn`: whether only a part was stored. */
export interface ModelRecord {
  number: number;
  writer: string;
  kind: "takeover" | "changes";
  value: string;
  isTorn: boolean;
}

/** What the log of an inbox must look like. Throws an error if an event breaks a rule. */
export class LogModel {
  readonly #records: ModelRecord[] = [];
  readonly #acknowledged = new Set<number>();
  readonly #refused = new Set<string>();
  /** Several writers can be the owner if a torn record can be a takeover. */
  #owners = new Set<string>();
  #pruned = 0;

  /** The store has stored a record. */
  store(record: ModelRecord): void {
    const { number, writer, kind, value, isTorn } = record;
    // Without effect, because a snapshot contains the later records: a repeated record, or a takeover after a long pause.
    if (number <= this.#pruned && (kind === "takeover" || this.#records[number - 1]?.value === value)) return;
    check(number === this.#records.length + 1, `record ${number} leaves a hole`);
    check(!this.#refused.has(value), `${value} was refused, but is stored`);
    check(kind === "takeover" || this.#owners.has(writer), `${writer} is not the owner, but stores record ${number}`);
    check(!this.values.includes(value), `${value} is stored twice`);
    this.#records.push(record);
    this.#owners = new Set(isTorn ? [...this.#owners, ...(kind === "takeover" ? [writer] : [])] : [writer]);
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
    check(!this.values.includes(value), `${value} is stored, but was refused`);
    this.#refused.add(value);
  }

  /** The owner deletes records up to `last`, except the first ones of each owner. Returns their numbers. */
  prune(last: number): number[] {
    this.#pruned = Math.max(this.#pruned, last);
    const isDeleted = ({ number, kind, isTorn }: ModelRecord) => number <= last && kind === "changes" && !isTorn;
    return this.#records.filter(isDeleted).map(({ number }) => number);
  }

  /** The values of the readable records, in order. */
  get values(): string[] {
    return this.#records.filter(({ kind, isTorn }) => kind === "changes" && !isTorn).map(({ value }) => value);
  }
}

function check(isRight: boolean, message: string): void {
  if (!isRight) throw new Error(message);
}
