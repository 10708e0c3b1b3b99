import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import * as z from "zod/mini";
import { streamOf } from "../../core/fetch.ts";
import type { Caller } from "../accounts.ts";
import type { HubContext } from "../hub-context.ts";
import { readRange } from "../resources/repositories/files.ts";
import { createSigner } from "../resources/repositories/lfs.ts";
import { canRead, checkNamespaceAccess } from "../routes/repository-access.ts";
import { type ApiEnvironment, limitBytes } from "../routes/route.ts";
import { type ObjectStore, type ReceivedBody, type StoredObject, truncateBody } from "../store/object-store.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import type { AppliedFaults, BucketOperation } from "./faults.ts";
import { type PreparedRequest, prepareMultipart } from "./multipart.ts";
import { deleteObject, deleteObjects, findKeyProblem, listObjects, putObject, readDeletedKeys } from "./objects.ts";
import { S3Error, s3ErrorResponse, s3Region, toS3Error, verifySignature } from "./protocol.ts";

/** The path of the S3 API. Bodies are streamed to disk, so that the limit for bodies does not apply to this path. */
export const s3Path = "/s3/";

interface VerifiedRequest extends S3Request {
  hub: HubContext;
  downloads: ReturnType<typeof createDownloads>;
  request: Request;
  caller: Caller;
  repository: StoredRepository;
}

/** Serves the S3 API of buckets, at URLs such as `/s3/NAMESPACE/BUCKET/KEY`. Errors are XML with the codes of S3. */
export function s3Gateway(hub: HubContext): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  const downloads = createDownloads(hub);
  app.get(`${downloadPath}:bucketId`, (context) => downloads.serve(context.req.raw));
  app.all(`${s3Path}*`, async (context) => {
    const { raw: request } = context.req;
    const caller = await verifySignature(request, { now: hub.now() });
    const read = readS3Request(request);
    const repository = findBucket(hub, read, caller);
    const prepared = await prepare({ ...read, hub, downloads, request, caller, repository });
    try {
      const faults = hub.bucketFaults.take({
        ...{ operation: read.operation, bucket: read.bucket, keys: prepared.keys },
        isConditional: request.headers.has("if-none-match") || request.headers.has("if-match"),
      });
      const isOpen = await hub.bucketFaults.wait(faults.latencyMs);
      const { error } = faults;
      // The bucket can be deleted while the body arrives.
      const isStored = hub.store.repositories.get(repository)?.id === repository.id;
      if (error && !(error.isExecuted && isOpen && isStored)) throw faultError(error);
      if (!isOpen) throw new S3Error("SlowDown", "The local Hub is shutting down.");
      if (!isStored) throw noSuchBucket(read);
      const response = prepared.execute(faults);
      // Without a reader, the file of a large object would stay open.
      if (faults.isAnswerLost || error) await response.body?.cancel();
      if (faults.isAnswerLost) return closeConnection(context);
      if (error) throw faultError(error);
      response.headers.set("date", new Date(hub.now()).toUTCString());
      return response;
    } finally {
      if (prepared.body) hub.store.objects.discard(prepared.body);
    }
  });
  app.onError((error, { req: { method } }) => {
    const known = toS3Error(error);
    if (known) return s3ErrorResponse(known, method);
    hub.log.error({ err: error }, "A request to the S3 API of the local Hub failed with an unexpected error.");
    const message = "The local Hub failed. See the log of the local Hub for the cause.";
    return s3ErrorResponse(new S3Error("InternalError", message), method);
  });
  return app;
}

/** @throws `S3Error` 404 if the caller cannot read the bucket. `HTTPException` 403 if the caller cannot write to it. */
function findBucket({ store }: HubContext, { operation, bucket }: S3Request, caller: Caller): StoredRepository {
  const repository = store.repositories.get({ type: "bucket", name: bucket });
  if (!repository || !canRead(store, repository, caller)) throw noSuchBucket({ bucket });
  if (operation === "PUT" || operation === "DELETE") {
    checkNamespaceAccess(store, caller, bucket.slice(0, bucket.indexOf("/")));
  }
  return repository;
}

