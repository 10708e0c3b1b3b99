import { Hono } from "hono";
import type { Caller } from "../../accounts.ts";
import type { AppliedFaults } from "../../buckets/faults.ts";
import { truncateBody } from "../../buckets/object-bodies.ts";
import type { HubContext } from "../../hub-context.ts";
import type { StoredRepository } from "../../store/repository-store.ts";
import type { ApiEnvironment } from "../authentication.ts";
import { canRead, checkNamespaceAccess } from "../repository-access.ts";
import { closeConnection } from "./close-connection.ts";
import { Downloads, downloadPath } from "./downloads.ts";
import { listObjects } from "./list-objects.ts";
import { objectResponse } from "./object-response.ts";
import { receiveBody } from "./receive-body.ts";
import { S3Error, s3ErrorResponse, toS3Error } from "./s3-error.ts";
import { readS3Request, type S3Request } from "./s3-request.ts";
import { s3Region, verifySignature } from "./signature.ts";
import { deleteObject, deleteObjects, putObject, readDeletedKeys } from "./write-objects.ts";

/** The path of the S3 API. Bodies are streamed to disk, so that the limit for bodies does not apply to this path. */
export const s3Path = "/s3/";

/** A request whose body was received, but which is not executed yet. */
interface PreparedRequest {
  /** The keys of the objects, or the prefix of a list. */
  keys: readonly string[];
  execute: (faults: AppliedFaults) => Response;
  /** Deletes the received body. */
  discard?: () => void;
}

/** The parts of a request whose signature is valid. */
interface VerifiedRequest extends S3Request {
  hub: HubContext;
  downloads: Downloads;
  request: Request;
  caller: Caller;
  repository: StoredRepository;
}

/** Serves the S3 API of buckets, at URLs such as `/s3/NAMESPACE/BUCKET/KEY`. Errors are XML with the codes of S3. */
export function s3Gateway(hub: HubContext): Hono<ApiEnvironment> {
  const app = new Hono<ApiEnvironment>();
  const downloads = new Downloads(hub);
  app.get(`${downloadPath}:bucketId`, (context) => downloads.serve(context.req.raw));
  app.all(`${s3Path}*`, async (context) => {
    const { raw: request } = context.req;
    const caller = await verifySignature(request, { now: hub.now() });
    const read = readS3Request(request);
    const repository = findBucket(hub, read, caller);
    const prepared = await prepare({ ...read, hub, downloads, request, caller, repository });
    const faults = hub.bucketFaults.take({
      ...{ operation: read.operation, bucket: read.bucket, keys: prepared.keys },
      isConditional: request.headers.has("if-none-match") || request.headers.has("if-match"),
    });
    const isOpen = await hub.bucketFaults.wait(faults.latencyMs);
    const { error } = faults;
    // The bucket can be deleted while the body arrives.
    const isStored = hub.store.repositories.get(repository)?.id === repository.id;
    if (!isOpen || !isStored || (error && !error.isExecuted)) {
      prepared.discard?.();
      if (error) throw faultError(error);
      throw isOpen ? noSuchBucket(read) : new S3Error("SlowDown", { message: "The local Hub is shutting down." });
    }
    const response = prepared.execute(faults);
    if (faults.isAnswerLost) return closeConnection(context);
    if (error) throw faultError(error);
    response.headers.set("date", new Date(hub.now()).toUTCString());
    return response;
  });
  app.onError((error, { req: { method } }) => {
    const known = toS3Error(error);
    if (known) return s3ErrorResponse(known, method);
    hub.log.error({ err: error }, "A request to the S3 API of the local Hub failed with an unexpected error.");
    const message = "The local Hub failed. See the log of the local Hub for the cause.";
    return s3ErrorResponse(new S3Error("InternalError", { message }), method);
  });
  return app;
}

/**
 * @throws `S3Error` 404 if the bucket does not exist or the caller cannot read it. `HTTPException` 403 if the caller cannot write to
 *   it.
 */
function findBucket({ store }: HubContext, { operation, bucket }: S3Request, caller: Caller): StoredRepository {
  const repository = store.repositories.get({ type: "bucket", name: bucket });
  if (!repository || !canRead(store, { repository, caller })) {
    throw noSuchBucket({ bucket });
  }
  if (operation === "PUT" || operation === "DELETE") {
    checkNamespaceAccess(store, { caller, namespace: bucket.slice(0, bucket.indexOf("/")) });
  }
  return repository;
}

function noSuchBucket({ bucket }: Pick<S3Request, "bucket">): S3Error {
  return new S3Error("NoSuchBucket", {
    message: `The bucket "${bucket}" does not exist, or the access key cannot read it.`,
  });
}

async function prepare(verified: VerifiedRequest): Promise<PreparedRequest> {
  const { operation, key, hub } = verified;
  const { objects } = hub.store;
  if (operation === "LIST") {
    const { bucket, query, repository } = verified;
    return {
      keys: [query.get("prefix") ?? ""],
      execute: () => listObjects(objects, { bucket, bucketId: repository.id, query }),
    };
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
    throw new S3Error("NotImplemented", { message: "Copies are not supported. Upload the object." });
  }
  const received = await receiveBody(objects, request);
  return {
    keys: [key],
    execute: ({ isTorn, isConditionIgnored }) => {
      const body = isTorn ? truncateBody(received, Math.floor(received.size / 2)) : received;
      return putObject(verified, { key, body, headers, areConditionsIgnored: isConditionIgnored });
    },
    discard: () => objects.discard(received),
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

function readObject(
  { hub, downloads, request, repository, key }: VerifiedRequest,
  { redirectTo }: AppliedFaults,
): Response {
  const { objects } = hub.store;
  const bucketId = repository.id;
  // HeadBucket
  if (key === undefined) return new Response(null, { headers: { "x-amz-bucket-region": s3Region } });
  const object = objects.get({ bucketId, key });
  if (!object) throw new S3Error("NoSuchKey", { message: "The key does not exist." });
  if (redirectTo !== undefined) return downloads.redirect({ bucketId, key, to: redirectTo });
  return objectResponse(objects, { object, bucketId, request });
}

function faultError({ status, code, retryAfterSeconds }: NonNullable<AppliedFaults["error"]>): S3Error {
  return new S3Error(code ?? (status === 503 ? "SlowDown" : "InternalError"), {
    status,
    message: "The local Hub failed this request on request.",
    ...(retryAfterSeconds !== undefined && { headers: { "retry-after": String(retryAfterSeconds) } }),
  });
}
