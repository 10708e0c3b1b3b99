import { createHash } from "node:crypto";
import { type FileHandle, open, rm, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod";
import type { Logger } from "../../core/logger.ts";
import { programUrl } from "../../core/package-root.ts";
import { padded, recordNumber, recordPrefix } from "./log-keys.ts";
import type { ObjectStore } from "./object-store.ts";

/** The size of a part before compression, in bytes. A part is in memory as a whole. */
const partBytes = 8 * 2 ** 20;
const snapshotPrefix = "snapshots/";
/** The number of snapshots that are kept. If the newest one is damaged, the older one and more records are used. */
const keptSnapshots = 2;
const maxDeletes = 8;

const manifestSchema = z.object({
  /** The number of the last record whose changes the snapshot contains. */
  number: z.number(),
  /** The size of the database, in bytes. */
  bytes: z.number(),
  /** The parts of the database in order, each compressed with gzip. The checksums are those of the compressed parts. */
  parts: z.array(z.object({ sha256: z.string(), bytes: z.number() })),
});

type Manifest = z.infer<typeof manifestSchema>;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** The `workerData` of the thread that copies a database. */
export interface SnapshotThreadData {
  /** The database to copy. */
  file: string;
  /** The path of the copy. */
  copy: string;
}

/** The message of the thread. */
export interface CopiedDatabase {
  /** The number of the last record whose changes the copy contains. */
  number: number;
  /** The numbers of the records that must not be deleted. */
  fences: readonly number[];
}

/**
 * Stores a snapshot of a database that is in use, and deletes older snapshots and records that are no longer needed. Returns the
 * number of the last record in the snapshot and the size of the stored parts in bytes.
 *
 * @throws if the snapshot cannot be written, stored, or read back. The older snapshots and records are then unchanged.
 */
export async function storeSnapshot({
  store,
  file,
  signal,
}: {
  store: ObjectStore;
  /** The working file. */
  file: string;
  /** Stops the snapshot. */
  signal: AbortSignal;
}): Promise<{ number: number; bytes: number }> {
  const copy = `${file}.snapshot-${crypto.randomUUID()}`;
  try {
    const { number, fences } = await copyDatabase({ file, copy }, signal);
    const manifest = await storeParts({ store, copy, number, signal });
    const key = manifestKey(number);
    await store.put(key, new TextEncoder().encode(JSON.stringify(manifest)));
    if ((await readManifest(store, number)) === undefined) throw new Error("The stored manifest is not readable.");
    await deleteObsolete(store, { number, fences: new Set(fences) });
    return { number, bytes: storedBytes(manifest) };
  } finally {
    await rm(copy, { force: true });
  }
}

/** Copies a database in a thread, because a copy of a large database would block the event loop. */
async function copyDatabase(workerData: SnapshotThreadData, signal: AbortSignal): Promise<CopiedDatabase> {
  const thread = new Worker(programUrl("snapshot-thread", import.meta.url), {
    workerData,
    env: {},
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  return new Promise((resolve, reject) => {
    thread.on("message", resolve);
    thread.on("error", reject);
    thread.on("exit", () => reject(new Error("The thread exited before the snapshot was written.")));
    thread.unref();
    const stop = () => void thread.terminate();
    signal.addEventListener("abort", stop);
    thread.on("exit", () => signal.removeEventListener("abort", stop));
  });
}

async function storeParts({
  store,
  copy,
  number,
  signal,
}: {
  store: ObjectStore;
  copy: string;
  number: number;
  signal: AbortSignal;
}): Promise<Manifest> {
  await using handle = await open(copy, "r");
  const { size } = await handle.stat();
  const parts: Manifest["parts"] = [];
  for (let at = 0; at < size; at += partBytes) {
    signal.throwIfAborted();
    const content = await compress(await readPart(handle, { at, bytes: Math.min(partBytes, size - at) }), { level: 1 });
    const sha256 = hash(content);
    const key = partKey(number, parts.length);
    await store.put(key, content);
    const stored = await store.get(key);
    if (stored === undefined || hash(stored.body) !== sha256)
      throw new Error("A stored part of a snapshot is damaged.");
    parts.push({ sha256, bytes: content.length });
  }
  return { number, bytes: size, parts };
}

async function readPart(handle: FileHandle, { at, bytes }: { at: number; bytes: number }): Promise<Uint8Array> {
  const buffer = Buffer.alloc(bytes);
  for (let read = 0; read < bytes; ) {
    const { bytesRead } = await handle.read(buffer, read, bytes - read, at + read);
    if (bytesRead === 0) throw new Error("The snapshot ended early.");
    read += bytesRead;
  }
  return buffer;
}

/**
 * Writes the newest snapshot that is complete to a file. Returns its number and the size of its stored parts in bytes, or
 * `undefined` if no snapshot is complete. The file is then missing.
 */
export async function restoreSnapshot({
  store,
  file,
  log,
}: {
  store: ObjectStore;
  file: string;
  log: Logger;
}): Promise<{ number: number; bytes: number } | undefined> {
  for (const number of await listSnapshots(store)) {
    const manifest = await readManifest(store, number);
    if (manifest && (await restoreParts(manifest, { store, file }))) return { number, bytes: storedBytes(manifest) };
    log.error(
      { code: "INBOX_DAMAGED", snapshot: number },
      "A snapshot of the inbox is damaged. An older snapshot and the records since then are used.",
    );
  }
  return undefined;
}

async function restoreParts(
  manifest: Manifest,
  { store, file }: { store: ObjectStore; file: string },
): Promise<boolean> {
  await rm(file, { force: true });
  {
    await using handle = await open(file, "wx", 0o600);
    for (const [index, { sha256 }] of manifest.parts.entries()) {
      const stored = await store.get(partKey(manifest.number, index));
      if (stored === undefined || hash(stored.body) !== sha256) return remove(file);
      await handle.writeFile(await decompress(stored.body, { maxOutputLength: partBytes }));
    }
  }
  return (await stat(file)).size === manifest.bytes || remove(file);
}

async function remove(file: string): Promise<false> {
  await rm(file, { force: true });
  return false;
}

/** Returns the numbers of the snapshots with a manifest, newest first. */
async function listSnapshots(store: ObjectStore): Promise<number[]> {
  return (await store.list(snapshotPrefix))
    .map(({ key }) => Number(/^snapshots\/(\d{16})\/manifest$/.exec(key)?.[1]))
    .filter((number) => !Number.isNaN(number))
    .reverse();
}

async function readManifest(store: ObjectStore, number: number): Promise<Manifest | undefined> {
  const stored = await store.get(manifestKey(number));
  if (stored === undefined) return undefined;
  try {
    return manifestSchema.safeParse(JSON.parse(new TextDecoder().decode(stored.body))).data;
  } catch {
    return undefined;
  }
}

/**
 * Deletes all but the newest snapshots, and the records that the oldest of these contains. The first record after the last one of
 * each earlier owner is kept. Otherwise, such a process could store a record at this number after a long pause.
 *
 * This process can be such a process too: it can be paused until a later owner has stored snapshots. It does not know the fences
 * after its own snapshot, so it deletes no records after its own snapshot.
 */
async function deleteObsolete(
  store: ObjectStore,
  { number: ownSnapshot, fences }: { number: number; fences: ReadonlySet<number> },
): Promise<void> {
  const kept = (await listSnapshots(store)).slice(0, keptSnapshots);
  const oldest = kept.at(-1);
  if (oldest === undefined || kept.length < keptSnapshots) return;
  const [snapshots, records] = await Promise.all([store.list(snapshotPrefix), store.list(recordPrefix)]);
  const obsolete = [
    ...snapshots.filter(({ key }) => key < `${snapshotPrefix}${padded(oldest)}`),
    ...records.filter(({ key }) => {
      const number = recordNumber(key);
      return number !== undefined && number <= Math.min(oldest, ownSnapshot) && !fences.has(number);
    }),
  ];
  for (let from = 0; from < obsolete.length; from += maxDeletes) {
    await Promise.all(obsolete.slice(from, from + maxDeletes).map(({ key }) => store.delete(key)));
  }
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

function hash(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
