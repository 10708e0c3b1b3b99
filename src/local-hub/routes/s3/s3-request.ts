import type { BucketOperation } from "../../buckets/faults.ts";
import { findKeyProblem } from "../../buckets/object-key.ts";
import { S3Error } from "./s3-error.ts";

/** What a request of the S3 API asks for. */
export interface S3Request {
  /** `DELETE` with several keys is the operation DeleteObjects. */
  operation: BucketOperation;
  /** The full name of the bucket. */
  bucket: string;
  /** `undefined` for operations on the bucket itself. */
  key: string | undefined;
  query: URLSearchParams;
}

/** The query parameters of operations that neither the Hub nor the local Hub supports. */
const unsupportedParameters = [
  ...["acl", "attributes", "cors", "encryption", "legal-hold", "lifecycle", "location", "logging", "notification"],
  ...["object-lock", "partNumber", "policy", "replication", "restore", "retention", "select", "tagging", "torrent"],
  ...["uploadId", "uploads", "versionId", "versioning", "versions", "website"],
];

/**
 * Reads the path and the query of a request, such as `/s3/me/inbox/log/1`.
 *
 * @throws `S3Error` if the operation is not supported or the key is invalid.
 */
export function readS3Request({ method, url }: Request): S3Request {
  const { pathname, searchParams: query } = new URL(url);
  const [, path = ""] = /^\/s3\/(.*)$/s.exec(pathname) ?? [];
  const [namespace = "", bucket = "", ...keyParts] = decodePath(path).split("/");
  const key = keyParts.length === 0 || (keyParts.length === 1 && keyParts[0] === "") ? undefined : keyParts.join("/");
  const unsupported = unsupportedParameters.find((name) => query.has(name));
  if (unsupported !== undefined) {
    throw new S3Error("NotImplemented", { message: `The parameter "${unsupported}" is not supported.` });
  }
  if (namespace === "" || bucket === "") {
    throw new S3Error("NotImplemented", { message: "Use a URL such as /s3/NAMESPACE/BUCKET/KEY." });
  }
  const problem = key === undefined ? undefined : findKeyProblem(key);
  if (problem !== undefined) {
    throw new S3Error("InvalidArgument", { message: `The key ${problem}. Choose another key.` });
  }
  return { operation: findOperation(method, { key, query }), bucket: `${namespace}/${bucket}`, key, query };
}

function findOperation(
  method: string,
  { key, query }: { key: string | undefined; query: URLSearchParams },
): BucketOperation {
  if (method === "HEAD") return "HEAD";
  if (key !== undefined && (method === "GET" || method === "PUT" || method === "DELETE")) return method;
  if (key === undefined && method === "POST" && query.has("delete")) return "DELETE";
  if (key !== undefined || method !== "GET") {
    throw new S3Error("MethodNotAllowed", { message: `The local Hub does not support ${method} for this resource.` });
  }
  if (query.get("list-type") === "2") return "LIST";
  throw new S3Error("NotImplemented", { message: "Use ListObjectsV2: add list-type=2 to the query." });
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new S3Error("InvalidURI", { message: "The path is not valid UTF-8 with percent-encoding." });
  }
}
