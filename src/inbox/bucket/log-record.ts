import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import * as z from "zod";

/** The process that owns an inbox. */
export const ownerSchema = z.object({
  /** The Space, such as `me/receiver`. Missing outside a Space. */
  spaceId: z.optional(z.string()),
  host: z.string(),
  pid: z.number(),
  /** When the process opened the inbox, in ISO 8601 format. */
  startedAt: z.string(),
});

export type Owner = z.infer<typeof ownerSchema>;

const headerSchema = z.object({
  number: z.number().check(z.int(), z.positive()),
  /**
   * `takeover`: a process has become the owner. `changes`: the changes of a transaction. `gap`: the changes of a transaction that
   * records unreadable records.
   */
  kind: z.enum(["takeover", "changes", "gap"]),
  /** A UUID of the process that wrote the record. */
  writer: z.string(),
  encoding: z.enum(["identity", "gzip"]),
  /** The size of the body after decoding, in bytes. */
  bytes: z.number().check(z.int(), z.nonnegative()),
  /** The new owner. Only in `takeover` records. */
  owner: z.optional(ownerSchema),
  /** The schema version of the writer's database. */
  schemaVersion: z.optional(z.number()),
});

/** A record of the log. The body of `changes` and `gap` records is a SQLite changeset. Other records have no body. */
export type LogRecord = Omit<z.infer<typeof headerSchema>, "encoding" | "bytes"> & { body: Uint8Array };

/** The first line of a record. The checksum covers all bytes after this line. */
const firstLine = /^hub-webhooks-log 1 ([0-9a-f]{64})$/;
/** The length of the first line without its newline, in bytes. */
const firstLineBytes = "hub-webhooks-log 1 ".length + 64;
/** Smaller bodies are not compressed, because compression would save less than one kilobyte. */
const minCompressedBytes = 1_024;
/** The maximum size of a decoded body, so that a damaged record cannot fill the memory. */
const maxBodyBytes = 512 * 2 ** 20;
const newline = 0x0a;

const compress = promisify(gzip);
const decompress = promisify(gunzip);

/** Returns the bytes of a record. */
export async function encodeRecord({ body, ...fields }: LogRecord): Promise<Uint8Array> {
  const isCompressed = body.length >= minCompressedBytes;
  // The fastest level: payloads are JSON, which all levels compress well.
  const content = isCompressed ? await compress(body, { level: 1 }) : body;
  const header = { ...fields, encoding: isCompressed ? ("gzip" as const) : ("identity" as const), bytes: body.length };
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(headerSchema.parse(header))}\n`), content]);
  return Buffer.concat([Buffer.from(`hub-webhooks-log 1 ${sha256(rest)}\n`), rest]);
}

/** Returns the record, or `undefined` if the bytes are not a complete and undamaged record. */
export async function decodeRecord(bytes: Uint8Array): Promise<LogRecord | undefined> {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checksum = firstLine.exec(all.toString("latin1", 0, firstLineBytes))?.[1];
  const rest = all.subarray(firstLineBytes + 1);
  if (checksum === undefined || all[firstLineBytes] !== newline || sha256(rest) !== checksum) return undefined;
  const headerEnd = rest.indexOf(newline);
  try {
    const { encoding, bytes: size, ...fields } = headerSchema.parse(JSON.parse(rest.toString("utf8", 0, headerEnd)));
    const content = rest.subarray(headerEnd + 1);
    const body = encoding === "gzip" ? await decompress(content, { maxOutputLength: maxBodyBytes }) : content;
    return body.length === size ? { ...fields, body } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether two records have the same writer and the same content. */
export function isSameRecord(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
