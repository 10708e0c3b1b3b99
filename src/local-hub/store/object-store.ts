import { createHash, randomUUID } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";
import * as z from "zod";
import type { ByteRange } from "../git/large-files.ts";

const record = z.object({
  size: z.number(),
  /** In hexadecimal digits. The tag of an object that was uploaded in parts, which is not the MD5 of its body. */
  md5: z.string(),
  /** In hexadecimal digits. */
  sha256: z.string(),
  contentType: z.string(),
  /** Milliseconds since the epoch. */
  modifiedAt: z.number(),
  /** The hash of a file that was uploaded to Xet. */
  xetHash: z.string().optional(),
  /** The time of the last change on the machine of the uploader, in milliseconds since the epoch. */
  mtime: z.number().optional(),
  /** The file that contains a large body. Copies of an object have the same file. */
  file: z.string().optional(),
});

export type StoredObject = z.output<typeof record> & {
  key: string;
  /** The SHA-256 of an object that was not uploaded to Xet, which has the same form. Clients can only compare it. */
  xetHash: string;
};

/** The properties of an object that do not follow from its body. */
type ObjectDetails = Pick<StoredObject, "contentType" | "modifiedAt"> &
  Partial<Pick<StoredObject, "xetHash" | "mtime">>;

interface ObjectName {
  bucketId: string;
  key: string;
}

/** Parts of incomplete objects are objects too, in buckets whose ID contains a colon, which no repository has. */
export class ObjectStore {
  readonly #database: DatabaseSync;
  readonly #bodies: ObjectBodies;
  readonly #statements;

  /** @param options.folder is the folder for large bodies. Default: a temporary folder. */
  constructor(database: DatabaseSync, { folder }: { folder?: string | undefined } = {}) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.#bodies = new ObjectBodies({ folder, isUsed: (file) => this.#statements.findFile.get(file) !== undefined });
  }

  /** Receives a body, which is not stored yet. Pass the result to {@link put} or {@link discard}. */
  async receive(body: AsyncIterable<Uint8Array>): Promise<ReceivedBody> {
    return this.#bodies.receive(body);
  }

  /** Deletes a received body, unless it was stored. */
  discard(body: ReceivedBody): void {
    this.#release(body);
  }

  get({ bucketId, key }: ObjectName): StoredObject | undefined {
    const row = this.#statements.get.get(bucketId, key);
    return row && parse(row);
  }

  read(bucketId: string, object: StoredObject, range: Partial<ByteRange> = {}): Uint8Array | Readable {
    const { key, file, size } = object;
    const { start = 0, end = size - 1 } = range;
    if (end < start) return new Uint8Array();
    if (file !== undefined) return this.#bodies.open(file, { start, end });
    const content = this.#statements.read.get(start + 1, end - start + 1, bucketId, key)?.content;
    return content instanceof Uint8Array ? content : new Uint8Array();
  }

  /** Reads the body of an object, or a part of it, in pieces. */
  async *stream(...part: Parameters<ObjectStore["read"]>): AsyncGenerator<Uint8Array, void, undefined> {
    const content = this.read(...part);
    if (content instanceof Uint8Array) yield content;
    else yield* content;
  }

  /** Stores an object. Replaces an object with the same key. Do not call this method in a transaction. */
  put({ bucketId, key }: ObjectName, body: ReceivedBody, details: ObjectDetails): StoredObject {
    const { size, md5, sha256, content, file } = body;
    const stored = { size, md5, sha256, ...details, ...(file !== undefined && { file }) };
    const before = this.get({ bucketId, key });
    this.#statements.put.run(bucketId, key, JSON.stringify(stored), content ?? null);
    this.#release(before);
    return { key, ...stored, xetHash: stored.xetHash ?? sha256 };
  }

  /** Stores a copy of an object, which has the same body. Replaces an object with the same key, like {@link put}. */
  copy(from: ObjectName, { bucketId, key }: ObjectName, details: Omit<ObjectDetails, "xetHash">): void {
    const source = this.get(from);
    const before = this.get({ bucketId, key });
    if (!source) throw new TypeError("A copied object must exist.");
    const { key: _key, mtime: _mtime, ...same } = source;
    this.#statements.copy.run(bucketId, key, JSON.stringify({ ...same, ...details }), from.bucketId, from.key);
    this.#release(before);
  }

  findByXetHash(bucketId: string, xetHash: string): StoredObject | undefined {
    const row = this.#statements.findByXetHash.get(bucketId, xetHash);
    return row && parse(row);
  }

  /** Returns the totals of the objects whose key starts with `prefix`. */
  totals(bucketId: string, { prefix = "" } = {}) {
    const { count, size, modified_at } = this.#statements.totals.get(bucketId, prefix, prefix, prefix) ?? {};
    return {
      count: Number(count),
      size: Number(size ?? 0),
      /** The latest change. */
      modifiedAt: typeof modified_at === "number" ? modified_at : undefined,
    };
  }

  /** Returns the IDs of the buckets that start with a text and contain objects. */
  bucketIds(start: string): string[] {
    return this.#statements.bucketIds.all(start, start, start).map(({ bucket_id }) => String(bucket_id));
  }

  /** Deletes an object. Returns whether there was one. Do not call this method in a transaction. */
  delete(name: ObjectName): boolean {
    const before = this.get(name);
    this.#statements.delete.run(name.bucketId, name.key);
    this.#release(before);
    return before !== undefined;
  }

  /** Returns the objects whose key starts with `prefix` and is greater than `after`, in the order of their UTF-8 bytes. */
  *list(bucketId: string, { prefix, after }: { prefix: string; after: string }): Iterable<StoredObject> {
    let last = after;
    while (true) {
      const rows = this.#statements.list.all(bucketId, last, prefix);
      for (const row of rows) {
        const object = parse(row);
        if (!object.key.startsWith(prefix)) return;
        yield object;
        last = object.key;
      }
      if (rows.length < pageRows) return;
    }
  }

  /** Deletes the objects of a bucket, and the parts of its uploads. Returns the files to delete after the transaction with {@link deleteFiles}. */
  deleteBucket(bucketId: string): readonly string[] {
    return [bucketId, ...this.bucketIds(`upload:${bucketId}:`)].flatMap((id) => {
      const files = this.#statements.files.all(id).map(({ file }) => String(file));
      this.#statements.deleteBucket.run(id);
      return files;
    });
  }

  deleteFiles(files: readonly string[]): void {
    for (const file of files) this.#release({ file });
  }

  /** Deletes the file of a former object, unless it also belongs to a copy. */
  #release(before: { file?: string | undefined } | undefined): void {
    if (before?.file === undefined || this.#statements.findFile.get(before.file)) return;
    this.#bodies.delete(before.file);
  }

  /** Deletes all objects, except the files on disk: see {@link clearFiles}. */
  clear(): void {
    this.#database.exec("DELETE FROM objects");
  }

  /** Deletes all files from disk. Call this method after the transaction of {@link clear}. */
  clearFiles(): void {
    this.#bodies.clear();
  }

  close(): void {
    this.#bodies.close();
  }
}

