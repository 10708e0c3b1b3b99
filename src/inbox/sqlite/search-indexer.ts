import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isDamage } from "../../core/sqlite-errors.ts";
import { maxSearchedErrors } from "../delivery-filter.ts";
import { type IndexState, SearchIndex } from "./search-index.ts";
import { eventFieldsOf, eventFieldsSql, lastSequenceSql, searchedErrorsSql } from "./search-sql.ts";

/** The maximum number of sequences per indexed delivery that one step reads, because most of them can be of deleted deliveries. */
const maxSequenceFactor = 20;

/** What the inbox contains. */
interface InboxPositions {
  /** The identity of the inbox. */
  inbox: string;
  lastSequence: number;
  /** The numbers of the oldest and the newest row of `failed_attempts`, or 0. */
  firstFailure: number;
  lastFailure: number;
}

/**
 * Adds new deliveries and the errors of failed attempts to the search index, and removes deleted deliveries from it. Works in steps.
 * Each step is one short transaction of the index, and only reads the inbox.
 */
export class SearchIndexer implements Disposable {
  readonly #index: SearchIndex;
  readonly #statements: ReturnType<typeof prepare>;
  /** Deleted deliveries up to this sequence were removed from the index. */
  #sweptUntil = 0;

  /** @param inbox a connection to the inbox. @param file the path of the index, which is created if it does not exist. */
  constructor(inbox: DatabaseSync, file: string) {
    this.#index = SearchIndex.openToWrite(file);
    this.#statements = prepare(inbox);
  }

  /** Indexes up to `maxRows` deliveries. Returns whether the index contains all deliveries and failed attempts. */
  step(maxRows: number): { isDone: boolean } {
    return this.#index.write(() => {
      const positions = this.#readPositions();
      const { inbox, lastSequence, lastFailure } = positions;
      const state = this.#currentState(positions);
      const until = this.#addNew(state.indexedUntil, { lastSequence, maxRows });
      const failuresUntil = this.#addErrors({ ...state, indexedUntil: until }, { maxRows });
      const isChanged = until !== state.indexedUntil || failuresUntil !== state.failuresUntil;
      if (isChanged) this.#index.writeState({ inbox, indexedUntil: until, failuresUntil });
      return { isDone: until >= lastSequence && failuresUntil >= lastFailure };
    });
  }

  /** Removes deleted deliveries from up to `maxRows` of the index. Returns whether the end of the index was reached. */
  sweep(maxRows: number): { isDone: boolean } {
    return this.#index.write(() => {
      const sequences = this.#index.sequencesAfter(this.#sweptUntil, maxRows);
      const rows = this.#statements.stored.all(sequences[0] ?? 0, sequences.at(-1) ?? 0);
      const stored = new Set(rows.map(({ sequence }) => Number(sequence)));
      this.#index.remove(sequences.filter((sequence) => !stored.has(sequence)));
      const isDone = sequences.length < maxRows;
      this.#sweptUntil = isDone ? 0 : (sequences.at(-1) ?? 0);
      return { isDone };
    });
  }

  [Symbol.dispose](): void {
    this.#index[Symbol.dispose]();
  }

  #readPositions(): InboxPositions {
    const { identity, lastSequence, lastFailure, firstFailure } = this.#statements;
    return {
      inbox: String(identity.get()?.uuid ?? ""),
      lastSequence: Number(lastSequence.get()?.last ?? 0),
      lastFailure: Number(lastFailure.get()?.last ?? 0),
      firstFailure: Number(firstFailure.get()?.first ?? 0),
    };
  }

  /** Returns the state of the index. Clears an index of another inbox, and an index that has missed failed attempts. */
  #currentState({ inbox, lastSequence, lastFailure, firstFailure }: InboxPositions): IndexState {
    const state = this.#index.readState();
    if (
      state?.inbox === inbox &&
      state.indexedUntil <= lastSequence &&
      state.failuresUntil <= lastFailure &&
      firstFailure <= state.failuresUntil + 1
    ) {
      return state;
    }
    this.#index.clear();
    // The errors of earlier attempts are indexed together with their deliveries.
    const empty = { inbox, indexedUntil: 0, failuresUntil: lastFailure };
    this.#index.writeState(empty);
    return empty;
  }

  #addNew(from: number, { lastSequence, maxRows }: { lastSequence: number; maxRows: number }): number {
    const last = Math.min(lastSequence, from + maxRows * maxSequenceFactor);
    try {
      const rows = this.#statements.rows.all(from, last, maxRows);
      this.#index.add(rows.map((row) => this.#toIndexed(row)));
      return rows.length < maxRows ? last : Number(rows.at(-1)?.sequence);
    } catch (error) {
      // Deliveries on damaged pages are not indexed.
      if (!isDamage(error)) throw error;
      return Math.min(last, from + maxRows);
    }
  }

  #addErrors({ indexedUntil, failuresUntil }: IndexState, { maxRows }: { maxRows: number }): number {
    const failures = this.#statements.failures.all(failuresUntil, maxRows);
    const sequences = new Set(failures.map(({ delivery }) => Number(delivery)));
    for (const sequence of sequences) {
      const row = sequence <= indexedUntil ? this.#statements.row.get(sequence) : undefined;
      if (row) this.#index.add([this.#toIndexed(row)]);
    }
    return Number(failures.at(-1)?.number ?? failuresUntil);
  }

  #toIndexed(row: Record<string, unknown>) {
    const sequence = Number(row.sequence);
    return {
      sequence,
      id: String(row.id),
      event: eventFieldsOf(row),
      errors: () =>
        this.#statements.errors
          .all(sequence, maxSearchedErrors)
          .map(({ code, message }) => ({ code: String(code), message: String(message) })),
    };
  }
}

function prepare(inbox: DatabaseSync) {
  const sql = (text: string): StatementSync => inbox.prepare(text);
  return {
    identity: sql("SELECT uuid FROM identity"),
    lastSequence: sql(lastSequenceSql),
    lastFailure: sql("SELECT max(number) AS last FROM failed_attempts"),
    firstFailure: sql("SELECT min(number) AS first FROM failed_attempts"),
    rows: sql(
      `SELECT sequence, id, ${eventFieldsSql} FROM deliveries WHERE sequence > ? AND sequence <= ? AND body IS NOT NULL
       ORDER BY sequence LIMIT ?`,
    ),
    row: sql(`SELECT sequence, id, ${eventFieldsSql} FROM deliveries WHERE sequence = ? AND body IS NOT NULL`),
    stored: sql("SELECT sequence FROM deliveries WHERE sequence BETWEEN ? AND ? AND body IS NOT NULL"),
    failures: sql("SELECT number, delivery FROM failed_attempts WHERE number > ? ORDER BY number LIMIT ?"),
    errors: sql(searchedErrorsSql),
  };
}
