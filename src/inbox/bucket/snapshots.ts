import * as z from "zod/mini";
import type { Logger } from "../../core/log.ts";
import { sha256 as hash, padded, recordNumber, recordPrefix } from "./log.ts";
import {
  encodeJson,
  type ObjectStore,
  ObjectStoreError,
  parseJson,
  type ReadOptions,
  readAhead,
  readObject,
} from "./object-store.ts";

const snapshotPrefix = "snapshots/";
/** A list can hide the newest snapshots. A process that no longer owns the inbox can store an older number here: it is a lower limit. */
const newestKey = `${snapshotPrefix}newest`;
/** The number of snapshots that are kept. If the newest one is damaged, the older one and more records are used. */
const keptSnapshots = 2;
const maxDeletes = 8;
const maxPartReads = 4;
const newline = 0x0a;

const manifestSchema = z.object({
  /** The number of the last record whose changes the snapshot contains. */
  number: z.number(),
  bytes: z.number(),
  /** The parts of the database in order, each compressed with gzip. The checksums are those of the compressed parts. */
  parts: z.array(z.object({ sha256: z.string(), bytes: z.number() })),
});

type Manifest = z.infer<typeof manifestSchema>;

const newestSchema = z.object({ number: z.number() });

export interface DatabaseCopy {
  number: number;
  /** The numbers of the records that must not be deleted. */
  fences: readonly number[];
  bytes: number;
  parts: AsyncIterable<Uint8Array>;
}

/** Replaces a database with the content of compressed parts. Returns the size of the database in bytes. */
export type RestoreDatabase = (parts: AsyncIterable<Uint8Array>) => Promise<number>;

export interface RestoredSnapshot {
  /** The number of the last record whose changes the snapshot contains. 0: there is no snapshot. */
  number: number;
  bytes: number;
  /** The number of the newest snapshot, which can be damaged. */
  newest: number;
  /** The numbers of the newer snapshots that are damaged. */
  damaged: ReadonlySet<number>;
}

/**
 * Stores a snapshot, and deletes older snapshots and records that are no longer needed. Returns the size of the stored parts in bytes.
 *
 * @throws if the snapshot cannot be stored or read back. The older snapshots and records are then unchanged.
 */
export async function storeSnapshot(store: ObjectStore, copy: DatabaseCopy, signal: AbortSignal): Promise<number> {
  const { number, fences } = copy;
  const manifest = await storeParts(store, copy, signal);
  await store.put(manifestKey(number), encodeManifest(manifest));
  if ((await readManifest(store, number)).state !== "readable") throw new Error("The stored manifest is not readable.");
  await store.put(newestKey, encodeJson({ number }));
  signal.throwIfAborted();
  await deleteObsolete(store, number, new Set(fences));
  return storedBytes(manifest);
}

async function storeParts(store: ObjectStore, copy: DatabaseCopy, signal: AbortSignal): Promise<Manifest> {
  const { number, bytes } = copy;
  const parts: Manifest["parts"] = [];
  for await (const content of copy.parts) {
    signal.throwIfAborted();
    const sha256 = hash(content);
    const key = partKey(number, parts.length);
    await store.put(key, content);
    if ((await readPart(store, key, { sha256 })).state !== "readable")
      throw new Error("A stored part of a snapshot is damaged.");
    parts.push({ sha256, bytes: content.length });
  }
  return { number, bytes, parts };
}

interface RestoreOptions {
  store: ObjectStore;
  /** Until the promise resolves, only the manifest of the snapshot is read. */
  target: RestoreDatabase | Promise<RestoreDatabase>;
  log: Logger;
  /** Called with the number of each snapshot before it is restored. 0: there is no snapshot. */
  onChosen?: (number: number) => void;
}

/**
 * Restores the newest snapshot that is complete. The owner can store and delete snapshots in the meantime.
 *
 * @throws {@link ObjectStoreError} if the newest snapshot is known, but missing.
 */
