import { createHash, randomUUID } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { ByteRange } from "../git/large-files.ts";

/** A body that was received. It is either in memory or in a file. */
export interface ReceivedBody {
  /** The size in bytes. */
  size: number;
  /** In hexadecimal digits. */
  md5: string;
  /** In hexadecimal digits. */
  sha256: string;
  content: Uint8Array | undefined;
  /** The name of the file. */
  file: string | undefined;
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
    let large: Awaited<ReturnType<typeof this.create>> | undefined;
    try {
      for await (const chunk of body) {
        size += chunk.byteLength;
        md5.update(chunk);
        sha256.update(chunk);
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
    return { size, md5: md5.digest("hex"), sha256: sha256.digest("hex"), content, file: large?.file };
  }

  /** Opens a file for reading. A file that is deleted later can be read to its end. */
  open(file: string, range: Partial<ByteRange> = {}): Readable {
    return createReadStream("", { ...range, fd: openSync(this.#path(file), "r") });
  }

  delete(file: string): void {
    rmSync(this.#path(file), { force: true });
  }

  /** Deletes all files. */
  clear(): void {
    if (this.#folder === undefined) return;
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#isTemporary) this.#folder = undefined;
  }

  /** Deletes the temporary folder. */
  close(): void {
    if (this.#isTemporary) this.clear();
  }

  private async create() {
    const file = randomUUID();
    const handle = await open(join(this.#open(), file), "wx", 0o600);
    return { file, handle };
  }

  #path(file: string): string {
    return join(this.#open(), file);
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
