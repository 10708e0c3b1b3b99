import { createHash, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer, json } from "node:stream/consumers";
import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import * as z from "zod/mini";
import { streamOf } from "../../../core/fetch.ts";
import { badRequest, forbidden, notFound } from "../../error-response.ts";
import type { HubContext } from "../../hub-context.ts";
import { type ApiEnvironment, limitBytes } from "../../routes/route.ts";
import { bodyOf, type StoredObject } from "../../store/object-store.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import { readRange } from "../repositories/files.ts";
import { createSigner, type UrlSigner } from "../repositories/lfs.ts";
import { chunkHeader, readChunks, readShard, type ShardFile } from "./xet-format.ts";

/** The path of the storage for files of buckets. Uploads are streamed to disk, so that the limit for bodies does not apply to this path. */
export const xetPath = "/_xet/";

const tokenValidMs = 60 * 60 * 1_000;
const maxXorbChunks = 8 * 1024;
const maxShardBytes = 64 * 1024 * 1024;
const chunkBytes = 64 * 1024;
/** The chunks that a client downloads with one request. */
const segmentChunks = 512;
const segmentBytes = segmentChunks * chunkBytes;

const offsets = z.array(z.number());

/**
 * The Xet storage of buckets, with the part of its protocol that clients need to upload and download files. Files are stored as whole
 * objects, so that the S3 API reads them too, and objects that were uploaded with S3 can be downloaded from Xet: as segments of chunks
 * without compression.
 */
export class XetStorage {
  readonly #hub: HubContext;
  readonly #signer: UrlSigner;
  readonly #uploads: UploadArea;

  constructor(hub: HubContext) {
    this.#hub = hub;
    this.#signer = createSigner({ now: hub.now, validMs: tokenValidMs });
    this.#uploads = new UploadArea(hub);
  }

  issueToken({ id }: StoredRepository, scope: "read" | "write", origin: string) {
    const { expires, signature } = this.#signer.sign([scope, id]);
    return {
      accessToken: [scope, id, expires, signature].join("."),
      exp: Math.floor(Number(expires) / 1_000),
      casUrl: `${origin}${xetPath}${this.#uploads.open()}`,
    };
  }

  /** Returns the name of an uploaded file that was not added to a bucket yet. */
  findUpload(xetHash: string) {
    return this.#uploads.find(xetHash);
  }