export async function restoreSnapshot(options: RestoreOptions): Promise<RestoredSnapshot> {
  const { store, target, log, onChosen } = options;
  const damaged = new Set<number>();
  for (let newest = 0; ; ) {
    const { numbers, sizes } = await listSnapshots(store);
    const isCandidate = (candidate: number) => !damaged.has(candidate);
    const number = numbers.find(isCandidate);
    newest = Math.max(newest, numbers[0] ?? 0);
    onChosen?.(number ?? 0);
    if (number === undefined) {
      await (await target)(noParts());
      return { number: 0, bytes: 0, newest, damaged };
    }
    const result = await restore(options, number, { sizes, isCandidate });
    if (typeof result === "object") return { number, bytes: storedBytes(result), newest, damaged };
    if (result === "obsolete") continue;
    damaged.add(number);
    log.error(
      { code: "INBOX_DAMAGED", snapshot: number },
      "A snapshot of the inbox is damaged. An older snapshot and the records since then are used.",
    );
  }
}

/** Whether a snapshot contains the changes of a record, and was not known when the database was restored. */
export async function isCoveredBySnapshot(
  store: ObjectStore,
  record: number,
  known: RestoredSnapshot,
): Promise<boolean> {
  const { numbers } = await listSnapshots(store);
  return numbers.some((number) => number >= record && !known.damaged.has(number));
}

/** Returns the manifest of the restored snapshot. `obsolete`: there is another candidate now. */
async function restore(
  { store, target }: RestoreOptions,
  number: number,
  { sizes, isCandidate }: { sizes: ReadonlyMap<string, number>; isCandidate: (number: number) => boolean },
): Promise<Manifest | "damaged" | "obsolete"> {
  const isObsolete = async () => (await listSnapshots(store)).numbers.find(isCandidate) !== number;
  const manifest = await readManifest(store, number, { bytes: sizes.get(manifestKey(number)), isObsolete });
  const write = await target;
  if (manifest.state === "missing") throw noReadableSnapshot();
  if (manifest.state !== "readable") return manifest.state === "obsolete" ? "obsolete" : "damaged";
  const { content } = manifest;
  let problem: "damaged" | "obsolete" | undefined;
  async function* readParts() {
    const parts = readAhead(content.parts.entries(), {
      maxReads: maxPartReads,
      bytesOf: ([, { bytes }]) => bytes,
      read: ([index, expected]) => {
        const key = partKey(number, index);
        return readPart(store, key, { ...expected, bytes: sizes.get(key), isObsolete });
      },
    });
    for await (const part of parts) {
      if (part.state === "readable") yield part.content;
      else {
        problem = part.state === "obsolete" ? "obsolete" : "damaged";
        return;
      }
    }
  }
  const bytes = await write(readParts());
  return problem ?? (bytes === content.bytes ? content : "damaged");
}

async function listSnapshots(store: ObjectStore): Promise<{ numbers: number[]; sizes: ReadonlyMap<string, number> }> {
  const [listed, newest] = await Promise.all([store.list(snapshotPrefix), readNewest(store)]);
  const found = listed
    .map(({ key }) => Number(/^snapshots\/(\d{16})\/manifest$/.exec(key)?.[1]))
    .filter((number) => !Number.isNaN(number));
  const numbers = [...new Set(newest > (found.at(-1) ?? 0) ? [...found, newest] : found)].reverse();
  return { numbers, sizes: new Map(listed.map(({ key, bytes }) => [key, bytes])) };
}

async function readNewest(store: ObjectStore): Promise<number> {
  const read = await readObject(store, newestKey, {
    decode: (body) => newestSchema.safeParse(parseJson(body)).data,
    isOptional: true,
  });
  return read.state === "readable" ? read.content.number : 0;
}

type SnapshotReadOptions = Pick<ReadOptions<unknown>, "bytes" | "isObsolete">;

