import type { Caller } from "../accounts.ts";
import { publishChange } from "../events/publish-change.ts";
import type { UpdatedFile } from "../events/repository-change.ts";
import type { HubContext } from "../hub-context.ts";
import type { FeedChange } from "../resources/buckets/bucket-feed.ts";
import { listsTag } from "../resources/repositories/files.ts";
import type { ObjectStore, ReceivedBody, StoredObject } from "../store/object-store.ts";
import type { StoredRepository } from "../store/repository-store.ts";
import { readElements, S3Error, xmlResponse } from "./protocol.ts";

const maxDeletedKeys = 1_000;

export interface BucketWrite {
  hub: HubContext;
  repository: StoredRepository;
  caller: Caller;
}

export function putObject(write: BucketWrite, request: PutRequest): Response {
  const { md5 } = storeObject(write, request);
  return new Response(null, { headers: { etag: `"${md5}"`, "content-length": "0" } });
}

/**
 * Stores a received body as an object, and fires `repo.content` update. The conditions are checked and the object is stored in one
 * tick, so that exactly one of several concurrent requests with `If-None-Match: *` succeeds.
 *
 * @throws `S3Error` 412 if a condition does not hold, 404 if `If-Match` names a missing object.
 */
export function storeObject(write: BucketWrite, request: PutRequest): StoredObject {
  const { key, body, headers, areConditionsIgnored } = request;
  const { hub, repository } = write;
  const { objects } = hub.store;
  const name = { bucketId: repository.id, key };
  const before = objects.get(name);
  if (!areConditionsIgnored) checkConditions(headers, before);
  const contentType = request.contentType ?? headers.get("content-type") ?? "application/octet-stream";
  const object = objects.put(name, body, { contentType, modifiedAt: hub.now() });
  publishFiles(write, [{ path: key, object, isNew: before === undefined }]);
  return object;
}

interface PutRequest {
  key: string;
  body: ReceivedBody;
  headers: Headers;
  areConditionsIgnored: boolean;
  contentType?: string;
}

function checkConditions(headers: Headers, before: StoredObject | undefined): void {
  const tag = before && `"${before.md5}"`;
  const ifMatch = headers.get("if-match");
  if (ifMatch !== null && tag === undefined) {
    throw new S3Error("NoSuchKey", "The object of the condition If-Match does not exist.");
  }
  if (ifMatch !== null && tag !== undefined && !listsTag(ifMatch, tag)) throw conditionFailed("If-Match");
  if (tag !== undefined && listsTag(headers.get("if-none-match") ?? undefined, tag)) {
    throw conditionFailed("If-None-Match");
  }
}

function conditionFailed(name: string): S3Error {
  return new S3Error("PreconditionFailed", `The condition ${name} did not hold.`);
}

/** Deletes an object, and fires `repo.content` update. A missing object is not an error. */
export function deleteObject(write: BucketWrite, key: string): Response {
  deleteKeys(write, [key]);
  return new Response(null, { status: 204 });
}

/** @throws `S3Error` 400 if the body contains no keys, too many, or an invalid character reference. */
export function readDeletedKeys(xml: string): string[] {
  const keys = readElements(xml, "Key");
  if (keys && keys.length > 0 && keys.length <= maxDeletedKeys) return keys;
  throw new S3Error("MalformedXML", `Send from 1 to ${maxDeletedKeys} keys, with valid character references.`);
}

export function deleteObjects(write: BucketWrite, { keys, xml }: { keys: readonly string[]; xml: string }): Response {
  const valid = keys.filter((key) => findKeyProblem(key) === undefined);
  const invalid = keys.filter((key) => !valid.includes(key));
  deleteKeys(write, valid);
  const isQuiet = readElements(xml, "Quiet")?.includes("true") ?? false;
  const result = {
    Deleted: isQuiet ? [] : valid.map((key) => ({ Key: key })),
    Error: invalid.map((key) => ({ Key: key, Code: "InvalidArgument", Message: `The key ${findKeyProblem(key)}.` })),
  };
  return xmlResponse("DeleteResult", result, { hasNamespace: false });
}

function deleteKeys(write: BucketWrite, keys: readonly string[]): void {
  const { hub, repository } = write;
  const deleted = keys.filter((key) => hub.store.objects.delete({ bucketId: repository.id, key }));
  const changes = deleted.map((path) => ({ path }));
  if (changes.length > 0) publishFiles(write, changes);
}

/** A changed file. Without an object, the file was deleted. */
export interface FileChange {
  path: string;
  object?: StoredObject;
  /** Whether the bucket did not have the file before. */
  isNew?: boolean;
}

/** Reports changed files to the streams of the bucket, and fires `repo.content` update once. */
export function publishFiles({ hub, repository, caller }: BucketWrite, changes: readonly FileChange[]): void {
  hub.bucketFeed.publish(repository.id, changes.map(toFeedChange));
  const updatedFiles = changes.map(({ path, object }): UpdatedFile => {
    if (!object) return { path, action: "delete" };
    return { path, action: "add", xetHash: object.xetHash, size: object.size };
  });
  publishChange(hub, {
    ...{ scope: "repo.content", action: "update", user: caller.user },
    ...{ before: repository, after: repository, updatedFiles },
  });
}

