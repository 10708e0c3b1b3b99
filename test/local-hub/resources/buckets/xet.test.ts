import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { contextOf } from "../../../../src/local-hub/hub-context.ts";
import { readChunks } from "../../../../src/local-hub/resources/buckets/xet-format.ts";
import { openBucket, readObject, xetHashOf } from "../../support/bucket.ts";
import { restart, stateFile, type TestHub } from "../../support/hub.ts";
import { jsonLines } from "../../support/repository-api.ts";
import { callXet, hashOf, requestToken, toShard, toXorb, uploadXet, type XetChunk } from "../../support/xet-client.ts";

function addFile(hub: TestHub, path: string, xetHash = hashOf("a")) {
  const text = jsonLines({ type: "addFile", path, xetHash, mtime: 1_000 });
  return hub.request("POST /api/buckets/me/store/batch", { text });
}

/** Creates a frame of LZ4 with one block. */
function toFrame(block: readonly number[], { isStored = false } = {}): Uint8Array {
  const head = Buffer.from("04224d186050fb00000000", "hex");
  head.writeUInt32LE((block.length | (isStored ? 0x8000_0000 : 0)) >>> 0, 7);
  return Buffer.concat([head, Buffer.from(block), Buffer.alloc(4)]);
}

const text = Buffer.from("abcdabcdabcdabcdabcdabcdabcdabcd!");
// 4 literals, and a match of 28 = 4 + 15 + 9 bytes that overlaps itself. Then 1 literal.
const repeated = toFrame([0x4f, ...Buffer.from("abcd"), 4, 0, 9, 0x10, ...Buffer.from("!")]);

/** The chunks of a file that is larger than the database stores. */
const largeFile = Array.from({ length: 12 }, () => ({ content: Buffer.alloc(100_000, "a") }));

describe("A file that is uploaded to Xet", () => {
  test.each<[string, XetChunk[]]>([
    ["without compression", [{ content: Buffer.from("hello ") }, { content: Buffer.from("world") }]],
    ["with LZ4", [{ content: text, scheme: 1, stored: repeated }]],
    ["with LZ4 that is not smaller", [{ content: text, scheme: 1, stored: toFrame([...text], { isStored: true }) }]],
    [
      "in groups",
      [{ content: Buffer.from("aabbccdde"), scheme: 2, stored: toFrame([0x90, ...Buffer.from("aceacbdbd")]) }],
    ],
  ])("is read with S3: %s", async (_title, chunks) => {
    const { hub, s3 } = await openBucket();
    await uploadXet(hub, chunks);
    expect((await addFile(hub, "file")).body).toEqual({ success: true, processed: 1, succeeded: 1, failed: [] });
    const expected = Buffer.concat(chunks.map(({ content }) => content));
    expect(await readObject(s3, "file")).toBe(expected.toString());
  });

  test("can be added under several names, of which one is deleted", async () => {
    const { hub, s3 } = await openBucket();
    await uploadXet(hub, largeFile);
    await addFile(hub, "one");
    await addFile(hub, "two");
    await hub.request("POST /api/buckets/me/store/batch", { text: jsonLines({ type: "deleteFile", path: "one" }) });
    expect(await readObject(s3, "two")).toHaveLength(1_200_000);
  });

  test("is refused if a xorb is missing or has fewer chunks, or if the size is wrong", async () => {
    const { hub } = await openBucket();
    const write = await requestToken(hub, "write");
    await callXet(write, `POST /v1/xorbs/default/${hashOf("9")}`, toXorb([{ content: Buffer.from("hello") }]));
    for (const wrong of [{ xorb: hashOf("8") }, { end: 2 }, { size: 4 }]) {
      const file = { hash: hashOf("a"), xorb: hashOf("9"), start: 0, end: 1, size: 5, ...wrong };
      expect((await callXet(write, "POST /v1/shards", toShard([file]))).status).toBe(400);
    }
    expect(await addFile(hub, "file")).toMatchObject({ status: 422, body: { failed: [{ path: "file" }] } });
    // At most 8,192 chunks.
    const xorb = toXorb(Array.from({ length: 8_193 }, () => ({ content: Buffer.from("x") })));
    expect((await callXet(write, `POST /v1/xorbs/default/${hashOf("9")}`, xorb)).status).toBe(413);
  });

  test("can be added until a day after a new upload area was opened, and not after a reset", async () => {
    let now = Date.now();
    const { hub } = await openBucket({ now: () => now });
    const day = 24 * 60 * 60 * 1_000;
    await uploadXet(hub, [{ content: text }]);
    now += 1.5 * day;
    await requestToken(hub, "write");
    expect((await addFile(hub, "file")).status).toBe(200);
    now += 1.5 * day;
    const { casUrl } = await requestToken(hub, "write");
    await hub.request("POST /api/buckets/me/store/batch", { text: jsonLines({ type: "deleteFile", path: "file" }) });
    expect((await addFile(hub, "file")).status).toBe(422);
    hub.hub.reset();
    hub.hub.createBucket("me/store");
    expect((await requestToken(hub, "write")).casUrl).not.toBe(casUrl);
  });

  test("can be uploaded with each of the first tokens that were requested at once", async () => {
    const { hub } = await openBucket({ overSocket: false });
    const [one, other] = await Promise.all([requestToken(hub, "write"), requestToken(hub, "write")]);
    expect(one.casUrl).toBe(other.casUrl);
  });

  test("leaves no file on the disk if it is not added to a bucket for two days, or until a restart", async () => {
    let now = Date.now();
    const state = stateFile();
    const { hub } = await openBucket({ state, now: () => now });
    const files = () => readdirSync(`${state}.objects`).length;
    await uploadXet(hub, largeFile);
    // The xorb and the file.
    expect(files()).toBe(2);
    for (const _day of [1, 2]) {
      now += 24 * 60 * 60 * 1_000;
      await requestToken(hub, "write");
    }
    expect(files()).toBe(0);
    await uploadXet(hub, largeFile);
    const later = await restart(hub, { state, overSocket: true });
    await requestToken(later, "write");
    expect(files()).toBe(0);
  });
});

