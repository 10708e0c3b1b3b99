import type { ObjectStore, StoredObject } from "../../store/object-store.ts";
import { S3Error, toXml } from "./s3-error.ts";

const maxListed = 1_000;
const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";

/** The last entry of a page. A common prefix stands for all keys that start with it. */
interface Position {
  key: string;
  isPrefix: boolean;
}

/** Answers ListObjectsV2. */
export function listObjects(
  objects: ObjectStore,
  { bucket, bucketId, query }: { bucket: string; bucketId: string; query: URLSearchParams },
): Response {
  const prefix = query.get("prefix") ?? "";
  const delimiter = query.get("delimiter") ?? "";
  const token = query.get("continuation-token");
  const startAfter = query.get("start-after") ?? "";
  const maxKeys = readMaxKeys(query.get("max-keys"));
  const encoding = query.get("encoding-type") ?? undefined;
  if (delimiter !== "" && delimiter !== "/") throw invalid('The only supported delimiter is "/".');
  if (encoding !== undefined && encoding !== "url") throw invalid('The only supported encoding type is "url".');

  const after = token === null ? { key: startAfter, isPrefix: false } : parseToken(token);
  const page = readPage(objects, { bucketId, prefix, delimiter, after, maxKeys });
  const encode = encoding === undefined ? (text: string) => text : encodeUrl;
  const xml = toXml(
    "ListBucketResult",
    {
      Name: bucket.slice(bucket.indexOf("/") + 1),
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
    },
    { namespace },
  );
  return new Response(xml, { headers: { "content-type": "application/xml" } });
}

function readPage(
  objects: ObjectStore,
  options: { bucketId: string; prefix: string; delimiter: string; after: Position; maxKeys: number },
): { objects: StoredObject[]; prefixes: string[]; next: Position | undefined } {
  const { bucketId, prefix, delimiter, after, maxKeys } = options;
  const listed: StoredObject[] = [];
  const prefixes: string[] = [];
  let last = after;
  for (const object of objects.list(bucketId, { prefix, after: after.key })) {
    const { key } = object;
    if (last.isPrefix && key.startsWith(last.key)) continue;
    if (listed.length + prefixes.length === maxKeys) {
      return { objects: listed, prefixes, next: maxKeys === 0 ? undefined : last };
    }
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
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

function formatToken({ key, isPrefix }: Position): string {
  return Buffer.from(`${isPrefix ? "prefix" : "key"}:${key}`).toString("base64url");
}

function parseToken(token: string): Position {
  const [, kind, key] = /^(key|prefix):(.+)$/s.exec(Buffer.from(token, "base64url").toString()) ?? [];
  if (key === undefined) throw invalid("The continuation token is invalid. Use the token of the previous page.");
  return { key, isPrefix: kind === "prefix" };
}

/** Encodes a key like S3: a space becomes `+`, and `/` stays. */
function encodeUrl(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+")
    .replaceAll("%2F", "/");
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidArgument", { message });
}