  serve(app: Hono<ApiEnvironment>): void {
    const { objects } = this.#hub.store;
    const xet = new Hono<ApiEnvironment>().basePath(`${xetPath}:area`);
    xet.post("/v1/xorbs/:prefix/:hash", async (context) => {
      this.#checkToken(context, "write");
      const { area, hash } = context.req.param();
      await this.#uploads.saveXorb(this.#uploads.check(area), hash, context.req.raw.body ?? new Blob().stream());
      return context.json({ was_inserted: true });
    });
    xet.post("/v1/shards", async (context) => {
      this.#checkToken(context, "write");
      const message = `The shard has more than ${maxShardBytes} bytes.`;
      const tooLarge = () => new HTTPException(413, { message });
      const body = limitBytes(context.req.raw.body ?? new Blob().stream(), maxShardBytes, tooLarge);
      const files = readShard(await buffer(body));
      for (const file of files) await this.#uploads.saveFile(this.#uploads.check(context.req.param("area")), file);
      return context.json({ result: 1 });
    });
    xet.get("/v1/reconstructions/:hash", (context) => {
      const bucketId = this.#checkToken(context, "read");
      const object = objects.findByXetHash(bucketId, context.req.param("hash"));
      if (!object) throw notFound("The bucket has no file with this hash.");
      return this.#describe(context, bucketId, object);
    });
    xet.get("/files/:bucketId/:segment", (context) => this.#serveSegment(context));
    // Without a route, the token would be compared with those of users. Clients then use another version of the protocol.
    xet.all("/*", () => {
      throw notFound("The local Hub has no such chunk, and serves version 1 of the Xet API.");
    });
    app.route("/", xet);
  }

  /** Returns the ID of the bucket of a token. @throws `HTTPException` 401 if the token is not valid. */
  #checkToken(context: Context, required: "read" | "write"): string {
    const [, token = ""] = /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "") ?? [];
    const [scope, bucketId = "", expires = "", signature = ""] = token.split(".");
    const isSigned = this.#signer.verify([scope, bucketId], { expires, signature });
    if (isSigned && (scope === "write" || required === "read")) return bucketId;
    throw new HTTPException(401, { message: "The token for Xet is not valid. Request another token from the bucket." });
  }

  #describe(context: Context, bucketId: string, object: StoredObject): Response {
    const { key, size, xetHash } = object;
    const range = readRange(context.req.header("range"), { size });
    if (range === "unsatisfiable") throw new HTTPException(416, { message: "The file does not have this range." });
    const { start, end } = range === "whole" ? { start: 0, end: Math.max(0, size - 1) } : range;
    const first = Math.floor(start / segmentBytes);
    const segments = Array.from({ length: Math.floor(end / segmentBytes) - first + 1 }, (_, index) => {
      const segment = first + index;
      const length = Math.min(segmentBytes, size - segment * segmentBytes);
      const chunks = Math.ceil(length / chunkBytes);
      const { origin } = new URL(context.req.url);
      const query = new URLSearchParams({ key, ...this.#signer.sign([bucketId, key, segment]) });
      return {
        hash: createHash("sha256").update(`${xetHash} ${segment}`).digest("hex"),
        length,
        range: { start: 0, end: chunks },
        url: `${origin}${xetPath}${context.req.param("area")}/files/${bucketId}/${segment}?${query}`,
        url_range: { start: 0, end: length + chunks * chunkHeader(0).byteLength - 1 },
      };
    });
    return context.json({
      offset_into_first_range: start - first * segmentBytes,
      terms: segments.map(({ hash, length, range: chunks }) => ({ hash, unpacked_length: length, range: chunks })),
      fetch_info: Object.fromEntries(segments.map(({ hash, length: _length, ...info }) => [hash, [info]])),
    });
  }

  #serveSegment(context: Context): Response {
    const { objects } = this.#hub.store;
    const { key = "", expires = "", signature = "" } = context.req.query();
    const bucketId = context.req.param("bucketId") ?? "";
    const segment = Number(context.req.param("segment"));
    if (!this.#signer.verify([bucketId, key, segment], { expires, signature })) {
      throw forbidden("The URL is invalid or has expired. Request the file again.");
    }
    const object = objects.get({ bucketId, key });
    const start = segment * segmentBytes;
    if (!object || object.size <= start) throw notFound("The file was deleted or replaced.");
    const end = Math.min(object.size, start + segmentBytes) - 1;
    const total = end - start + 1 + Math.ceil((end - start + 1) / chunkBytes) * chunkHeader(0).byteLength;
    const body = toChunks(objects.stream(bucketId, object, { start, end }));
    const headers = { "content-length": String(total), "content-range": `bytes 0-${total - 1}/${total}` };
    return new Response(streamOf(Readable.from(body)), { status: 206, headers });
  }
}

/** The time after which uploads use another area. */
const areaMs = 24 * 60 * 60 * 1_000;

/**
 * Stores the xorbs that clients upload, and the files that consist of their chunks. Clients do not upload a chunk again to the same URL,
 * so an area is part of the URL, and lives for one to two days.
 */
class UploadArea {
  readonly #hub: HubContext;
  /** The newest area first. */
  #areas: { id: string; openedAt: number }[] = [];

  constructor(hub: HubContext) {
    this.#hub = hub;
  }

  /** Returns the ID of the area for new uploads, and deletes old areas. */
  open(): string {
    const { now, store } = this.#hub;
    const { objects } = store;
    const [newest] = this.#areas;
    const isStored = newest && objects.get({ bucketId: bucketIdOf(newest.id), key: "area" }) !== undefined;
    // A reset of the local Hub deletes the area.
    if (isStored && now() - newest.openedAt < areaMs) return newest.id;
    const area = { id: randomUUID(), openedAt: now() };
    this.#areas = [area, ...(isStored && now() - newest.openedAt < 2 * areaMs ? [newest] : [])];
    const kept = this.#areas.map(({ id }) => bucketIdOf(id));
    for (const bucketId of objects.bucketIds("xet:")) {
      if (!kept.includes(bucketId)) objects.deleteFiles(objects.deleteBucket(bucketId));
    }
    const details = { contentType: "application/octet-stream", modifiedAt: now() };
    // In the same tick, so that tokens that are requested at once have the same area.
    objects.put({ bucketId: bucketIdOf(area.id), key: "area" }, bodyOf(Buffer.alloc(0)), details);
    return area.id;
  }

