import type { Readable } from "node:stream";
import type { ObjectStore, StoredObject } from "../../store/object-store.ts";
import { readRange, streamOf } from "../files/byte-range.ts";
import { S3Error } from "./s3-error.ts";

/**
 * Creates the response to GetObject and HeadObject: 200, or 206 for a range. Ignores conditions, like the Hub.
 *
 * @throws `S3Error` 416 if the object does not have the range.
 */
export function objectResponse(
  objects: ObjectStore,
  { object, bucketId, request }: { object: StoredObject; bucketId: string; request: Request },
): Response {
  const { key, size, md5, contentType, modifiedAt } = object;
  const range = readRange(request.headers.get("range") ?? undefined, { size });
  if (range === "unsatisfiable") {
    throw new S3Error("InvalidRange", {
      message: "The object does not have this range.",
      headers: { "content-range": `bytes */${size}` },
    });
  }
  const { start, end } = range === "whole" ? { start: 0, end: size - 1 } : range;
  const headers = {
    "accept-ranges": "bytes",
    "content-type": contentType,
    // The server derives the length of a GET response from the body.
    ...(request.method === "HEAD" && { "content-length": String(end - start + 1) }),
    etag: `"${md5}"`,
    "last-modified": new Date(modifiedAt).toUTCString(),
    // Objects come from any user and have the same origin as the page of the local Hub, so browsers must not run scripts in them.
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    ...(range !== "whole" && { "content-range": `bytes ${start}-${end}/${size}` }),
  };
  const status = range === "whole" ? 200 : 206;
  if (request.method === "HEAD") return new Response(null, { status, headers });
  return new Response(toBody(objects.read({ bucketId, key }, object, { start, end })), { status, headers });
}

function toBody(content: Uint8Array | Readable): BodyInit {
  return content instanceof Uint8Array ? new Uint8Array(content) : streamOf(content);
}