function noSuchBucket({ bucket }: Pick<S3Request, "bucket">): S3Error {
  return new S3Error("NoSuchBucket", `The bucket "${bucket}" does not exist, or the access key cannot read it.`);
}

async function prepare(verified: VerifiedRequest): Promise<PreparedRequest> {
  const { operation, key, hub } = verified;
  const { objects } = hub.store;
  const receive = () => receiveBody(objects, verified.request);
  const multipart = await prepareMultipart({ ...verified, receive });
  if (multipart) return multipart;
  if (operation === "LIST") {
    const { bucket, query, repository } = verified;
    return { keys: [query.get("prefix") ?? ""], execute: () => listObjects(objects, bucket, repository.id, query) };
  }
  if (operation === "PUT" && key !== undefined) return preparePut(verified, key);
  if (operation === "DELETE") return prepareDelete(verified);
  return { keys: key === undefined ? [] : [key], execute: (faults) => readObject(verified, faults) };
}

async function preparePut(verified: VerifiedRequest, key: string): Promise<PreparedRequest> {
  const { hub, request } = verified;
  const { headers } = request;
  const { objects } = hub.store;
  if (headers.has("x-amz-copy-source")) {
    throw new S3Error("NotImplemented", "Copies are not supported. Upload the object.");
  }
  const received = await receiveBody(objects, request);
  return {
    keys: [key],
    body: received,
    execute: ({ isTorn, isConditionIgnored }) => {
      const body = isTorn ? truncateBody(received, Math.floor(received.size / 2)) : received;
      return putObject(verified, { key, body, headers, areConditionsIgnored: isConditionIgnored });
    },
  };
}

async function prepareDelete(verified: VerifiedRequest): Promise<PreparedRequest> {
  const { hub, key, request } = verified;
  if (key !== undefined) return { keys: [key], execute: () => deleteObject(verified, key) };
  const received = await receiveBody(hub.store.objects, request);
  hub.store.objects.discard(received);
  const xml = Buffer.from(received.content ?? []).toString();
  const keys = readDeletedKeys(xml);
  return { keys, execute: () => deleteObjects(verified, { keys, xml }) };
}

function readObject(verified: VerifiedRequest, { redirectTo }: AppliedFaults): Response {
  const { hub, downloads, request, repository, key } = verified;
  const { objects } = hub.store;
  const bucketId = repository.id;
  // HeadBucket
  if (key === undefined) return new Response(null, { headers: { "x-amz-bucket-region": s3Region } });
  const object = objects.get({ bucketId, key });
  if (!object) throw new S3Error("NoSuchKey", "The key does not exist.");
  if (redirectTo !== undefined) return downloads.redirect(bucketId, key, redirectTo);
  return objectResponse(objects, object, bucketId, request);
}

function faultError({ status, code, retryAfterSeconds }: NonNullable<AppliedFaults["error"]>): S3Error {
  return new S3Error(
    code ?? (status === 503 ? "SlowDown" : "InternalError"),
    "The local Hub failed this request on request.",
    {
      status,
      ...(retryAfterSeconds !== undefined && { headers: { "retry-after": String(retryAfterSeconds) } }),
    },
  );
}

/** The response of Node, which only requests over a socket have. */
const bindings = z.object({
  outgoing: z.custom<{ destroy: () => void }>(
    (value) => typeof value === "object" && value !== null && "destroy" in value && typeof value.destroy === "function",
  ),
});

/** Sends no response. @throws `S3Error` 500 if the request did not come over a socket. */
function closeConnection({ env }: Context<ApiEnvironment>): Response {
  const { data } = bindings.safeParse(env);
  if (!data) throw new S3Error("InternalError", "The request was executed, but its answer was lost.");
  data.outgoing.destroy();
  return RESPONSE_ALREADY_SENT;
}

type S3Request = ReturnType<typeof readS3Request>;

const unsupportedParameters = [
  ...["acl", "attributes", "cors", "encryption", "legal-hold", "lifecycle", "location", "logging", "notification"],
  ...["object-lock", "policy", "replication", "restore", "retention", "select", "tagging", "torrent"],
  ...["versionId", "versioning", "versions", "website"],
];

