import type { DatabaseSync } from "node:sqlite";
import type * as z from "zod";

/** Where a record is: whose it is, and which of theirs. */
export interface RecordKey {
  /** The name of a user or an organization. */
  owner: string;
  id: string;
}

/** A record and where it is. */
export interface KeyedRecord<Record> extends RecordKey {
  record: Record;
}

/** Records of one kind, each under an owner and an id. */
export class RecordStore<Schema extends z.ZodType> {
  readonly #database: DatabaseSync;
  readonly #kind: string;
  readonly #schema: Schema;

  constructor(database: DatabaseSync, { kind, schema }: { kind: string; schema: Schema }) {
    this.#database = database;
    this.#kind = kind;
    this.#schema = schema;
  }

  get({ owner, id }: RecordKey): z.output<Schema> | undefined {
    const row = this.#database
      .prepare("SELECT record FROM records WHERE kind = ? AND owner = ? AND id = ?")
      .get(this.#kind, owner, id);
    return row && this.#schema.parse(JSON.parse(String(row.record)));
  }

  /** Those of an owner, in the order of their ids. */
  of(owner: string): KeyedRecord<z.output<Schema>>[] {
    const rows = this.#database
      .prepare("SELECT id, record FROM records WHERE kind = ? AND owner = ? ORDER BY id")
      .all(this.#kind, owner);
    return rows.map(({ id, record }) => ({
      owner,
      id: String(id),
      record: this.#schema.parse(JSON.parse(String(record))),
    }));
  }

  /** Adds them, or writes over those of the same owner and id. */
  put(...records: KeyedRecord<z.input<Schema>>[]): void {
    // One statement for a thousand of them: a statement each would cost a start some milliseconds.
    this.#database
      .prepare(
        `INSERT INTO records (kind, owner, id, record)
          SELECT ?, value ->> 'owner', value ->> 'id', value -> 'record' FROM json_each(?) WHERE true
          ON CONFLICT (kind, owner, id) DO UPDATE SET record = excluded.record`,
      )
      .run(this.#kind, JSON.stringify(records));
  }

  delete({ owner, id }: RecordKey): void {
    this.#database.prepare("DELETE FROM records WHERE kind = ? AND owner = ? AND id = ?").run(this.#kind, owner, id);
  }
}