function chunksOf(bytes: Uint8Array): Promise<Uint8Array[]> {
  return Readable.from(readChunks(Readable.from([bytes]))).toArray();
}

describe("Chunks", () => {
  const read = async (bytes: Uint8Array) => (await chunksOf(bytes)).map((chunk) => Buffer.from(chunk).toString());
  const one = toXorb([{ content: Buffer.from("one") }]);

  test("end at the footer of an old client", async () => {
    expect(await read(Buffer.concat([one, Buffer.from("XETBLOB and more")]))).toEqual(["one"]);
  });

  test.each<[string, Uint8Array]>([
    ["an incomplete chunk", one.subarray(0, 9)],
    ["another size", toXorb([{ content: text, scheme: 1, stored: toFrame([0x10, 33]) }])],
    ["an unknown compression", toXorb([{ content: text, scheme: 3 }])],
    ["a match before the start", toXorb([{ content: text, scheme: 1, stored: toFrame([0x10, 33, 9, 0]) }])],
    ["a match without an end", toXorb([{ content: text, scheme: 1, stored: toFrame([0x1f, 33, 1, 0, 255, 255]) }])],
    ["a block that is too long", toXorb([{ content: text, scheme: 1, stored: toFrame([0xf0, 33]) }])],
    ["no frame", toXorb([{ content: text, scheme: 1, stored: text }])],
    ["a large size", Buffer.from("00ffffff01ffffff", "hex")],
  ])("with %s are refused", async (_problem, bytes) => {
    await expect(read(bytes)).rejects.toMatchObject({ status: 400 });
  });
});

const reconstruction = z.object({
  offset_into_first_range: z.number(),
  terms: z.array(z.object({ hash: z.string(), unpacked_length: z.number() })),
  fetch_info: z.record(z.string(), z.tuple([z.object({ url: z.string(), url_range: z.object({ end: z.number() }) })])),
});

/** Downloads a file, or a range of it, like a client. */
async function download(hub: TestHub, xetHash: string, range?: string): Promise<Buffer> {
  const { casUrl, accessToken } = await requestToken(hub, "read");
  const response = await fetch(`${casUrl}/v1/reconstructions/${xetHash}`, {
    headers: { authorization: `Bearer ${accessToken}`, ...(range !== undefined && { range }) },
  });
  const { terms, fetch_info, offset_into_first_range } = reconstruction.parse(await response.json());
  const parts: Uint8Array[] = [];
  for (const { hash, unpacked_length } of terms) {
    const [{ url, url_range }] = fetch_info[hash] ?? [{ url: "", url_range: { end: 0 } }];
    const xorb = new Uint8Array(await (await fetch(url)).arrayBuffer());
    expect(xorb.byteLength).toBe(url_range.end + 1);
    const chunks = await chunksOf(xorb);
    expect(chunks.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBe(unpacked_length);
    parts.push(...chunks);
  }
  return Buffer.concat(parts).subarray(offset_into_first_range);
}

test("An object is downloaded from Xet in segments, and in part", { tags: "slow" }, async () => {
  const { hub } = await openBucket();
  const { objects, repositories } = contextOf(hub.hub).store;
  const bucketId = repositories.get({ type: "bucket", name: "me/store" })?.id ?? "";
  // The period is no multiple of a chunk, so that each part is at one place only. A segment has 33.5 MB.
  const content = Buffer.alloc(34_000_000, randomBytes(999_983));
  const body = await objects.receive(new Blob([content]).stream());
  const { xetHash } = objects.put({ bucketId, key: "large" }, body, { contentType: "text/plain", modifiedAt: 0 });
  expect(Buffer.compare(await download(hub, xetHash), content)).toBe(0);
  const part = await download(hub, xetHash, "bytes=33900000-33900009");
  expect(part.subarray(0, 10)).toEqual(content.subarray(33_900_000, 33_900_010));
});

test("A token for Xet gives access only to its bucket, for an hour, and a read token cannot write", async () => {
  let now = Date.now();
  const { hub, put } = await openBucket({ now: () => now });
  hub.hub.createBucket("me/other");
  await put("file");
  const xetHash = await xetHashOf(hub, "file");
  const statusOf = async (token: Parameters<typeof callXet>[0], line: string) =>
    (await callXet(token, line, line.startsWith("POST") ? toShard([]) : undefined)).status;
  const read = await requestToken(hub, "read");
  const line = `GET /v1/reconstructions/${xetHash}`;
  expect(await statusOf(read, line)).toBe(200);
  expect(await statusOf(await requestToken(hub, "read", "me/other"), line)).toBe(404);
  expect(await statusOf({ ...read, accessToken: "hf_local" }, line)).toBe(401);
  expect(await statusOf(read, "POST /v1/shards")).toBe(401);
  expect(await statusOf(await requestToken(hub, "write"), "POST /v1/shards")).toBe(200);
  expect(await statusOf(read, "POST /v2/shards")).toBe(404);
  now += 60 * 60 * 1_000 + 1;
  expect(await statusOf(read, line)).toBe(401);
});
