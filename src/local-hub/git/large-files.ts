import { createHash, randomUUID } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { WebhookError } from "../../core/errors.ts";

/** A file in LFS, by its SHA-256. */
export interface LargeFile {
  oid: string;
  size: number;
}

/** A range of bytes: from `start` up to and including `end`. */
export interface ByteRange {
  start: number;
  end: number;
}

const incomingName = "incoming";
const sha256 = /^[0-9a-f]{64}$/;

/** Stores files in LFS by SHA-256: next to the state file, or in a temporary folder that is deleted on close. */
export class LargeFiles {
  readonly #isTemporary: boolean;
  #folder: string | undefined;
  #isRecovered = false;

  /** @param folder is created when the first file is saved. */
  constructor(folder: string | undefined) {
    this.#isTemporary = folder === undefined;
    this.#folder = folder;
  }

  has(oid: string): boolean {
    const path = this.#find(oid);
    return path !== undefined && existsSync(path);
  }

  /**
   * Saves a file. A file that is interrupted or that does not match its ID leaves nothing behind under its final name. Calls
   * `onSaved` in the same tick in which the file gets its final name, so that no other code can delete the unused file before.
   *
   * @throws `ARGUMENT_INVALID` if the content has another size or SHA-256.
   */
  async save({ oid, size }: LargeFile, body: AsyncIterable<Uint8Array>, onSaved: () => void): Promise<void> {
    if (!sha256.test(oid)) throw mismatch(oid, "is not a SHA-256. Send 64 lowercase hexadecimal digits");
    const root = this.#open();
    const path = pathOf(root, oid);
    const incoming = join(root, incomingName, randomUUID());
    const hash = createHash("sha256");
    let received = 0;
    const check = new Transform({
      transform(chunk: Uint8Array, _encoding, done) {
        received += chunk.byteLength;
        if (received > size) return done(mismatch(oid, `has more than ${size} bytes. Send the size of the file`));
        hash.update(chunk);
        done(null, chunk);
      },
    });
    try {
      await pipeline(body, check, createWriteStream(incoming, { mode: 0o600, flags: "wx", flush: true }));
      if (received !== size) throw mismatch(oid, `has ${received} bytes instead of ${size}. Send the whole file`);
      if (hash.digest("hex") !== oid)
        throw mismatch(oid, "does not match the content. Send the file with this SHA-256");
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      renameSync(incoming, path);
      onSaved();
    } finally {
      await rm(incoming, { force: true });
    }
  }

  open(oid: string, range: Partial<ByteRange> = {}): Readable {
    const path = this.#find(oid);
    if (path === undefined) throw mismatch(oid, "is not stored");
    // In the same tick, so that a missing file has an error before the response starts, and a file that is deleted later can be read.
    return createReadStream("", { ...range, fd: openSync(path, "r") });
  }

  delete(oid: string): void {
    const path = this.#find(oid);
    if (path !== undefined) rmSync(path, { force: true });
  }

  clear(): void {
    if (this.#folder === undefined) return;
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#isTemporary) this.#folder = undefined;
  }

  close(): void {
    if (this.#isTemporary) this.clear();
  }

  /** The path never contains text from a client other than a checked ID. */
  #find(oid: string): string | undefined {
    return this.#folder !== undefined && sha256.test(oid) ? pathOf(this.#folder, oid) : undefined;
  }

  #open(): string {
    this.#folder ??= mkdtempSync(join(tmpdir(), "hub-webhooks-files-"));
    const incoming = join(this.#folder, incomingName);
    // A killed process left these uploads. No other process uses the folder, because the state file is locked.
    if (!this.#isRecovered) rmSync(incoming, { recursive: true, force: true });
    this.#isRecovered = true;
    mkdirSync(incoming, { recursive: true, mode: 0o700 });
    return this.#folder;
  }
}

function pathOf(root: string, oid: string): string {
  return join(root, oid.slice(0, 2), oid);
}

function mismatch(oid: string, problem: string): WebhookError {
  return new WebhookError(`The file ${JSON.stringify(oid.slice(0, 64))} ${problem}.`, { code: "ARGUMENT_INVALID" });
}
