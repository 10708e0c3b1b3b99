import * as z from "zod";
import type { TestHub } from "./hub.ts";

/** A part of a file as a client sends it. */
export interface XetChunk {
  /** The bytes of the file. */
  content: Uint8Array;
  /** 0: none, 1: LZ4, 2: LZ4 of four groups of bytes. */
  scheme?: number;
  /** The compressed bytes. Default: the content. */
  stored?: Uint8Array;
}

/** A file in a shard: the xorb and the range of its chunks. */
export interface XetFile {
  hash: string;
  xorb: string;
  start: number;
  end: number;
  size: number;
}

const token = z.object({ accessToken: z.string(), exp: z.number(), casUrl: z.string() });
export type XetToken = z.output<typeof token>;

/** Returns a hash that consists of one digit. */
export function hashOf(digit: string): string {
  return digit.repeat(64);
}

/** Requests a token of a bucket. */
export async function requestToken(hub: TestHub, scope: "read" | "write", bucket = "me/store"): Promise<XetToken> {
  const { body, text } = await hub.request(`GET /api/buckets/${bucket}/xet-${scope}-token`);
  const { data } = token.safeParse(body);
  if (!data) throw new Error(text);
  return data;
}

export function toXorb(chunks: readonly XetChunk[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Buffer.concat(
      chunks.flatMap(({ content, scheme = 0, stored = content }) => {
        const header = Buffer.alloc(8);
        header.writeUIntLE(stored.byteLength, 1, 3);
        header.writeUInt8(scheme, 4);
        header.writeUIntLE(content.byteLength, 5, 3);
        return [header, stored];
      }),
    ),
  );
}

export function toShard(files: readonly XetFile[]): Uint8Array<ArrayBuffer> {
  const entry = (hash: string, numbers: readonly number[]) => {
    const bytes = Buffer.alloc(48);
    const parts = hash.match(/.{16}/g) ?? [];
    for (const [index, part] of parts.entries()) bytes.writeBigUInt64LE(BigInt(`0x${part}`), index * 8);
    for (const [index, value] of numbers.entries()) bytes.writeUInt32LE(value, 32 + index * 4);
    return bytes;
  };
  const bookend = Buffer.alloc(48).fill(0xff, 0, 32);
  const entries = files.flatMap(({ hash, xorb, start, end, size }) => [
    // Each file has a verification entry and a metadata entry.
    entry(hash, [0xc000_0000, 1]),
    entry(xorb, [0, size, start, end]),
    ...[Buffer.alloc(48), Buffer.alloc(48)],
  ]);
  return new Uint8Array(Buffer.concat([Buffer.alloc(48), ...entries, bookend, bookend]));
}

/** Sends a request to the storage of a bucket. */
export function callXet({ casUrl, accessToken }: XetToken, line: string, body?: Uint8Array<ArrayBuffer>) {
  const [method = "", path = ""] = line.split(" ");
  const headers = { authorization: `Bearer ${accessToken}` };
  return fetch(`${casUrl}${path}`, { method, headers, ...(body && { body }) });
}

/** Uploads a file of one xorb, which is not part of the bucket yet. */
export async function uploadXet(hub: TestHub, chunks: readonly XetChunk[], hash = hashOf("a")): Promise<void> {
  const write = await requestToken(hub, "write");
  const xorb = hashOf("9");
  const size = chunks.reduce((sum, { content }) => sum + content.byteLength, 0);
  await callXet(write, `POST /v1/xorbs/default/${xorb}`, toXorb(chunks));
  const shard = toShard([{ hash, xorb, start: 0, end: chunks.length, size }]);
  const { ok, status } = await callXet(write, "POST /v1/shards", shard);
  if (!ok) throw new Error(`The shard was answered with ${status}.`);
}
