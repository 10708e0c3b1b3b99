import type { DatabaseSync } from "node:sqlite";
import { type DeliveryFilter, matchesFilter, maxSearchedErrors } from "../delivery-filter.ts";
import { type DeliveryPage, type ListOptions, pageSize, type StoredDelivery } from "../inbox.ts";
import { type DeliveryReader, readCursor } from "./delivery-reader.ts";
import { SearchIndex } from "./search-index.ts";
import { eventFieldsOf, eventFieldsSql, lastSequenceSql, searchedErrorsSql } from "./search-sql.ts";

/** The maximum number of deliveries that one request compares with the filters. */
const maxExamined = 5_000;
/** The maximum number of newest deliveries that a search without an index compares with the filters. */
const maxWithoutIndex = 5_000;
/** The maximum number of newest deliveries, and of failed attempts, that are not in the index and are read directly. */
const maxUnindexed = 2_000;
/** If an endpoint and status have at most this number of deliveries, all of them are compared, without the index. */
const maxScanned = 2_000;
/** The maximum duration of the queries of one request in the index, in milliseconds. */
const maxIndexMs = 100;
/** The number of sequences per query while deliveries are read in order. */
const scanBatch = 250;
/** Deliveries that are received at the same time are not always stored in the same order. This is the tolerance in milliseconds. */
const disorderMs = 60_000;

/** A range of sequences. `from` is included, `until` is not. */
interface SequenceRange {
  from: number;
  until: number;
}

/** Sequences in descending order. Returns the sequence before which to continue if there can be more. */
type Sequences = Generator<number, number | undefined>;

/** The deliveries to compare with the filters, newest first, and what the page reports about them. */
interface Candidates {
  sequences: Sequences;
  report: Pick<DeliveryPage, "searchedNewest" | "unindexed">;
}

type SearchOptions = Pick<ListOptions, "endpoint" | "status">;

/** Lists deliveries that match filters. The work of one request does not grow with the number of deliveries. */
export class DeliverySearch {
  readonly #database: DatabaseSync;
  readonly #reader: DeliveryReader;
  #prepared: ReturnType<typeof prepare> | undefined;

  constructor(database: DatabaseSync, reader: DeliveryReader) {
    this.#database = database;
    this.#reader = reader;
  }