function toFeedChange({ path, object, isNew = false }: FileChange): FeedChange {
  if (!object) return { path, op: "delete" };
  const { size, xetHash, modifiedAt, mtime } = object;
  return {
    ...{ path, op: isNew ? "add" : "update", size, xetHash, uploadedAt: new Date(modifiedAt).toISOString() },
    mtime: mtime === undefined ? null : new Date(mtime).toISOString(),
  };
}

const maxKeyBytes = 1_024;

/** `undefined` if the key is valid. The rules are those of the Hub's Storage Buckets. */
export function findKeyProblem(key: string): string | undefined {
  if (Buffer.byteLength(key) > maxKeyBytes) return `has more than ${maxKeyBytes} bytes`;
  if (key.startsWith("/") || key.endsWith("/")) return 'starts or ends with "/"';
  const invalid = ["//", "../", "\\", "\0"].find((part) => key.includes(part));
  return invalid === undefined ? undefined : `contains ${JSON.stringify(invalid)}`;
}

const maxListed = 1_000;

/** The last entry of a page. A common prefix stands for all keys that start with it. */
interface Position {
  key: string;
  isPrefix: boolean;
}

export function listObjects(objects: ObjectStore, bucket: string, bucketId: string, query: URLSearchParams): Response {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const token = query.get("continuation-token");
  const startAfter = query.get("start-after") ?? "";
  const maxKeys = readMaxKeys(query.get("max-keys"));
  const encoding = query.get("encoding-type") ?? undefined;
  if (delimiter !== "" && delimiter !== "/") throw invalid('The only supported delimiter is "/".');
  if (encoding !== undefined && encoding !== "url") throw invalid('The only supported encoding type is "url".');

  const after = token === null ? { key: startAfter, isPrefix: false } : parseToken(token);
  if (!after) throw invalid("The continuation token is invalid. Use the token of the previous page.");
  const page = readPage(objects, { bucketId, prefix, delimiter, after, maxKeys });
  const encode = encoding === undefined ? (text: string) => text : encodeUrl;
  return xmlResponse("ListBucketResult", {
    Name: shortName(bucket),
    Prefix: encode(prefix),
    ...(delimiter !== "" && { Delimiter: encode(delimiter) }),
    ...(startAfter !== "" && { StartAfter: encode(startAfter) }),
    ...(token !== null && { ContinuationToken: token }),
    EncodingType: encoding,
    KeyCount: page.objects.length + page.prefixes.length,
    MaxKeys: maxKeys,
    IsTruncated: page.next !== undefined,
    NextContinuationToken: page.next && formatToken(page.next),
    Contents: page.objects.map(({ key, size, md5, modifiedAt }) => ({
      ...{ Key: encode(key), LastModified: new Date(modifiedAt).toISOString(), ETag: `"${md5}"`, Size: size },
      StorageClass: "STANDARD",
    })),
    CommonPrefixes: page.prefixes.map((text) => ({ Prefix: encode(text) })),
  });
}

export function shortName(bucket: string): string {
  return bucket.slice(bucket.indexOf("/") + 1);
}

/** With `isFolder`, a prefix without a slash at its end is also the name of a folder, whose content is listed. */
export function readPage(
  objects: ObjectStore,
  options: Record<"bucketId" | "prefix" | "delimiter", string> & {
    after: Position;
    maxKeys: number;
    isFolder?: boolean;
  },
): { objects: StoredObject[]; prefixes: string[]; next: Position | undefined } {
  const { bucketId, prefix, delimiter, after, maxKeys, isFolder = false } = options;
  const listed: StoredObject[] = [];
  const prefixes: string[] = [];
  let last = after;
  for (const object of objects.list(bucketId, { prefix, after: after.key })) {
    const { key } = object;
    if (last.isPrefix && key.startsWith(last.key)) continue;
    if (listed.length + prefixes.length === maxKeys) {
      return { objects: listed, prefixes, next: maxKeys === 0 ? undefined : last };
    }
    const start = prefix.length + (isFolder && prefix !== "" && key[prefix.length] === "/" ? 1 : 0);
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, start);
    if (end === -1) listed.push(object);
    else prefixes.push(key.slice(0, end + 1));
    last = end === -1 ? { key, isPrefix: false } : { key: key.slice(0, end + 1), isPrefix: true };
  }
  return { objects: listed, prefixes, next: undefined };
}

function readMaxKeys(text: string | null): number {
  if (text === null) return maxListed;
  if (!/^\d{1,9}$/.test(text)) throw invalid('Send "max-keys" as an integer from 0.');
  return Math.min(Number(text), maxListed);
}

export function formatToken({ key, isPrefix }: Position): string {
  return Buffer.from(`${isPrefix ? "prefix" : "key"}:${key}`).toString("base64url");
}

/** `undefined` if the token is invalid. */
export function parseToken(token: string): Position | undefined {
  const [, kind, key] = /^(key|prefix):(.+)$/s.exec(Buffer.from(token, "base64url").toString()) ?? [];
  return key === undefined ? undefined : { key, isPrefix: kind === "prefix" };
}

/** Encodes a key like S3: a space becomes `+`, and `/` stays. */
function encodeUrl(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+")
    .replaceAll("%2F", "/");
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidArgument", message);
}