/** Operations on the bucket itself have no key. @throws `S3Error` if the operation is not supported or the key is invalid. */
function readS3Request({ method, url }: Request) {
  const { pathname, searchParams: query } = new URL(url);
  const [, path = ""] = /^\/s3\/(.*)$/s.exec(pathname) ?? [];
  const [namespace = "", bucket = "", ...keyParts] = decodePath(path).split("/");
  const key = keyParts.length === 0 || (keyParts.length === 1 && keyParts[0] === "") ? undefined : keyParts.join("/");
  const isPart = query.has("uploadId");
  const unsupported = [...unsupportedParameters, ...(isPart ? [] : ["partNumber"])].find((name) => query.has(name));
  if (unsupported !== undefined) {
    throw new S3Error("NotImplemented", `The parameter "${unsupported}" is not supported.`);
  }
  if (namespace === "" || bucket === "") {
    throw new S3Error("NotImplemented", "Use a URL such as /s3/NAMESPACE/BUCKET/KEY.");
  }
  const problem = key === undefined ? undefined : findKeyProblem(key);
  if (problem !== undefined) {
    throw new S3Error("InvalidArgument", `The key ${problem}. Choose another key.`);
  }
  return { operation: findOperation(method, key, query), bucket: `${namespace}/${bucket}`, key, query };
}

function findOperation(method: string, key: string | undefined, query: URLSearchParams): BucketOperation {
  if (method === "HEAD") return "HEAD";
  if (key !== undefined && method === "POST" && (query.has("uploads") || query.has("uploadId"))) return "PUT";
  if (method === "GET" && query.has(key === undefined ? "uploads" : "uploadId")) return "LIST";
  if (key !== undefined && (method === "GET" || method === "PUT" || method === "DELETE")) return method;
  if (key === undefined && method === "POST" && query.has("delete")) return "DELETE";
  if (key !== undefined || method !== "GET") {
    throw new S3Error("MethodNotAllowed", `The local Hub does not support ${method} for this resource.`);
  }
  if (query.get("list-type") === "2") return "LIST";
  throw new S3Error("NotImplemented", "Use ListObjectsV2: add list-type=2 to the query.");
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new S3Error("InvalidURI", "The path is not valid UTF-8 with percent-encoding.");
  }
}

/** The maximum size of an object that is uploaded with one request, in bytes. As on S3. */
const maxObjectBytes = 5 * 1024 ** 3;

const unsignedPayload = "UNSIGNED-PAYLOAD";
const sha256 = /^[\da-f]{64}$/;

/** The headers with checksums that are compared with the body, in Base64. Other checksums are ignored. */
const checksums = {
  "x-amz-checksum-crc32": ({ crc32 }: ReceivedBody) => crc32,
  "x-amz-checksum-sha256": ({ sha256: digest }: ReceivedBody) => digest,
};

/**
 * Receives the body of a signed request, and compares it with the hashes in the headers.
 *
 * @throws `S3Error` 400 if the body does not match a header, 413 if it is too large, 501 if it has trailing checksums.
 */
async function receiveBody(objects: ObjectStore, { headers, body }: Request): Promise<ReceivedBody> {
  const expected = headers.get("x-amz-content-sha256") ?? "";
  if (expected.startsWith("STREAMING-") || /\baws-chunked\b/.test(headers.get("content-encoding") ?? "")) {
    throw new S3Error(
      "NotImplemented",
      'Chunked uploads with trailing checksums are not supported. Set the option request_checksum_calculation of the client to "when_required".',
    );
  }
  if (expected !== unsignedPayload && !sha256.test(expected)) {
    throw new S3Error(
      "InvalidArgument",
      `Send "x-amz-content-sha256" with the SHA-256 of the body, or with ${unsignedPayload}.`,
    );
  }
  const length = headers.get("content-length");
  if (Number(length ?? 0) > maxObjectBytes) throw tooLarge();
  const received = await objects.receive(limitBytes(body ?? new Blob().stream(), maxObjectBytes, tooLarge));
  try {
    checkBody(received, expected, length, headers.get("content-md5"));
    for (const [name, digestOf] of Object.entries(checksums)) {
      const sent = headers.get(name);
      if (sent !== null && Buffer.from(sent, "base64").toString("hex") !== digestOf(received)) {
        throw new S3Error("BadDigest", `The body does not match "${name}".`);
      }
    }
    return received;
  } catch (error) {
    objects.discard(received);
    throw error;
  }
}