const pageRows = 1_001;

function prepareStatements(database: DatabaseSync) {
  return {
    get: database.prepare("SELECT key, record FROM objects WHERE bucket_id = ? AND key = ?"),
    read: database.prepare("SELECT substr(content, ?, ?) AS content FROM objects WHERE bucket_id = ? AND key = ?"),
    put: database.prepare(
      `INSERT INTO objects (bucket_id, key, record, content) VALUES (?, ?, ?, ?)
        ON CONFLICT (bucket_id, key) DO UPDATE SET record = excluded.record, content = excluded.content`,
    ),
    copy: database.prepare(
      `INSERT INTO objects (bucket_id, key, record, content)
        SELECT ?, ?, ?, content FROM objects WHERE bucket_id = ? AND key = ?
        ON CONFLICT (bucket_id, key) DO UPDATE SET record = excluded.record, content = excluded.content`,
    ),
    findByXetHash: database.prepare(
      `SELECT key, record FROM objects WHERE bucket_id = ? AND coalesce(record ->> 'xetHash', record ->> 'sha256') = ?`,
    ),
    totals: database.prepare(
      `SELECT count(*) AS count, sum(record ->> 'size') AS size, max(record ->> 'modifiedAt') AS modified_at
        FROM objects WHERE bucket_id = ? AND key >= ? AND substr(key, 1, length(?)) = ?`,
    ),
    bucketIds: database.prepare(
      "SELECT DISTINCT bucket_id FROM objects WHERE bucket_id >= ? AND substr(bucket_id, 1, length(?)) = ?",
    ),
    delete: database.prepare("DELETE FROM objects WHERE bucket_id = ? AND key = ?"),
    list: database.prepare(
      `SELECT key, record FROM objects WHERE bucket_id = ? AND key > ? AND key >= ? ORDER BY key LIMIT ${pageRows}`,
    ),
    files: database.prepare(
      "SELECT record ->> 'file' AS file FROM objects WHERE bucket_id = ? AND record ->> 'file' IS NOT NULL",
    ),
    findFile: database.prepare("SELECT 1 FROM objects WHERE record ->> 'file' = ?"),
    deleteBucket: database.prepare("DELETE FROM objects WHERE bucket_id = ?"),
  };
}

