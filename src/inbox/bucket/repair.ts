import { DatabaseSync } from "node:sqlite";
import type { IncomingDelivery } from "../inbox.ts";
import { migrateDatabase } from "../sqlite/database.ts";
import type { SqliteInbox } from "../sqlite/sqlite-inbox.ts";
import { applyPossibleChanges, dropTriggers } from "./apply-changes.ts";
import { readOpenGaps } from "./gaps.ts";
import { quarantineKey, recordKey } from "./log-keys.ts";
import { decodeRecord, type LogRecord } from "./log-record.ts";
import type { ObjectStore } from "./object-store.ts";

/** The result of a repair. */
export interface RepairedGap {
  /** The number of the record. */
  record: number;
  /** Whether the record is readable now. If not, its changes are lost. */
  isReadable: boolean;
  /** The number of deliveries that were missing and are queued now. */
  recovered: number;
}

/**
 * Repairs the gaps of an inbox: queues the deliveries of records that are readable now and whose deliveries are missing, and marks
 * all gaps as repaired. A record can become readable if its object was restored from a backup.
 */
export async function repairGaps({
  store,
  database,
  inbox,
  now,
}: {
  store: ObjectStore;
  /** The working file. */
  database: DatabaseSync;
  inbox: SqliteInbox;
  /** Milliseconds since the epoch. */
  now: () => number;
}): Promise<RepairedGap[]> {
  const repaired: RepairedGap[] = [];
  for (const number of readOpenGaps(database)) {
    const found = (await store.get(recordKey(number))) ?? (await store.get(quarantineKey(number)));
    const record = found && (await decodeRecord(found.body));
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

/** Returns the unfinished deliveries that the changes of a record add. */
function readUnfinished({ body: changes, schemaVersion: version }: LogRecord): IncomingDelivery[] {
  const scratch = new DatabaseSync(":memory:");
  try {
    migrateDatabase(scratch, version);
    const createTriggers = dropTriggers(scratch);
    applyPossibleChanges(scratch, changes);
    createTriggers();
    migrateDatabase(scratch);
    return scratch
      .prepare("SELECT * FROM deliveries WHERE status <> 'succeeded' AND body IS NOT NULL ORDER BY sequence")
      .all()
      .map(({ endpoint, id, body, received_at }) => ({
        endpoint: String(endpoint),
        id: String(id),
        body: String(body),
        receivedAt: new Date(Number(received_at)),
      }));
  } finally {
    scratch.close();
  }
}