function checkBody(received: ReceivedBody, expected: string, length: string | null, md5: string | null): void {
  if (length !== null && Number(length) !== received.size) {
    throw new S3Error("IncompleteBody", `The body has ${received.size} bytes instead of ${length}.`);
  }
  if (expected !== unsignedPayload && expected !== received.sha256) {
    throw new S3Error("XAmzContentSHA256Mismatch", 'The body does not match "x-amz-content-sha256".');
  }
  if (md5 === null) return;
  const digest = Buffer.from(md5, "base64");
  if (digest.byteLength !== 16) {
    throw new S3Error("InvalidDigest", 'Send "content-md5" as base64 of 16 bytes.');
  }
  if (digest.toString("hex") !== received.md5) {
    throw new S3Error("BadDigest", 'The body does not match "content-md5".');
  }
}

function tooLarge(): S3Error {
  return new S3Error("EntityTooLarge", `The body has more than ${maxObjectBytes} bytes.`);
}

/** The path to which the fault `redirect` redirects. */
const downloadPath = "/_downloads/";

/** Redirects downloads, as the Hub does to its content delivery network. The signed URLs are valid for a minute. */
function createDownloads({ hubUrl, now, store: { objects } }: HubContext) {
  const signer = createSigner({ now, validMs: 60_000 });
  return {
    /** Creates a redirect to an object: to another origin of the local Hub, or to another path. */
    redirect(bucketId: string, key: string, to: "path" | "origin"): Response {
      const url = new URL(`${downloadPath}${bucketId}`, hubUrl);
      // The server listens on 127.0.0.1, for which "localhost" is a name with another origin.
      if (to === "origin") url.hostname = "localhost";
      url.search = String(new URLSearchParams({ key, ...signer.sign([bucketId, key]) }));
      return new Response(null, { status: 302, headers: { location: url.href } });
    },
    /** @throws `S3Error` if the URL is invalid or has expired, or the request is also signed with an access key. */
    serve(request: Request): Response {
      const { pathname, searchParams } = new URL(request.url);
      const bucketId = pathname.slice(downloadPath.length);
      const { key = "", expires = "", signature = "" } = Object.fromEntries(searchParams);
      if (request.headers.has("authorization")) {
        const message =
          'Only one authentication mechanism is allowed. Follow the redirect without the header "authorization".';
        throw new S3Error("InvalidArgument", message);
      }
      if (!signer.verify([bucketId, key], { expires, signature })) {
        throw new S3Error("AccessDenied", "The URL is invalid or has expired. Request the object again.");
      }
      const object = objects.get({ bucketId, key });
      if (object) return objectResponse(objects, object, bucketId, request);
      throw new S3Error("NoSuchKey", "The key does not exist.");
    },
  };
}

/** Ignores conditions, like the Hub. @throws `S3Error` 416 if the object does not have the range. */
export function objectResponse(objects: ObjectStore, object: StoredObject, bucketId: string, request: Request) {
  const { size, md5, contentType, modifiedAt } = object;
  const range = readRange(request.headers.get("range") ?? undefined, { size });
  if (range === "unsatisfiable") {
    const headers = { "content-range": `bytes */${size}` };
    throw new S3Error("InvalidRange", "The object does not have this range.", { headers });
  }
  const { start, end } = range === "whole" ? { start: 0, end: size - 1 } : range;
  const headers = {
    "accept-ranges": "bytes",
    "content-type": contentType,
    "content-length": String(end - start + 1),
    etag: `"${md5}"`,
    "last-modified": new Date(modifiedAt).toUTCString(),
    // Objects come from any user and have the same origin as the page of the local Hub, so browsers must not run scripts in them.
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    ...(range !== "whole" && { "content-range": `bytes ${start}-${end}/${size}` }),
  };
  const status = range === "whole" ? 200 : 206;
  if (request.method === "HEAD") return new Response(null, { status, headers });
  const content = objects.read(bucketId, object, { start, end });
  const body = content instanceof Uint8Array ? new Uint8Array(content) : streamOf(content);
  return new Response(body, { status, headers });
}
