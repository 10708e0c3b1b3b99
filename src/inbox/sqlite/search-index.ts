import { createHash } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isDamage } from "../../core/sqlite-errors.ts";
import {
  type DeliveryFilter,
  type EventFields,
  type FilteredDelivery,
  repositoryNames,
  wordsIn,
} from "../delivery-filter.ts";

/*
 * The search index is a file next to the inbox. It can be deleted at any time, because it is built from the inbox. As a separate file,
 * it needs no lock of the inbox, and its changes are not part of the log of an inbox in a bucket.
 *
 * search_N    Part N of the index, which contains `partSize` sequences. The rowid is the `sequence` of a delivery. The text consists of
 *             the words of `wordsIn`, and one token for each value that filters compare. Search results are compared with the delivery,
 *             so outdated rows do no harm.
 * state       The deliveries and failed attempts that the index contains.
 */

/** Change this number when the content of the index changes. The index is then built again. */
const indexVersion = 1;

/**
 * The number of sequences per part. The query of a common word reads all deliveries of a part that contain the word, even if the page
 * is full after a few of them.
 */
const partSize = 100_000;

const schema = `
  PRAGMA user_version = ${indexVersion};
  CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    inbox TEXT NOT NULL,
    indexed_until INTEGER NOT NULL,
    failures_until INTEGER NOT NULL
  ) STRICT;
`;

/** What the index contains. */
export interface IndexState {
  /** The identity of the inbox. See `identity` in `migrations.ts`. */
  inbox: string;
  /** The index contains the deliveries up to this sequence. */
  indexedUntil: number;
  /** The index contains the errors of the failed attempts up to this number. See `failed_attempts` in `migrations.ts`. */
  failuresUntil: number;
}

/** Returns the path of the search index of an inbox. */
export function searchIndexFile(inboxFile: string): string {
  return `${inboxFile}-search`;
}

/** The search index of an inbox in a SQLite file. */
export class SearchIndex implements Disposable {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Opens an index for reading. Returns `undefined` if it does not exist, cannot be read, or belongs to another inbox. */
  static openToRead(file: string, inbox: string): SearchIndex | undefined {
    if (!existsSync(file)) return undefined;
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(file, { readOnly: true, timeout: 100 });
      const index = new SearchIndex(database);
      if (index.#isCurrent() && index.readState()?.inbox === inbox) return index;
    } catch {
      // The list then reads the newest deliveries without the index.
    }
    database?.close();
    return undefined;
  }

  /** Opens an index for writing. Creates it if it does not exist, was written by another release, or is damaged. */
  static openToWrite(file: string): SearchIndex {
    try {
      return SearchIndex.#openOrCreate(file);
    } catch (error) {
      if (!isDamage(error)) throw error;
      for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
      return SearchIndex.#openOrCreate(file);
    }
  }

