import type { HTTPException } from "hono/http-exception";
import { badRequest } from "../../error-response.ts";

/*
 * The formats of the Xet protocol: the chunks of a xorb, which contain the bytes of files, and the files of a shard, which consist of
 * ranges of chunks. Hashes are not checked, because Node has no BLAKE3.
 */

const headerBytes = 8;
const maxChunkBytes = 128 * 1024;

export function chunkHeader(size: number): Uint8Array {
  const header = Buffer.alloc(headerBytes);
  header.writeUIntLE(size, 1, 3);
  header.writeUIntLE(size, 5, 3);
  return header;
}

/** Ends at the footer, which old clients send. @throws `HTTPException` 400 if a chunk is invalid. */
export async function* readChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let buffer = Buffer.alloc(0);
  for await (const part of body) {
    buffer = Buffer.concat([buffer, part]);
    while (buffer.byteLength >= headerBytes && !isFooter(buffer)) {
      const stored = buffer.readUIntLE(1, 3);
      const size = buffer.readUIntLE(5, 3);
      if (buffer[0] !== 0 || size > maxChunkBytes || stored > 2 * maxChunkBytes) throw invalid("a chunk is too large");
      const end = headerBytes + stored;
      if (buffer.byteLength < end) break;
      yield decompress(buffer.subarray(headerBytes, end), { scheme: buffer[4] ?? 0, size });
      buffer = buffer.subarray(end);
    }
    if (isFooter(buffer)) return;
  }
  if (buffer.byteLength > 0) throw invalid("the last chunk is incomplete");
}

function isFooter(buffer: Buffer): boolean {
  return buffer.subarray(0, 7).toString("latin1") === "XETBLOB";
}

/** @param options.scheme 0: none, 1: LZ4, 2: LZ4 of four groups of bytes. */
function decompress(stored: Buffer, { scheme, size }: { scheme: number; size: number }): Uint8Array {
  if (scheme > 2) throw invalid(`the compression ${scheme} is unknown`);
  const data = scheme === 0 ? stored : decompressFrame(stored, size);
  if (data.byteLength !== size) throw invalid("a chunk has another size");
  return scheme === 2 ? joinGroups(data) : data;
}

/** Restores the order of bytes that are grouped by their position modulo 4. */
function joinGroups(grouped: Uint8Array): Uint8Array {
  const result = new Uint8Array(grouped.byteLength);
  let read = 0;
  for (const group of [0, 1, 2, 3]) {
    for (let index = group; index < result.byteLength; index += 4) result[index] = grouped[read++] ?? 0;
  }
  return result;
}

function decompressFrame(frame: Buffer, size: number): Uint8Array {
  const flags = frame[4] ?? 0;
  if (frame.byteLength < 7 || frame.readUInt32LE(0) !== 0x184d2204 || flags >> 6 !== 1) throw invalid("LZ4 is damaged");
  const [hasSize, hasBlockChecksums, hasDictionary] = [flags & 8, flags & 16, flags & 1];
  const result = Buffer.alloc(size);
  let position = 7 + (hasSize ? 8 : 0) + (hasDictionary ? 4 : 0);
  let written = 0;
  while (position + 4 <= frame.byteLength) {
    const head = frame.readUInt32LE(position);
    const blockSize = head & 0x7fff_ffff;
    if (head === 0) break;
    position += 4;
    const block = frame.subarray(position, position + blockSize);
    if (block.byteLength < blockSize) throw invalid("LZ4 is damaged");
    if (head >>> 31) written += block.copy(result, written);
    else written = decompressBlock(block, result, written);
    position += blockSize + (hasBlockChecksums ? 4 : 0);
  }
  return result.subarray(0, written);
}

/** Decompresses a block of LZ4 after the bytes that are already written, to which it can refer. Returns the new end. */
function decompressBlock(block: Uint8Array, result: Uint8Array, start: number): number {
  let [read, written] = [0, start];
  const readLength = (token: number): number => {
    let length = token;
    for (let more = token === 15 ? 255 : 0; more === 255; length += more) more = block[read++] ?? 0;
    return length;
  };
  while (read < block.byteLength) {
    const token = block[read++] ?? 0;
    const literals = readLength(token >> 4);
    if (read + literals > block.byteLength || written + literals > result.byteLength) throw invalid("LZ4 is damaged");
    result.set(block.subarray(read, read + literals), written);
    read += literals;
    written += literals;
    if (read >= block.byteLength) break;
    const offset = (block[read++] ?? 0) | ((block[read++] ?? 0) << 8);
    const length = readLength(token & 15) + 4;
    if (offset === 0 || offset > written || written + length > result.byteLength) throw invalid("LZ4 is damaged");
    // A match can overlap the bytes that it writes.
    for (const end = written + length; written < end; written += 1) result[written] = result[written - offset] ?? 0;
  }
  return written;
}

export interface ShardFile {
  hash: string;
  /** The ranges of chunks that contain the file. */
  terms: { xorb: string; start: number; end: number; size: number }[];
}

const entryBytes = 48;
const hasVerification = 0x8000_0000;
const hasMetadata = 0x4000_0000;

/** @throws `HTTPException` 400 if the shard is invalid. */
export function readShard(shard: Buffer): ShardFile[] {
  const files: ShardFile[] = [];
  for (let position = entryBytes; ; ) {
    if (position + entryBytes > shard.byteLength) throw invalid("the shard is incomplete");
    if (shard.subarray(position, position + 32).every((byte) => byte === 0xff)) return files;
    const flags = shard.readUInt32LE(position + 32);
    const count = shard.readUInt32LE(position + 36);
    const hash = readHash(shard, position);
    position += entryBytes;
    if (position + count * entryBytes > shard.byteLength) throw invalid("the shard is incomplete");
    const terms = Array.from({ length: count }, (_, index) => {
      const at = position + index * entryBytes;
      const [size, start, end] = [36, 40, 44].map((offset) => shard.readUInt32LE(at + offset));
      return { xorb: readHash(shard, at), size: size ?? 0, start: start ?? 0, end: end ?? 0 };
    });
    files.push({ hash, terms });
    position += entryBytes * (count * (flags & hasVerification ? 2 : 1) + (flags & hasMetadata ? 1 : 0));
  }
}

/** Formats a hash like the clients: as four little-endian numbers. */
function readHash(bytes: Buffer, position: number): string {
  const parts = [0, 8, 16, 24].map((offset) => bytes.readBigUInt64LE(position + offset));
  return parts.map((part) => part.toString(16).padStart(16, "0")).join("");
}

function invalid(problem: string): HTTPException {
  return badRequest(`The upload to Xet is invalid: ${problem}. Upload the file again.`);
}