  /** @throws `HTTPException` 404 if the area was deleted. */
  check(area: string): string {
    if (this.#areas.some(({ id }) => id === area)) return area;
    throw notFound("The upload took too long, or the local Hub was reset. Upload it again.");
  }

  find(xetHash: string): { bucketId: string; key: string; size: number } | undefined {
    const key = `file/${xetHash}`;
    for (const { id } of this.#areas) {
      const found = this.#hub.store.objects.get({ bucketId: bucketIdOf(id), key });
      if (found) return { bucketId: bucketIdOf(id), key, size: found.size };
    }
    return undefined;
  }

  /** Saves the bytes of all chunks, and the position at which each chunk starts. */
  async saveXorb(area: string, hash: string, body: AsyncIterable<Uint8Array>): Promise<void> {
    const starts = [0];
    async function* decompressed() {
      for await (const chunk of readChunks(body)) {
        if (starts.length > maxXorbChunks) {
          throw new HTTPException(413, { message: `The xorb has more than ${maxXorbChunks} chunks.` });
        }
        starts.push((starts.at(-1) ?? 0) + chunk.byteLength);
        yield chunk;
      }
    }
    await this.#save(area, `xorb/${hash}`, decompressed());
    await this.#save(area, `chunks/${hash}`, [Buffer.from(JSON.stringify(starts))]);
  }

  /** @throws `HTTPException` 400 if the chunks of the file were not uploaded. */
  async saveFile(area: string, { hash, terms }: ShardFile): Promise<void> {
    const { objects } = this.#hub.store;
    const bucketId = bucketIdOf(area);
    async function* content() {
      for (const { xorb, start, end, size } of terms) {
        const object = objects.get({ bucketId, key: `xorb/${xorb}` });
        const index = objects.get({ bucketId, key: `chunks/${xorb}` });
        if (!object || !index) throw missingChunks(xorb);
        const starts = offsets.parse(await json(objects.stream(bucketId, index)));
        const [from, to] = [starts[start], starts[end]];
        if (from === undefined || to === undefined || to - from !== size) throw missingChunks(xorb);
        yield* objects.stream(bucketId, object, { start: from, end: to - 1 });
      }
    }
    await this.#save(area, `file/${hash}`, content(), hash);
  }

  async #save(area: string, key: string, body: AsyncIterable<Uint8Array> | Uint8Array[], xetHash?: string) {
    const { now, store } = this.#hub;
    const received = await store.objects.receive(Readable.from(body));
    const details = { contentType: "application/octet-stream", modifiedAt: now() };
    store.objects.put({ bucketId: bucketIdOf(area), key }, received, { ...details, ...(xetHash && { xetHash }) });
  }
}

function bucketIdOf(area: string): string {
  return `xet:${area}`;
}

function missingChunks(xorb: string): HTTPException {
  const message = `The chunks of the xorb "${xorb}" were not uploaded. Delete the cache of hf_xet (~/.cache/huggingface/xet), and upload the file again.`;
  return badRequest(message);
}

/** Splits a body into chunks of a xorb without compression. */
async function* toChunks(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let buffer = Buffer.alloc(0);
  for await (const part of body) {
    buffer = Buffer.concat([buffer, part]);
    for (; buffer.byteLength >= chunkBytes; buffer = buffer.subarray(chunkBytes)) {
      yield Buffer.concat([chunkHeader(chunkBytes), buffer.subarray(0, chunkBytes)]);
    }
  }
  if (buffer.byteLength > 0) yield Buffer.concat([chunkHeader(buffer.byteLength), buffer]);
}