  static #openOrCreate(file: string): SearchIndex {
    // The file is created with mode 0600, so that other users cannot read names and errors. SQLite treats an empty file as a new
    // database.
    if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
    const database = new DatabaseSync(file, { timeout: 2_000 });
    try {
      // A power failure can lose the newest rows, which are then added again.
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      const index = new SearchIndex(database);
      index.write(() => {
        if (index.#isCurrent()) return;
        for (const part of index.#parts()) database.exec(`DROP TABLE ${tableOf(part)}`);
        database.exec(`DROP TABLE IF EXISTS state; ${schema}`);
      });
      return index;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  #isCurrent(): boolean {
    return Number(this.#database.prepare("PRAGMA user_version").get()?.user_version) === indexVersion;
  }

  /** Runs an operation in a transaction. */
  write<Result>(operation: () => Result): Result {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = operation();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** Returns the state, or `undefined` if the index is new. */
  readState(): IndexState | undefined {
    const row = this.#database.prepare("SELECT * FROM state").get();
    if (!row) return undefined;
    return {
      inbox: String(row.inbox),
      indexedUntil: Number(row.indexed_until),
      failuresUntil: Number(row.failures_until),
    };
  }

  writeState({ inbox, indexedUntil, failuresUntil }: IndexState): void {
    this.#database.prepare("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?)").run(inbox, indexedUntil, failuresUntil);
  }

  /** Removes everything. */
  clear(): void {
    for (const part of this.#parts()) this.#database.exec(`DROP TABLE ${tableOf(part)}`);
    this.#database.exec("DELETE FROM state");
  }

  /** Adds deliveries. Replaces the ones that the index contains. */
  add(deliveries: readonly (Omit<FilteredDelivery, "receivedAt"> & { sequence: number })[]): void {
    for (const [part, members] of Map.groupBy(deliveries, ({ sequence }) => partOf(sequence))) {
      const table = tableOf(part);
      this.#database.exec(
        `CREATE VIRTUAL TABLE IF NOT EXISTS ${table}
         USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii')`,
      );
      const remove = this.#database.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
      const add = this.#database.prepare(`INSERT INTO ${table} (rowid, text) VALUES (?, ?)`);
      for (const delivery of members) {
        remove.run(delivery.sequence);
        add.run(delivery.sequence, [...wordsIn(delivery), ...tokensOf(delivery.event)].join(" "));
      }
    }
  }

  /** Removes deliveries, and the parts that are empty afterward. */
  remove(sequences: readonly number[]): void {
    for (const [part, members] of Map.groupBy(sequences, partOf)) {
      const table = tableOf(part);
      const remove = this.#database.prepare(`DELETE FROM ${table} WHERE rowid = ?`);
      for (const sequence of members) remove.run(sequence);
      const isEmpty = this.#database.prepare(`SELECT rowid FROM ${table} LIMIT 1`).get() === undefined;
      if (isEmpty) this.#database.exec(`DROP TABLE ${table}`);
    }
  }

  /** Returns the sequences of some deliveries in the index after a sequence, in ascending order. */
  sequencesAfter(sequence: number, limit: number): number[] {
    const found: number[] = [];
    for (const part of this.#parts()) {
      if (part < partOf(sequence) || found.length === limit) continue;
      const rows = this.#database.prepare(`SELECT rowid FROM ${tableOf(part)} WHERE rowid > ? ORDER BY rowid LIMIT ?`);
      found.push(...rows.all(sequence, limit - found.length).map(({ rowid }) => Number(rowid)));
    }
    return found;
  }

  /**
   * Finds the deliveries that can match a filter of the content, newest first. Reads them while the caller iterates. Stops between two
   * parts after `maxMs` milliseconds, and then returns the sequence before which to continue.
   */
  *find(
    filter: DeliveryFilter,
    { from, until, maxMs }: { from: number; until: number; maxMs: number },
  ): Generator<number, number | undefined> {
    const stopAt = performance.now() + maxMs;
    const query = queryOf(filter);
    const parts = this.#parts().filter((part) => part >= partOf(from) && part <= partOf(until));
    for (const [index, part] of parts.reverse().entries()) {
      if (index > 0 && performance.now() > stopAt) return (part + 1) * partSize;
      const table = tableOf(part);
      const rows = this.#database.prepare(
        `SELECT rowid FROM ${table} WHERE ${table} MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC`,
      );
      for (const { rowid } of rows.iterate(query, from, until)) yield Number(rowid);
    }
    return undefined;
  }

  /** Returns the numbers of all parts, in ascending order. */
  #parts(): number[] {
    return this.#database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => Number(/^search_(\d+)$/.exec(String(name))?.[1]))
      .filter((part) => !Number.isNaN(part))
      .sort((one, other) => one - other);
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function partOf(sequence: number): number {
  return Math.floor(sequence / partSize);
}

function tableOf(part: number): string {
  return `search_${part}`;
}

function queryOf({ repository, scope, action, words }: DeliveryFilter): string {
  const terms = [
    ...(repository === undefined ? [] : [`"${tokenOf("repository", repository)}"`]),
    ...(scope === undefined ? [] : [`"${tokenOf("scope", scope)}"`]),
    ...(action === undefined ? [] : [`"${tokenOf("action", action)}"`]),
    ...words.map((word) => `"${word}"*`),
  ];
  return terms.join(" AND ");
}

/** Returns the tokens for the values that filters compare. */
function tokensOf(event: EventFields): string[] {
  return [
    ...repositoryNames(event).map((name) => tokenOf("repository", name)),
    ...(event.scope === undefined ? [] : [tokenOf("scope", event.scope)]),
    ...(event.action === undefined ? [] : [tokenOf("action", event.action)]),
  ];
}

/** The first character of tokens for filters. Words do not contain this character, which is for private use. */
const tokenStart = "\uE000";

/** Returns the token for a value that a filter compares. */
function tokenOf(field: "repository" | "scope" | "action", value: string): string {
  return tokenStart + createHash("sha256").update(`${field} ${value}`).digest("hex").slice(0, 12);
}