  /** The statements need a newer SQLite than the rest of the inbox, which must work without them. */
  get #statements(): ReturnType<typeof prepare> {
    this.#prepared ??= prepare(this.#database);
    return this.#prepared;
  }

  /**
   * Lists the deliveries that match all filters, newest first.
   *
   * @param indexFile the path of the search index, or `undefined` if there is none.
   * @throws `OPTION_INVALID` if the limit or the cursor is invalid.
   */
  list(filter: DeliveryFilter, options: ListOptions, indexFile: string | undefined): DeliveryPage {
    const limit = pageSize(options);
    const times = this.#sequencesOf(filter);
    const range = { from: times.from, until: Math.min(times.until, readCursor(options)) };
    if (!filter.hasContent || this.#isSmall(options)) {
      return this.#page({ sequences: this.#scan(options, range), report: {} }, { filter, options, limit });
    }
    using index = this.#openIndex(indexFile);
    const candidates = index
      ? this.#findWithIndex(index, { filter, options, range })
      : {
          sequences: this.#scanNewest(options, { range, count: maxWithoutIndex }),
          report: { searchedNewest: maxWithoutIndex },
        };
    return this.#page(candidates, { filter, options, limit });
  }

  /** Returns what a search covers, without a search. An index that cannot be opened counts as missing. */
  coverage(indexFile: string | undefined): Pick<DeliveryPage, "searchedNewest" | "unindexed"> {
    if (this.#isSmall({})) return {};
    using index = this.#openIndex(indexFile);
    if (!index) return { searchedNewest: maxWithoutIndex };
    const { unindexed } = this.#unindexed(index);
    return unindexed > 0 ? { unindexed } : {};
  }

  #page(
    { sequences, report }: Candidates,
    { filter, options, limit }: { filter: DeliveryFilter; options: SearchOptions; limit: number },
  ): DeliveryPage {
    const deliveries: StoredDelivery[] = [];
    let examined = 0;
    let last = 0;
    for (let found = sequences.next(); ; found = sequences.next()) {
      if (found.done) return { deliveries, ...(found.value !== undefined && { next: String(found.value) }), ...report };
      if (deliveries.length === limit || examined === maxExamined) return { deliveries, next: String(last), ...report };
      const sequence = found.value;
      examined += 1;
      last = sequence;
      if (this.#matches(sequence, { filter, options })) {
        const delivery = this.#reader.read(sequence);
        if (delivery) deliveries.push(delivery);
      }
    }
  }

  #matches(sequence: number, { filter, options }: { filter: DeliveryFilter; options: SearchOptions }): boolean {
    const row = this.#statements.compared.get(sequence);
    if (!row) return false;
    const { endpoint = row.endpoint, status = row.status } = options;
    return (
      row.endpoint === endpoint &&
      row.status === status &&
      matchesFilter(filter, {
        id: String(row.id),
        receivedAt: Number(row.received_at),
        event: eventFieldsOf(row),
        errors: () =>
          this.#statements.errors
            .all(sequence, maxSearchedErrors)
            .map(({ code, message }) => ({ code: String(code), message: String(message) })),
      })
    );
  }

  #findWithIndex(
    index: SearchIndex,
    { filter, options, range }: { filter: DeliveryFilter; options: SearchOptions; range: SequenceRange },
  ): Candidates {
    const { indexedUntil, failuresUntil, failures, unindexed } = this.#unindexed(index);
    const indexed = { from: range.from, until: Math.min(range.until, indexedUntil + 1) };
    const unindexedRange = { from: Math.max(range.from, indexedUntil + 1), until: range.until };
    const newlyFailed = failures > 0 ? this.#failedSince(failuresUntil, indexed) : [];
    const sequences = concatenate(
      this.#scanNewest(options, { range: unindexedRange, count: maxUnindexed }),
      mergeDescending(newlyFailed, index.find(filter, { ...indexed, maxMs: maxIndexMs })),
    );
    return { sequences, report: unindexed > 0 ? { unindexed } : {} };
  }

  #openIndex(indexFile: string | undefined): SearchIndex | undefined {
    const identity = String(this.#statements.identity.get()?.uuid ?? "");
    return indexFile === undefined ? undefined : SearchIndex.openToRead(indexFile, identity);
  }

  /** Returns what the index contains, and the numbers of failed attempts and of all rows that it does not contain yet. */
  #unindexed(index: SearchIndex) {
    const { indexedUntil = 0, failuresUntil = 0 } = index.readState() ?? {};
    const failures = Number(this.#statements.lastFailure.get()?.last ?? 0) - failuresUntil;
    const unindexed = Math.max(0, this.#lastSequence() - indexedUntil) + Math.max(0, failures);
    return { indexedUntil, failuresUntil, failures, unindexed };
  }

  /** Returns the sequences of deliveries whose newest errors are not in the index, in descending order. */
  #failedSince(failure: number, { from, until }: SequenceRange): number[] {
    const sequences = this.#statements.failedSince
      .all(failure, maxUnindexed)
      .map(({ delivery }) => Number(delivery))
      .filter((sequence) => sequence >= from && sequence < until);
    return [...new Set(sequences)].sort((one, other) => other - one);
  }

  /** Reads the deliveries of an endpoint and status in a range, newest first. */
  *#scan(options: SearchOptions, { from, until }: SequenceRange): Sequences {
    for (let before = until; ; ) {
      const sequences = this.#reader.sequences({ ...options, before, limit: scanBatch });
      for (const sequence of sequences) {
        if (sequence < from) return undefined;
        yield sequence;
      }
      const last = sequences.at(-1);
      if (last === undefined || sequences.length < scanBatch) return undefined;
      before = last;
    }
  }

  /** Reads the newest deliveries of an endpoint and status that are in a range. `count` includes newer deliveries. */
  *#scanNewest(options: SearchOptions, { range, count }: { range: SequenceRange; count: number }): Sequences {
    let found = 0;
    for (const sequence of this.#scan(options, { from: range.from, until: Number.MAX_SAFE_INTEGER })) {
      found += 1;
      if (found > count) return undefined;
      if (sequence < range.until) yield sequence;
    }
    return undefined;
  }

  #isSmall({ endpoint, status }: SearchOptions): boolean {
    const counts = Object.entries(this.#reader.counts())
      .filter(([name]) => name === (endpoint ?? name))
      .flatMap(([, count]) => (status === undefined ? Object.values(count) : [count[status]]));
    return counts.reduce((sum, count) => sum + count, 0) <= maxScanned;
  }

  /** Returns the sequences that can have the times of a filter. */
  #sequencesOf({ receivedFrom, receivedUntil }: DeliveryFilter): SequenceRange {
    return {
      from: receivedFrom === undefined ? 0 : this.#firstReceivedAt(receivedFrom - disorderMs),
      until: receivedUntil === undefined ? Number.MAX_SAFE_INTEGER : this.#firstReceivedAt(receivedUntil + disorderMs),
    };
  }

  /** Returns the first sequence that was received at a time or later. Uses a binary search. */
  #firstReceivedAt(time: number): number {
    let low = 0;
    let high = this.#lastSequence() + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.#statements.firstFrom.get(middle);
      if (!row || Number(row.received_at) >= time) high = middle;
      else low = Number(row.sequence) + 1;
    }
    return low;
  }

  #lastSequence(): number {
    return Number(this.#statements.lastSequence.get()?.last ?? 0);
  }
}

function* concatenate(first: Sequences, second: Sequences): Sequences {
  yield* first;
  return yield* second;
}

/** Merges two sorted lists without duplicates. Reads the second one while the caller iterates. */
function* mergeDescending(one: readonly number[], other: Sequences): Sequences {
  let next = 0;
  let found = other.next();
  for (; !found.done; found = other.next()) {
    for (let first = one[next]; first !== undefined && first >= found.value; first = one[next]) {
      if (first > found.value) yield first;
      next += 1;
    }
    yield found.value;
  }
  const end = found.value;
  yield* one.slice(next).filter((sequence) => end === undefined || sequence >= end);
  return end;
}

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    identity: sql("SELECT uuid FROM identity"),
    lastSequence: sql(lastSequenceSql),
    lastFailure: sql("SELECT max(number) AS last FROM failed_attempts"),
    failedSince: sql("SELECT delivery FROM failed_attempts WHERE number > ? ORDER BY number DESC LIMIT ?"),
    compared: sql(
      `SELECT endpoint, status, id, received_at, ${eventFieldsSql} FROM deliveries
       WHERE sequence = ? AND body IS NOT NULL`,
    ),
    errors: sql(searchedErrorsSql),
    firstFrom: sql("SELECT sequence, received_at FROM deliveries WHERE sequence >= ? ORDER BY sequence LIMIT 1"),
  };
}
