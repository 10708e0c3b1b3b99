import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, DatabaseSync, type Session } from "node:sqlite";
import { WebhookError } from "../../core/errors.ts";
import type { IncomingDelivery, RepairedGap } from "../inbox.ts";
import { migrateDatabase, openPrivateDatabase, schemaVersionOf } from "../sqlite/database.ts";
import type { ChangeLog } from "../sqlite/inbox-file.ts";
import { countAllSql, schemaVersion } from "../sqlite/schema.ts";
import type { SqliteInbox } from "../sqlite/sqlite-inbox.ts";
import { decodeRecord, type LogRecord, type LogWriter, quarantineKey, recordKey } from "./log.ts";
import { type ObjectStore, readObject } from "./object-store.ts";

const prefix = "hub-webhooks-inbox-";

const ownFolders = new Set<string>();

/** Creates a private folder for a working file, which each start builds again, and removes the folders of processes that no longer run. */
export function createWorkingFolder(parent: string = tmpdir()): Disposable & { file: string } {
  removeAbandoned(parent);
  const folder = mkdtempSync(join(parent, `${prefix}${process.pid}-`));
  ownFolders.add(folder);
  return {
    file: join(folder, "inbox.db"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A killed process cannot remove its folder, which contains payloads. */
function removeAbandoned(parent: string): void {
  for (const name of readdirSync(parent)) {
    const pid = Number(new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1]);
    if (Number.isNaN(pid)) continue;
    const folder = join(parent, name);
    try {
      const isUsed = pid === process.pid ? isOwn(folder) : isRunning(pid);
      if (!isUsed) rmSync(folder, { recursive: true, force: true });
    } catch {
      // The folder belongs to another user, or another process has removed it.
    }
  }
}

/**
 * In a container, a process usually has the same PID as the one before the restart. A folder that is newer than this process can belong
 * to another copy of this module.
 */
function isOwn(folder: string): boolean {
  return ownFolders.has(folder) || statSync(folder).mtimeMs >= performance.timeOrigin;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

export function readOpenGaps(database: DatabaseSync): number[] {
  return readNumbers(database, "SELECT number FROM log_gaps WHERE repaired_at IS NULL ORDER BY number");
}

function readNumbers(database: DatabaseSync, sql: string): number[] {
  const rows = database.prepare(sql).all();
  return rows.map(({ number }) => Number(number));
}

/** A record of the log whose changes are missing. */
export interface Gap {
  number: number;
  /** `unreadable`: the object is not a complete record. `conflict`: the changes do not fit the earlier changes. */
  reason: "missing" | "unreadable" | "conflict";
}

/** Records gaps, and counts all deliveries again. Call this function inside a transaction. */
export function addGaps(database: DatabaseSync, gaps: readonly Gap[], now: number): void {
  const insert = database.prepare(
    "INSERT INTO log_gaps (number, reason, found_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
  );
  for (const { number, reason } of gaps) insert.run(number, reason, now);
  database.exec(countAllSql);
}

export class WorkingDatabase {
  readonly database: DatabaseSync;
  readonly #name: string;
  #createTriggers: () => void;

  /** Opens a file with a restored snapshot, or creates it. @throws `INBOX_UNUSABLE` if a newer release has written the snapshot. */
  constructor(file: string, name: string) {
    this.#name = name;
    this.database = openPrivateDatabase(file);
    try {
      this.#checkVersion(schemaVersionOf(this.database));
    } catch (error) {
      this.database.close();
      throw error;
    }
    this.#createTriggers = dropTriggers(this.database);
  }

  /** The number of the last record whose changes the database contains. */
  get position(): number {
    if (schemaVersionOf(this.database) === 0) return 0;
    return Number(this.database.prepare("SELECT number FROM log_position").get()?.number);
  }

  /** The numbers of the gaps that the database contains, including repaired ones. */
  get gapNumbers(): ReadonlySet<number> {
    if (schemaVersionOf(this.database) === 0) return new Set();
    return new Set(readNumbers(this.database, "SELECT number FROM log_gaps"));
  }

  /**
   * Updates the database to the schema of the process that wrote the record. SQLite would ignore changes of tables and columns that
   * the database does not have. The takeover of that process can be unreadable, so each record contains the version.
   *
   * @throws `INBOX_UNUSABLE` if a newer release has written the record.
   */
  prepare({ schemaVersion: version = 0 }: LogRecord): void {
    this.#checkVersion(version);
    if (version <= schemaVersionOf(this.database)) return;
    this.#createTriggers();
    migrateDatabase(this.database, version);
    this.#createTriggers = dropTriggers(this.database);
  }

  apply(changes: Uint8Array): boolean {
    return applyChanges(this.database, changes);
  }

  applyPossible(changes: Uint8Array): void {
    // Without earlier changes, a delivery can occur twice. The second one is skipped.
    this.database.exec("CREATE UNIQUE INDEX IF NOT EXISTS replayed_ids ON deliveries (endpoint, id)");
    applyPossibleChanges(this.database, changes);
  }

  /** Finishes the replay. After that, the database can be used as the working file. */
  finish(): void {
    this.database.exec("DROP INDEX IF EXISTS replayed_ids");
    this.#createTriggers();
    migrateDatabase(this.database);
  }

  /** Updates the schema, so that the database can be read while more records are applied. */
  prepareToRead(): void {
    this.finish();
    this.#createTriggers = dropTriggers(this.database);
  }

  close(): void {
    if (this.database.isOpen) this.database.close();
  }

  #checkVersion(version: number): void {
    if (version > schemaVersion) {
      throw new WebhookError(
        `The inbox ${this.#name} was written by a newer release of hub-webhooks. Update hub-webhooks, or set INBOX_URL to another inbox.`,
        { code: "INBOX_UNUSABLE" },
      );
    }
  }
}

/** Applies all changes, or none and returns `false`. Without triggers, because the changes contain what the triggers did. */
function applyChanges(database: DatabaseSync, changes: Uint8Array): boolean {
  if (changes.length === 0) return true;
  return database.applyChangeset(changes, { onConflict: () => constants.SQLITE_CHANGESET_ABORT });
}

/** Applies as many changes as possible without earlier changes: replaces other rows, and skips changes of missing rows. */
function applyPossibleChanges(database: DatabaseSync, changes: Uint8Array): void {
  if (changes.length === 0) return;
  const { SQLITE_CHANGESET_DATA, SQLITE_CHANGESET_CONFLICT } = constants;
  database.applyChangeset(changes, {
    onConflict: (kind) =>
      kind === SQLITE_CHANGESET_DATA || kind === SQLITE_CHANGESET_CONFLICT
        ? constants.SQLITE_CHANGESET_REPLACE
        : constants.SQLITE_CHANGESET_OMIT,
  });
}

function dropTriggers(database: DatabaseSync): () => void {
  const triggers = database.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").all();
  for (const { name } of triggers) database.exec(`DROP TRIGGER "${name}"`);
  return () => {
    for (const { sql } of triggers) database.exec(String(sql));
  };
}

interface Transaction {
  session: Session;
  changedBefore: number;
  stored?: Uint8Array;
}

/**
 * Stores the changes of each transaction as a record of the log. `fences`: the numbers of records that must not be deleted. `onRecord`:
 * called with the size of the changes after each record.
 */
export function createChangeLog(
  database: DatabaseSync,
  writer: LogWriter,
  { fences, onRecord }: { fences: readonly number[]; onRecord: (bytes: number) => void },
) {
  const addFence = database.prepare("INSERT INTO log_fences VALUES (?) ON CONFLICT DO NOTHING");
  const setPosition = database.prepare("UPDATE log_position SET number = ?");
  const countChanged = database.prepare("SELECT total_changes() AS changed");
  let newFences = fences;
  let transaction: Transaction | undefined;
  /** Changes that are in the log but not in the database, because the commit failed. */
  let missing: readonly Uint8Array[] = [];

  function countChanges(): number {
    return Number(countChanged.get()?.changed);
  }

  async function append(kind: "changes" | "gap", open: Transaction): Promise<void> {
    let changes = new Uint8Array();
    await writer.append({
      kind,
      schemaVersion,
      // The position is part of the changes, so that a snapshot of the database contains it.
      body: (number) => {
        setPosition.run(number);
        for (const fence of [...newFences, ...writer.unreadable]) addFence.run(fence);
        changes = open.session.changeset();
        return changes;
      },
    });
    open.stored = changes;
    onRecord(changes.length);
  }

  return {
    begin(): void {
      writer.throwIfTakenOver();
      if (missing.length > 0) {
        const createTriggers = dropTriggers(database);
        for (const changes of missing) {
          if (!applyChanges(database, changes)) throw new Error("The changes of a record could not be applied.");
        }
        createTriggers();
      }
      transaction = { session: database.createSession(), changedBefore: countChanges() };
    },
    store(kind: "changes" | "gap" = "changes"): Promise<void> | undefined {
      // Claims and prunes that find nothing must not cost a request.
      if (transaction === undefined || countChanges() === transaction.changedBefore) return undefined;
      return append(kind, transaction);
    },
    end(result: "committed" | "rolled back"): void {
      const { session, stored } = transaction ?? {};
      transaction = undefined;
      session?.close();
      if (result === "committed") {
        missing = [];
        if (stored) newFences = [];
      } else if (stored) missing = [...missing, stored];
    },
  } satisfies ChangeLog;
}

/** The number of gaps whose records are read at the same time. Each unreadable record is read several times, with pauses. */
const maxReads = 16;

/**
 * Queues the missing deliveries of records that are readable now, such as after a restore from a backup, and marks all gaps as
 * repaired.
 */
export async function repairGaps(
  { store, now }: { store: ObjectStore; now: () => number },
  { database, inbox }: { database: DatabaseSync; inbox: SqliteInbox },
): Promise<RepairedGap[]> {
  const repaired: RepairedGap[] = [];
  const gaps = readOpenGaps(database);
  let records: (LogRecord | undefined)[] = [];
  for (const [index, number] of gaps.entries()) {
    if (index % maxReads === 0)
      records = await Promise.all(gaps.slice(index, index + maxReads).map((gap) => readRecord(store, gap)));
    const record = records[index % maxReads];
    let recovered = 0;
    for (const delivery of record ? readUnfinished(record) : []) {
      if ((await inbox.get(delivery)) !== undefined) continue;
      await inbox.accept(delivery);
      recovered += 1;
    }
    await inbox.write(() =>
      database.prepare("UPDATE log_gaps SET repaired_at = ? WHERE number = ?").run(now(), number),
    );
    // The rest of the record can contain payloads.
    await store.delete(quarantineKey(number));
    repaired.push({ record: number, isReadable: record !== undefined, recovered });
  }
  return repaired;
}

async function readRecord(store: ObjectStore, number: number): Promise<LogRecord | undefined> {
  const keys = [recordKey(number), quarantineKey(number)];
  const reads = await Promise.all(keys.map((key) => readObject(store, key, { decode: decodeRecord })));
  const read = reads.find(({ state }) => state === "readable");
  return read?.state === "readable" ? read.content : undefined;
}

function readUnfinished({ body: changes, schemaVersion: version }: LogRecord): IncomingDelivery[] {
  const scratch = new DatabaseSync(":memory:");
  try {
    migrateDatabase(scratch, version);
    const createTriggers = dropTriggers(scratch);
    applyPossibleChanges(scratch, changes);
    createTriggers();
    migrateDatabase(scratch);
    const rows = scratch
      .prepare(
        "SELECT * FROM deliveries WHERE status NOT IN ('succeeded', 'ignored') AND body IS NOT NULL ORDER BY sequence",
      )
      .all();
    return rows.map(({ endpoint, id, body, received_at }) => ({
      endpoint: String(endpoint),
      id: String(id),
      body: String(body),
      receivedAt: new Date(Number(received_at)),
    }));
  } finally {
    scratch.close();
  }
}