function readManifest(store: ObjectStore, number: number, options?: SnapshotReadOptions) {
  return readObject(store, manifestKey(number), { decode: decodeManifest, ...options });
}

function readPart(store: ObjectStore, key: string, { sha256, ...options }: { sha256: string } & SnapshotReadOptions) {
  return readObject(store, key, { decode: (body) => (hash(body) === sha256 ? body : undefined), ...options });
}

/**
 * Deletes all but the newest snapshots, and the records that the oldest of these contains. The first record after the last one of
 * each earlier owner is kept. Otherwise, such a process could store a record at this number after a long pause.
 *
 * This process can be such a process too: it can be paused until a later owner has stored snapshots. It does not know the fences
 * after its own snapshot, so it deletes no records after its own snapshot.
 */
async function deleteObsolete(store: ObjectStore, ownSnapshot: number, fences: ReadonlySet<number>): Promise<void> {
  const oldest = await findOldestKept(store);
  if (oldest === undefined) return;
  const [listed, records] = await Promise.all([store.list(snapshotPrefix), store.list(recordPrefix)]);
  const snapshots = listed.map(({ key }) => key).filter((key) => key < `${snapshotPrefix}${padded(oldest)}`);
  const isManifest = (key: string) => key.endsWith("/manifest");
  const isObsolete = (key: string) => {
    const number = recordNumber(key);
    return number !== undefined && number <= Math.min(oldest, ownSnapshot) && !fences.has(number);
  };
  const obsolete = records.map(({ key }) => key).filter(isObsolete);
  // A process that restores a snapshot finds out by the manifest that the snapshot is being deleted.
  await deleteAll(store, snapshots.filter(isManifest));
  await deleteAll(store, [...snapshots.filter((key) => !isManifest(key)), ...obsolete]);
}

async function findOldestKept(store: ObjectStore): Promise<number | undefined> {
  let kept = 0;
  for (const number of (await listSnapshots(store)).numbers) {
    if ((await readManifest(store, number)).state === "readable") kept += 1;
    if (kept === keptSnapshots) return number;
  }
  return undefined;
}

async function deleteAll(store: ObjectStore, keys: readonly string[]): Promise<void> {
  for (let from = 0; from < keys.length; from += maxDeletes) {
    await Promise.all(keys.slice(from, from + maxDeletes).map((key) => store.delete(key)));
  }
}

async function* noParts(): AsyncGenerator<Uint8Array> {}

/** The error of a start that needs a snapshot, because the records that the snapshot contains were deleted. */
export function noReadableSnapshot(): ObjectStoreError {
  return new ObjectStoreError(
    "No snapshot of the inbox is readable. If this error remains, restore the objects below snapshots/ from a backup. To continue with the remaining records only, and lose the other deliveries, delete all objects below snapshots/.",
  );
}

function storedBytes({ parts }: Manifest): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

function manifestKey(number: number): string {
  return `${snapshotPrefix}${padded(number)}/manifest`;
}

function partKey(number: number, index: number): string {
  return `${snapshotPrefix}${padded(number)}/${String(index).padStart(6, "0")}`;
}

/** The first line is the checksum of the rest: a changed manifest would make the parts look damaged. */
function encodeManifest(manifest: Manifest): Uint8Array {
  const json = encodeJson(manifest);
  return Buffer.concat([Buffer.from(`${hash(json)}\n`), json]);
}

function decodeManifest(body: Uint8Array): Manifest | undefined {
  // Earlier manifests have no checksum.
  if (body[0] === "{".charCodeAt(0)) return manifestSchema.safeParse(parseJson(body)).data;
  const start = body.indexOf(newline) + 1;
  const json = body.subarray(start);
  return hash(json) === Buffer.from(body.subarray(0, start - 1)).toString()
    ? manifestSchema.safeParse(parseJson(json)).data
    : undefined;
}
