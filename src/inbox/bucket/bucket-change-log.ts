import type { DatabaseSync, Session, StatementSync } from "node:sqlite";
import type { ChangeLog } from "../sqlite/inbox-file.ts";
import { schemaVersion } from "../sqlite/migrations.ts";
import { applyChanges, dropTriggers } from "./apply-changes.ts";
import type { LogWriter } from "./log-writer.ts";

/** An open transaction and the changes that it has made so far. */
interface Transaction {
  database: DatabaseSync;
  session: Session;
  /** The number of changed rows of the connection when the transaction started. */
  changedBefore: number;
  /** The changes, after they were stored in the log. */
  stored?: Uint8Array;
}

/** Stores the changes of each transaction as a record of the log. */
export class BucketChangeLog implements ChangeLog {
  readonly #writer: LogWriter;
  #fences: readonly number[];
  readonly #onRecord: (bytes: number) => void;
  readonly #addFence: StatementSync;
  readonly #setPosition: StatementSync;
  readonly #countChanged: StatementSync;
  #transaction: Transaction | undefined;
  /** Changes that are in the log but not in the database, because the commit failed. */
  #missing: readonly Uint8Array[] = [];

  /**
   * @param options.fences the numbers of records that must not be deleted. They are stored with the first changes.
   * @param options.onRecord called with the size of the changes after each record.
   */
  constructor({
    database,
    writer,
    fences,
    onRecord,
  }: {
    database: DatabaseSync;
    writer: LogWriter;
    fences: readonly number[];
    onRecord: (bytes: number) => void;
  }) {
    this.#writer = writer;
    this.#fences = fences;
    this.#onRecord = onRecord;
    this.#addFence = database.prepare("INSERT INTO log_fences VALUES (?) ON CONFLICT DO NOTHING");
    this.#setPosition = database.prepare("UPDATE log_position SET number = ?");
    this.#countChanged = database.prepare("SELECT total_changes() AS changed");
  }

  begin(database: DatabaseSync): void {
    this.#writer.throwIfTakenOver();
    if (this.#missing.length > 0) this.#applyMissing(database);
    this.#transaction = { database, session: database.createSession(), changedBefore: this.#changed() };
  }

  store(kind: "changes" | "gap" = "changes"): Promise<void> | undefined {
    const transaction = this.#transaction;
    // Claims and prunes that find nothing must not cost a request.
    if (transaction === undefined || this.#changed() === transaction.changedBefore) return undefined;
    return this.#append(kind, transaction);
  }

  async #append(kind: "changes" | "gap", transaction: Transaction): Promise<void> {
    let changes = new Uint8Array();
    await this.#writer.append({
      kind,
      schemaVersion,
      // The position is part of the changes, so that a snapshot of the database contains it.
      body: (number) => {
        this.#setPosition.run(number);
        for (const fence of [...this.#fences, ...this.#writer.unreadable]) this.#addFence.run(fence);
        changes = transaction.session.changeset();
        return changes;
      },
    });
    transaction.stored = changes;
    this.#onRecord(changes.length);
  }

  end(result: "committed" | "rolled back"): void {
    const transaction = this.#transaction;
    this.#transaction = undefined;
    transaction?.session.close();
    if (result === "committed") {
      this.#missing = [];
      if (transaction?.stored) this.#fences = [];
    } else if (transaction?.stored) this.#missing = [...this.#missing, transaction.stored];
  }

  #applyMissing(database: DatabaseSync): void {
    const createTriggers = dropTriggers(database);
    for (const changes of this.#missing) {
      if (!applyChanges(database, changes)) throw new Error("The changes of a record could not be applied.");
    }
    createTriggers();
  }

  #changed(): number {
    return Number(this.#countChanged.get()?.changed);
  }
}
