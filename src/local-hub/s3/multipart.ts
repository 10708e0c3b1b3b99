import { createHash, randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { bodyOf, type ObjectStore, type ReceivedBody, type StoredObject, truncateBody } from "../store/object-store.ts";
import type { AppliedFaults } from "./faults.ts";
import { type BucketWrite, shortName, storeObject } from "./objects.ts";
import { readElements, S3Error, xmlResponse } from "./protocol.ts";

const maxParts = 10_000;
/** The minimum size of all parts but the last, in bytes. As on S3. */
const minPartBytes = 5 * 1024 * 1024;
const uploadMs = 24 * 60 * 60 * 1_000;
const maxUnfinishedBytes = 50 * 1024 ** 3;
/** The maximum number of uploads that are not complete, so that a list fits on one page. */
const maxUploads = 1_000;
const partsPerPage = 1_000;

const uploadRecord = z.object({
  key: z.string(),
  completed: z.optional(z.string()),
});

interface Upload {
  id: string;
  partsId: string;
  record: z.output<typeof uploadRecord>;
  contentType: string;
  startedAt: number;
}

interface MultipartRequest extends BucketWrite {
  request: Request;
  bucket: string;
  key: string | undefined;
  query: URLSearchParams;
  receive: () => Promise<ReceivedBody>;
}

/** A request whose body was received, but which is not executed yet. */
export interface PreparedRequest {
  keys: readonly string[];
  execute: (faults: AppliedFaults) => Response;
  /** The received body, which is deleted if the request does not store it. */
  body?: ReceivedBody | undefined;
}

/** Returns `undefined` for requests without parts. @throws `S3Error` if the upload does not exist, or the request is invalid. */
export async function prepareMultipart(multipart: MultipartRequest): Promise<PreparedRequest | undefined> {
  const { request, key, query } = multipart;
  const id = query.get("uploadId");
  if (key === undefined) {
    return query.has("uploads") ? { keys: [""], execute: () => listUploads(multipart) } : undefined;
  }
  if (request.method === "POST" && query.has("uploads")) {
    return { keys: [key], execute: () => createUpload(multipart, key) };
  }
  if (id === null) return undefined;
  switch (request.method) {
    case "PUT":
      return preparePart(multipart, { id, key });
    case "POST":
      return prepareCompletion(multipart, { id, key });
    case "DELETE":
      return { keys: [key], execute: () => abortUpload(multipart, { id, key }) };
    default:
      return { keys: [key], execute: () => listParts(multipart, { id, key }) };
  }
}

interface UploadName {
  id: string;
  key: string;
}

function createUpload({ hub, repository, bucket, request }: MultipartRequest, key: string): Response {
  const { objects } = hub.store;
  deleteExpired({ hub });
  const stored = objects.bucketIds("upload:");
  if (stored.length >= maxUploads) {
    // A completed upload only answers clients that complete it again.
    const completed = stored
      .flatMap((partsId) => readUpload(objects, partsId) ?? [])
      .filter(({ record }) => record.completed !== undefined);
    if (completed.length === 0) {
      throw new S3Error(
        "QuotaExceeded",
        `There are ${maxUploads} uploads that are not complete. Complete or abort uploads.`,
      );
    }
    for (const { partsId } of completed) objects.deleteFiles(objects.deleteBucket(partsId));
  }
  const id = randomUUID();
  const contentType = request.headers.get("content-type") ?? "application/octet-stream";
  saveRecord(objects, { partsId: partsIdOf(repository.id, id), record: { key }, contentType, startedAt: hub.now() });
  return xmlResponse("InitiateMultipartUploadResult", { Bucket: shortName(bucket), Key: key, UploadId: id });
}

async function preparePart(multipart: MultipartRequest, name: UploadName): Promise<PreparedRequest> {
  const { hub, query, receive, request } = multipart;
  const { objects } = hub.store;
  const number = Number(/^\d{1,5}$/.exec(query.get("partNumber") ?? "")?.[0]);
  if (!(number >= 1 && number <= maxParts)) {
    throw new S3Error("InvalidArgument", `Send "partNumber" as an integer from 1 to ${maxParts}.`);
  }
  if (request.headers.has("x-amz-copy-source")) {
    throw new S3Error("NotImplemented", "Copies are not supported. Upload the part.");
  }
  findUpload(multipart, name);
  deleteExpired(multipart);
  const unfinished = objects.bucketIds("upload:").reduce((sum, id) => sum + objects.totals(id).size, 0);
  if (unfinished + Number(request.headers.get("content-length") ?? 0) > maxUnfinishedBytes) {
    throw new S3Error(
      "QuotaExceeded",
      `The parts of all uploads have more than ${maxUnfinishedBytes} bytes. Complete or abort uploads.`,
    );
  }
  const body = await receive();
  return {
    keys: [name.key],
    body,
    execute: ({ isTorn }) => {
      const { partsId } = findUpload(multipart, name);
      const details = { contentType: "application/octet-stream", modifiedAt: hub.now() };
      const stored = isTorn ? truncateBody(body, Math.floor(body.size / 2)) : body;
      const { md5 } = objects.put({ bucketId: partsId, key: partKey(number) }, stored, details);
      return new Response(null, { headers: { etag: `"${md5}"`, "content-length": "0" } });
    },
  };
}

/** Joins the parts before the request is executed, because that takes time. The execution takes one tick. */
async function prepareCompletion(multipart: MultipartRequest, name: UploadName): Promise<PreparedRequest> {
  const { hub, request, bucket, receive } = multipart;
  const { objects } = hub.store;
  const upload = findUpload(multipart, name, { isCompleted: true });
  const sent = await receive();
  objects.discard(sent);
  const listed = readListedParts(Buffer.from(sent.content ?? []).toString());
  const digest = createHash("md5").update(Buffer.concat(listed.map(({ md5 }) => Buffer.from(md5, "hex"))));
  const tag = `${digest.digest("hex")}-${listed.length}`;
  const result = () =>
    xmlResponse("CompleteMultipartUploadResult", {
      ...{ Location: request.url.replace(/\?.*$/s, ""), Bucket: shortName(bucket), Key: name.key, ETag: `"${tag}"` },
    });
  // A client that lost the first response sends the request again.
  if (upload.record.completed === tag) return { keys: [name.key], execute: result };
  if (upload.record.completed !== undefined) throw noSuchUpload();
  const parts = findParts(objects, upload, listed);
  const isCompleted = () => readUpload(objects, upload.partsId)?.record.completed === tag;
  const body = await objects.receive(contentOf(objects, upload.partsId, parts)).catch((error: unknown) => {
    if (!isCompleted()) throw error;
    return undefined;
  });
  return {
    keys: [name.key],
    body,
    execute: ({ isConditionIgnored: areConditionsIgnored }) => {
      // A client that waited for too long sent the request again, and the other one was faster.
      if (!body || isCompleted()) return result();
      const { record, partsId, ...details } = findUpload(multipart, name);
      const { headers } = request;
      const { contentType } = details;
      const key = name.key;
      storeObject(multipart, { key, body: { ...body, md5: tag }, headers, areConditionsIgnored, contentType });
      objects.deleteFiles(objects.deleteBucket(partsId));
      saveRecord(objects, { ...details, partsId, record: { ...record, completed: tag } });
      return result();
    },
  };
}

function abortUpload(multipart: MultipartRequest, name: UploadName): Response {
  const { objects } = multipart.hub.store;
  objects.deleteFiles(objects.deleteBucket(findUpload(multipart, name).partsId));
  return new Response(null, { status: 204 });
}

function listParts(multipart: MultipartRequest, name: UploadName): Response {
  const { hub, bucket, query } = multipart;
  const { partsId } = findUpload(multipart, name);
  const after = readCount(query.get("part-number-marker")) ?? 0;
  const limit = Math.min(readCount(query.get("max-parts")) ?? partsPerPage, partsPerPage);
  const rest = [...hub.store.objects.list(partsId, { prefix: "part/", after: partKey(after) })];
  const page = rest.slice(0, limit);
  const next = page.at(-1);
  const isTruncated = rest.length > limit;
  return xmlResponse("ListPartsResult", {
    ...{ Bucket: shortName(bucket), Key: name.key, UploadId: name.id, PartNumberMarker: after, MaxParts: limit },
    // AWS's client for JavaScript requests pages until none has this marker.
    ...{ IsTruncated: isTruncated, NextPartNumberMarker: isTruncated ? numberOf(next) : undefined },
    Part: page.map((part) => ({
      ...{ PartNumber: numberOf(part), LastModified: new Date(part.modifiedAt).toISOString() },
      ...{ ETag: `"${part.md5}"`, Size: part.size },
    })),
  });
}

function listUploads(multipart: MultipartRequest): Response {
  const { hub, repository, bucket, query } = multipart;
  deleteExpired(multipart);
  const prefix = query.get("prefix") ?? "";
  const uploads = hub.store.objects
    .bucketIds(partsIdOf(repository.id, ""))
    .flatMap((partsId) => readUpload(hub.store.objects, partsId) ?? [])
    .filter(({ record }) => record.completed === undefined && record.key.startsWith(prefix))
    .sort((one, other) => (one.record.key < other.record.key ? -1 : 1));
  return xmlResponse("ListMultipartUploadsResult", {
    ...{ Bucket: shortName(bucket), Prefix: prefix, MaxUploads: maxUploads, IsTruncated: false },
    Upload: uploads.map(({ id, record, startedAt }) => ({
      ...{ Key: record.key, UploadId: id, Initiated: new Date(startedAt).toISOString(), StorageClass: "STANDARD" },
    })),
  });
}

/** @throws `S3Error` 404 if the bucket has no such upload, or it was completed, unless completed uploads are accepted. */
function findUpload(
  { hub, repository }: BucketWrite,
  { id, key }: UploadName,
  { isCompleted = false }: { isCompleted?: boolean } = {},
): Upload {
  const upload = readUpload(hub.store.objects, partsIdOf(repository.id, id));
  const isUsable = upload?.record.key === key && (isCompleted || upload.record.completed === undefined);
  if (upload && isUsable && hub.now() - upload.startedAt <= uploadMs) return upload;
  throw noSuchUpload();
}

function noSuchUpload(): S3Error {
  return new S3Error(
    "NoSuchUpload",
    "The upload does not exist. It was completed, aborted, or started more than a day ago. Start another upload.",
  );
}

const recordKey = "upload";

function readUpload(objects: ObjectStore, partsId: string): Upload | undefined {
  const object = objects.get({ bucketId: partsId, key: recordKey });
  if (!object) return undefined;
  const content = objects.read(partsId, object);
  if (!(content instanceof Uint8Array)) return undefined;
  const record = uploadRecord.parse(JSON.parse(Buffer.from(content).toString()));
  const id = partsId.slice(partsId.lastIndexOf(":") + 1);
  return { id, partsId, record, contentType: object.contentType, startedAt: object.modifiedAt };
}

function saveRecord(objects: ObjectStore, { partsId, record, contentType, startedAt }: Omit<Upload, "id">): void {
  const body = bodyOf(Buffer.from(JSON.stringify(record)));
  objects.put({ bucketId: partsId, key: recordKey }, body, { contentType, modifiedAt: startedAt });
}

/** Deletes the uploads of clients that disappeared, and the records of completed uploads. */
function deleteExpired({ hub }: Pick<BucketWrite, "hub">): void {
  const { objects } = hub.store;
  for (const partsId of objects.bucketIds("upload:")) {
    const upload = readUpload(objects, partsId);
    if (!upload || hub.now() - upload.startedAt > uploadMs) objects.deleteFiles(objects.deleteBucket(partsId));
  }
}

interface ListedPart {
  number: number;
  md5: string;
}

/** @throws `S3Error` 400 if the body lists no parts, or not in ascending order. */
function readListedParts(xml: string): ListedPart[] {
  const numbers = readElements(xml, "PartNumber") ?? [];
  const tags = readElements(xml, "ETag") ?? [];
  const parts = numbers.map((number, index) => ({
    number: Number(number),
    md5: (tags[index] ?? "").replaceAll('"', ""),
  }));
  if (parts.length === 0 || parts.length > maxParts || tags.length !== numbers.length) {
    throw new S3Error("MalformedXML", `Send from 1 to ${maxParts} parts, each with PartNumber and ETag.`);
  }
  if (parts.some(({ number }, index) => index > 0 && !(number > (parts[index - 1]?.number ?? 0)))) {
    throw new S3Error("InvalidPartOrder", "List the parts in ascending order of their numbers.");
  }
  return parts;
}

/** @throws `S3Error` 400 if a part was not uploaded, has another tag, or is too small. */
function findParts(objects: ObjectStore, { partsId }: Upload, listed: readonly ListedPart[]): StoredObject[] {
  return listed.map(({ number, md5 }, index) => {
    const part = objects.get({ bucketId: partsId, key: partKey(number) });
    if (!part || part.md5 !== md5) {
      throw new S3Error("InvalidPart", `Part ${number} was not uploaded, or has another ETag.`);
    }
    if (part.size < minPartBytes && index < listed.length - 1) {
      throw new S3Error(
        "EntityTooSmall",
        `Part ${number} has fewer than ${minPartBytes} bytes. Only the last part can be smaller.`,
      );
    }
    return part;
  });
}

async function* contentOf(objects: ObjectStore, bucketId: string, parts: readonly StoredObject[]) {
  for (const part of parts) {
    // The part can be replaced, or the upload aborted, in the meantime.
    const current = objects.get({ bucketId, key: part.key });
    if (!current || current.md5 !== part.md5) throw noSuchUpload();
    yield* objects.stream(bucketId, current);
  }
}

function partsIdOf(bucketId: string, uploadId: string): string {
  return `upload:${bucketId}:${uploadId}`;
}

function partKey(number: number): string {
  return `part/${String(number).padStart(5, "0")}`;
}

function numberOf(part: StoredObject | undefined): number {
  return Number(part?.key.slice("part/".length));
}

function readCount(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new S3Error("InvalidArgument", 'Send "part-number-marker" and "max-parts" as integers from 0.');
}