function parse({ key, record: json }: Record<string, unknown>): StoredObject {
  const stored = record.parse(JSON.parse(String(json)));
  return { key: String(key), ...stored, xetHash: stored.xetHash ?? stored.sha256 };
}

/** A body that was received. It is either in memory or in a file. */
export interface ReceivedBody {
  /** The size in bytes. */
  size: number;
  /** In hexadecimal digits. */
  md5: string;
  /** In hexadecimal digits. */
  sha256: string;
  /** In 8 hexadecimal digits. */
  crc32: string;
  content: Uint8Array | undefined;
  file: string | undefined;
}

export function bodyOf(content: Uint8Array): ReceivedBody {
  const digest = (name: string) => createHash(name).update(content).digest("hex");
  const digests = { md5: digest("md5"), sha256: digest("sha256"), crc32: toDigits(crc32(content)) };
  return { size: content.byteLength, ...digests, content, file: undefined };
}

function toDigits(checksum: number): string {
  return checksum.toString(16).padStart(8, "0");
}

/** Cuts a received body that is not stored yet. A file keeps its bytes, of which reads return only the first `size`. */
export function truncateBody(body: ReceivedBody, size: number): ReceivedBody {
  return { ...body, size, content: body.content?.subarray(0, size) };
}

/** The maximum size of a body in the database, in bytes. Larger bodies are files. */
const maxDatabaseBytes = 1024 * 1024;

/**
 * Receives the bodies of objects, and stores large bodies on disk: next to the state file, or in a temporary folder that is deleted
 * on close. Each version of an object has its own file, so that a replaced version can still be read to its end.
 */
export class ObjectBodies {
  readonly #isTemporary: boolean;
  readonly #isUsed: (file: string) => boolean;
  #folder: string | undefined;
  #isRecovered = false;

  /** @param options.isUsed returns whether a file belongs to a stored object. Other files are deleted before the first write. */
  constructor({ folder, isUsed }: { folder: string | undefined; isUsed: (file: string) => boolean }) {
    this.#isTemporary = folder === undefined;
    this.#folder = folder;
    this.#isUsed = isUsed;
  }

  /** Receives a body. Leaves no file behind if the body is interrupted. */
  async receive(body: AsyncIterable<Uint8Array>): Promise<ReceivedBody> {
    const [md5, sha256] = [createHash("md5"), createHash("sha256")];
    const chunks: Uint8Array[] = [];
    let size = 0;
    let checksum = 0;
    let large: Awaited<ReturnType<typeof this.create>> | undefined;
    try {
      for await (const chunk of body) {
        size += chunk.byteLength;
        md5.update(chunk);
        sha256.update(chunk);
        checksum = crc32(chunk, checksum);
        if (large) await large.handle.writeFile(chunk);
        else chunks.push(chunk);
        if (size > maxDatabaseBytes && !large) {
          large = await this.create();
          await large.handle.writeFile(Buffer.concat(chunks.splice(0)));
        }
      }
      await large?.handle.sync();
    } catch (error) {
      if (large) this.delete(large.file);
      throw error;
    } finally {
      await large?.handle.close();
    }
    const content = large ? undefined : Buffer.concat(chunks);
    const digests = { md5: md5.digest("hex"), sha256: sha256.digest("hex"), crc32: toDigits(checksum) };
    return { size, ...digests, content, file: large?.file };
  }

  /** Opens a file for reading. A file that is deleted later can be read to its end. */
  open(file: string, range: Partial<ByteRange> = {}): Readable {
    return createReadStream("", { ...range, fd: openSync(join(this.#open(), file), "r") });
  }

  delete(file: string): void {
    // Not `#open`, which would create a temporary folder after `close`.
    if (this.#folder !== undefined) rmSync(join(this.#folder, file), { force: true });
  }

  clear(): void {
    if (this.#folder === undefined) return;
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#isTemporary) this.#folder = undefined;
  }

  close(): void {
    if (this.#isTemporary) this.clear();
  }

  private async create() {
    const file = randomUUID();
    const handle = await open(join(this.#open(), file), "wx", 0o600);
    return { file, handle };
  }

  #open(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), "hub-webhooks-objects-"));
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if (this.#isRecovered) return this.#folder;
    this.#isRecovered = true;
    // A killed process left these files. No other process uses the folder, because the state file is locked.
    for (const file of readdirSync(this.#folder)) if (!this.#isUsed(file)) rmSync(join(this.#folder, file));
    return this.#folder;
  }
}
