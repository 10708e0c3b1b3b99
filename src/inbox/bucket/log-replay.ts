import type { DatabaseSync } from "node:sqlite";
import { WebhookError } from "../../core/errors.ts";
import type { Logger } from "../../core/logger.ts";
import { migrateDatabase, openPrivateDatabase, schemaVersionOf } from "../sqlite/database.ts";
import { schemaVersion } from "../sqlite/migrations.ts";
import { applyChanges, applyPossibleChanges, dropTriggers } from "./apply-changes.ts";
import { type Gap, readGapNumbers } from "./gaps.ts";
import { quarantineKey, recordKey, recordNumber, recordPrefix } from "./log-keys.ts";
import { decodeRecord, type LogRecord } from "./log-record.ts";
import type { ObjectStore } from "./object-store.ts";

export interface LogReplayOptions {
  store: ObjectStore;
  /** The path of a file with a restored snapshot, or of a file that does not exist. */
  file: string;
  log: Logger;
  /** Whether the log must not be changed. Default `false`: unreadable records are copied to another key. */
  isReadOnly?: boolean;
}

/** A record that could not be read. */
interface UnreadableRecord {
  number: number;
  reason: "missing" | "unreadable";
}

/** The number of records that are read at the same time. */
const maxReads = 16;

/**
 * Builds the working file of an inbox from its log.
 *
 * The changes of each record contain the position of the previous changes. If a record cannot be read, but the next changes apply
 * without a conflict, the record contained no changes of this log. Otherwise, the record is a gap: its changes are lost, and later
 * changes are applied as far as possible.
 */
export class LogReplay {
  readonly database: DatabaseSync;
  readonly #options: LogReplayOptions;
  #next: number;
  #createTriggers: () => void;
  #unreadable: UnreadableRecord[] = [];
  readonly #fences: number[] = [];
  #found = new Map<number, Gap["reason"]>();
  /** Whether the database lacks the changes of a gap that no later record describes. */
  #isIncomplete = false;

  constructor(options: LogReplayOptions) {
    this.#options = options;
    this.database = openPrivateDatabase(options.file);
    try {
      this.#checkVersion(schemaVersionOf(this.database));
    } catch (error) {
      this.database.close();
      throw error;
    }
    this.#next = readPosition(this.database) + 1;
    this.#createTriggers = dropTriggers(this.database);
  }

  /** The number of the next record. */
  get next(): number {
    return this.#next;
  }

  /** The numbers of the takeovers and unreadable objects that were found. See `log_fences` in `migrations.ts`. */
  get fences(): readonly number[] {
    return this.#fences;
  }

  /** The gaps that no record of the log describes. */
  get newGaps(): Pick<Gap, "number" | "reason">[] {
    const known = readGapNumbers(this.database);
    return [...this.#found].filter(([number]) => !known.has(number)).map(([number, reason]) => ({ number, reason }));
  }

  /**
   * Applies all records that the log contains.
   *
   * @param lastKnown the number of the last record by the heartbeat of its writer. If the log ends earlier, records are missing.
   */
  async catchUp(lastKnown = 0): Promise<void> {
    const { store } = this.#options;
    const listed = await store.list(recordPrefix, { after: recordKey(this.#next - 1) });
    const numbers = new Set(listed.map(({ key }) => recordNumber(key)).filter((number) => number !== undefined));
    const last = Math.max(lastKnown, [...numbers].at(-1) ?? 0);
    const reads: Promise<Uint8Array | undefined>[] = [];
    for (let number = this.#next; number <= last; number += 1) {
      while (reads.length < maxReads && number + reads.length <= last) {
        const read = this.#read(number + reads.length, numbers);
        // The error is thrown when the record is applied.
        read.catch(() => {});
        reads.push(read);
      }
      await this.#apply(number, await reads.shift());
      this.#next = number + 1;
    }
    if (this.#unreadable.length > 0) this.#recordGaps();
  }

  /** Finishes the replay. After that, the database can be used as the working file. */
  finish(): void {
    this.#createTriggers();
    migrateDatabase(this.database);
  }

  /** Updates the schema, so that the database can be read between calls of `catchUp`. */
  prepareToRead(): void {
    this.finish();
    this.#createTriggers = dropTriggers(this.database);
  }

  async #read(number: number, listed: ReadonlySet<number>): Promise<Uint8Array | undefined> {
    return listed.has(number) ? (await this.#options.store.get(recordKey(number)))?.body : undefined;
  }

  async #apply(number: number, bytes: Uint8Array | undefined): Promise<void> {
    const record = bytes && (await decodeRecord(bytes));
    if (record === undefined || record.kind === "takeover") this.#fences.push(number);
    if (record === undefined || record.number !== number) {
      this.#unreadable.push({ number, reason: bytes === undefined ? "missing" : "unreadable" });
      if (bytes !== undefined && !this.#options.isReadOnly) await this.#options.store.put(quarantineKey(number), bytes);
    } else {
      this.#migrate(record);
      if (record.kind !== "takeover") this.#applyRecord(record);
    }
  }

  #applyRecord({ number, kind, body }: LogRecord): void {
    if (!this.#isIncomplete && applyChanges(this.database, body)) {
      // A gap record names the records whose changes are missing. It also fits if these records were at the end of the log.
      if (kind === "gap") this.#unreadable = [];
      this.#skipUnreadable();
      return;
    }
    if (!this.#isIncomplete && this.#unreadable.length === 0) this.#found.set(number, "conflict");
    this.#recordGaps();
    applyPossibleChanges(this.database, body);
    // The changes of this record describe the state after all earlier gaps.
    if (kind === "gap") this.#isIncomplete = false;
  }

  /** The next changes follow the previous ones, so the unreadable records contained none. */
  #skipUnreadable(): void {
    if (this.#unreadable.length === 0) return;
    const numbers = this.#unreadable.map(({ number }) => number);
    this.#options.log.warn(
      { records: numbers },
      "Some records of the inbox are unreadable, but contained no changes. No delivery is missing.",
    );
    this.#unreadable = [];
  }

  #recordGaps(): void {
    for (const { number, reason } of this.#unreadable) this.#found.set(number, reason);
    this.#unreadable = [];
    this.#isIncomplete = true;
  }

  /**
   * Updates the database to the schema of the process that wrote the record. SQLite would ignore changes of tables and columns that
   * the database does not have. The takeover of that process can be unreadable, so each record contains the version.
   */
  #migrate({ schemaVersion: version = 0 }: LogRecord): void {
    this.#checkVersion(version);
    if (version <= schemaVersionOf(this.database)) return;
    this.#createTriggers();
    migrateDatabase(this.database, version);
    this.#createTriggers = dropTriggers(this.database);
  }

  #checkVersion(version: number): void {
    if (version > schemaVersion) {
      throw new WebhookError(
        `The inbox ${this.#options.store.name} was written by a newer release of hub-webhooks. Update hub-webhooks, or set INBOX_URL to another inbox.`,
        { code: "INBOX_UNUSABLE" },
      );
    }
  }
}

function readPosition(database: DatabaseSync): number {
  if (schemaVersionOf(database) === 0) return 0;
  return Number(database.prepare("SELECT number FROM log_position").get()?.number);
}
