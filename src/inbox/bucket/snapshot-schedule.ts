import { type FileHandle, open, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { gunzip, gzip } from "node:zlib";
import { programUrl } from "../../core/files.ts";
import type { Logger } from "../../core/log.ts";
import type { ObjectStore } from "./object-store.ts";
import { type DatabaseCopy, type RestoreDatabase, storeSnapshot } from "./snapshots.ts";

/** The size of a part before compression, in bytes. A part is in memory as a whole. */
const partBytes = 8 * 2 ** 20;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export interface SnapshotThreadData {
  file: string;
  copy: string;
}

export type CopiedDatabase = Pick<DatabaseCopy, "number" | "fences">;

async function copyInThread(file: string, signal: AbortSignal): Promise<DatabaseCopy & AsyncDisposable> {
  const copy = `${file}.snapshot-${crypto.randomUUID()}`;
  const remove = () => rm(copy, { force: true });
  try {
    const copied = await runThread({ file, copy }, signal);
    const handle = await open(copy, "r");
    const { size } = await handle.stat();
    return {
      ...copied,
      bytes: size,
      parts: readParts(handle, size),
      [Symbol.asyncDispose]: async () => {
        await handle.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Copies a database in a thread, because a copy of a large database would block the event loop. */
async function runThread(workerData: SnapshotThreadData, signal: AbortSignal): Promise<CopiedDatabase> {
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

async function* readParts(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; at += partBytes) {
    yield await compress(await readPart(handle, { at, bytes: Math.min(partBytes, size - at) }), { level: 1 });
  }
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

export function restoreFile(file: string): RestoreDatabase {
  return async (parts) => {
    await rm(file, { force: true });
    await using handle = await open(file, "wx", 0o600);
    for await (const part of parts) await handle.writeFile(await decompress(part, { maxOutputLength: partBytes }));
    return (await handle.stat()).size;
  };
}

/** A snapshot is due after this number of records if the records are large, and after `maxRecords` in any case. */
const defaultMinRecords = 1_000;
/** The next start reads up to this number of records. With 100 ms for each and 16 at a time, it takes about a minute. */
const maxRecords = 10_000;
/** Records are large if they together have at least this share of the bytes of the last snapshot. */
const minShare = 0.25;
const retryMs = 60_000;

interface SnapshotScheduleOptions {
  store: ObjectStore;
  file: string;
  log: Logger;
  monotonicNow: () => number;
  records: number;
  snapshotBytes: number;
  minRecords?: number | undefined;
  copyDatabase?: typeof copyInThread;
}

export type SnapshotSchedule = ReturnType<typeof scheduleSnapshots>;

/** Stores a snapshot from time to time, so that a start reads few records and old records can be deleted. */
export function scheduleSnapshots({
  store,
  file,
  log,
  monotonicNow,
  records,
  snapshotBytes,
  minRecords = defaultMinRecords,
  copyDatabase = copyInThread,
}: SnapshotScheduleOptions) {
  const closed = new AbortController();
  const { signal } = closed;
  let recordBytes = 0;
  let retryAt = 0;
  let running: Promise<void> | undefined;

  function start(): void {
    if (signal.aborted) return;
    running ??= run().finally(() => {
      running = undefined;
    });
  }

  async function run(): Promise<void> {
    const before = { records, recordBytes };
    try {
      await using copy = await copyDatabase(file, signal);
      snapshotBytes = await storeSnapshot(store, copy, signal);
      records -= before.records;
      recordBytes -= before.recordBytes;
    } catch (error) {
      if (signal.aborted) return;
      retryAt = monotonicNow() + retryMs;
      log.warn({ err: error }, "A snapshot of the inbox could not be stored, and will be retried in a minute.");
    }
  }

  return {
    start,
    countRecord(bytes: number): void {
      records += 1;
      recordBytes += bytes;
      const isLarge = records >= minRecords && recordBytes >= minShare * snapshotBytes;
      if ((isLarge || records >= maxRecords) && monotonicNow() >= retryAt) start();
    },
    async close(): Promise<void> {
      closed.abort();
      await running;
    },
  };
}
