import * as z from "zod/mini";
import { jsonBody, type Operations } from "./operation.ts";
import { repositoryCreation } from "./repositories/administration.ts";
import {
  clientFlag,
  objectId,
  objectIdInEitherCase,
  optionalWholeNumber,
  requestEnum,
  responseEnum,
  timestamp,
  undocumentedBody,
} from "./schemas.ts";

/*
 * The operations on Storage Buckets, which only the local Hub serves. The client has no methods for them. The schemas contain what the
 * official Python client and the Hub's page use.
 */

const name = z.string().check(z.minLength(1));
const namespace = z.object({ namespace: name });

/** The path parameters of an operation on a bucket. The namespace `me` is the user of the token. */
const bucketPath = z.object({ namespace: name, repo: name });
const newBucketPath = z.object({ namespace: name, repo: repositoryCreation.shape.name });
const filePath = z.object({ ...bucketPath.shape, path: z._default(z.string(), "") });

const cdnRegions = z.array(z.object({ provider: responseEnum(["gcp", "aws"]), region: responseEnum(["us", "eu"]) }));

/** A request to create a bucket. */
export const bucketCreation = z.object({
  /** Default `false`. */
  private: z.optional(z.nullable(z.boolean())),
  resourceGroupId: z.optional(objectIdInEitherCase),
  /** The local Hub ignores the regions. */
  cdn: z.optional(cdnRegions),
  region: z.optional(requestEnum(["us", "eu"])),
});

/** A bucket that was created. */
export const createdBucket = z.strictObject({
  /** The URL of the bucket's page. */
  url: z.string(),
  /** `<owner>/<name>`. */
  name: z.string(),
  id: objectId,
});

/** A bucket. */
export const bucket = z.strictObject({
  /** `<owner>/<name>`. */
  id: z.string(),
  author: z.string(),
  private: z.boolean(),
  createdAt: timestamp,
  /** The time of the latest upload, or else of the creation. */
  updatedAt: timestamp,
  /** The total size of the files in bytes. */
  size: z.number(),
  totalFiles: z.number(),
  repoType: z.literal("bucket"),
  cdnRegions,
});

/** A request to change the settings of a bucket. */
export const bucketSettings = z.object({ private: z.optional(z.boolean()), cdnRegions: z.optional(cdnRegions) });

/** A file or a folder of a bucket. */
export const bucketEntry = z.strictObject({
  type: z.enum(["file", "directory"]),
  path: z.string(),
  /** Only of files, like all following fields except `uploadedAt`. In bytes. */
  size: z.optional(z.number()),
  xetHash: z.optional(z.string()),
  /** The time of the last change on the machine of the uploader. */
  mtime: z.optional(timestamp),
  /** The time of the upload, or of the latest upload to the folder. */
  uploadedAt: timestamp,
  contentType: z.optional(z.string()),
});

/** The paths of files in a bucket. */
export const bucketPaths = z.object({
  paths: z.union([z.array(z.string()).check(z.maxLength(2_000)), z.string()]),
});

/** The result of several operations on files. The status is 422 if all operations failed. */
export const bucketBatchResult = z.strictObject({
  /** Whether all operations succeeded. */
  success: z.boolean(),
  processed: z.number(),
  succeeded: z.number(),
  failed: z.array(z.strictObject({ path: z.string(), error: z.string() })),
});

/** Access to the storage of the files in a bucket. */
export const xetToken = z.strictObject({
  accessToken: z.string(),
  /** In seconds since the epoch. */
  exp: z.number(),
  casUrl: z.string(),
});

const oneBucket = "/api/buckets/{namespace}/{repo}";

/** The operations on buckets (docs/reference/hub-api.md, Buckets). */
export const bucketOperations = {
  create: {
    requestLine: `POST ${oneBucket}`,
    operationId: "createBucket",
    summary: "Create a bucket",
    request: { params: newBucketPath, body: { ...jsonBody(bucketCreation), required: false } },
    response: createdBucket,
  },
  delete: {
    requestLine: `DELETE ${oneBucket}`,
    operationId: "deleteBucket",
    summary: "Delete a bucket",
    request: { params: bucketPath },
    response: undocumentedBody,
  },
  info: {
    requestLine: `GET ${oneBucket}`,
    operationId: "getBucket",
    summary: "Get a bucket",
    request: { params: bucketPath },
    response: bucket,
  },
  list: {
    requestLine: "GET /api/buckets/{namespace}",
    operationId: "listBuckets",
    summary: "List the buckets of a user or an organization",
    request: { params: namespace, query: z.object({ search: z.optional(z.string()) }) },
    response: z.array(bucket),
  },
  updateSettings: {
    requestLine: `PUT ${oneBucket}/settings`,
    operationId: "updateBucketSettings",
    summary: "Update the settings of a bucket",
    request: { params: bucketPath, body: jsonBody(bucketSettings) },
    response: z.strictObject({ private: z.boolean(), cdnRegions }),
  },
  tree: {
    requestLine: `GET ${oneBucket}/tree/{path}`,
    operationId: "listBucketFiles",
    summary: "List the files of a bucket",
    request: {
      params: filePath,
      query: z.object({
        limit: optionalWholeNumber({ minimum: 1, maximum: 5_000 }),
        cursor: z.optional(z.string()),
        recursive: clientFlag({ fallback: true }),
      }),
    },
    response: z.array(bucketEntry),
  },
  pathsInfo: {
    requestLine: `POST ${oneBucket}/paths-info`,
    operationId: "getBucketPathsInfo",
    summary: "Get files of a bucket by path",
    request: { params: bucketPath, body: jsonBody(bucketPaths) },
    response: z.array(bucketEntry),
  },
  batch: {
    requestLine: `POST ${oneBucket}/batch`,
    operationId: "changeBucketFiles",
    summary: "Add, copy, and delete files of a bucket",
    request: { params: bucketPath },
    response: bucketBatchResult,
  },
  resolve: {
    requestLine: "GET /buckets/{namespace}/{repo}/resolve/{path}",
    operationId: "downloadBucketFile",
    summary: "Download a file of a bucket",
    request: { params: filePath },
    response: undocumentedBody,
  },
  events: {
    requestLine: `GET ${oneBucket}/events`,
    operationId: "streamBucketEvents",
    summary: "Stream the changes of the files in a bucket",
    request: {
      params: bucketPath,
      query: z.object({ cursor: z.optional(z.string()), since: z.optional(timestamp) }),
    },
    response: undocumentedBody,
  },
  readToken: {
    requestLine: `GET ${oneBucket}/xet-read-token`,
    operationId: "getBucketReadToken",
    summary: "Get a token to download files from Xet",
    request: { params: bucketPath },
    response: xetToken,
  },
  writeToken: {
    requestLine: `GET ${oneBucket}/xet-write-token`,
    operationId: "getBucketWriteToken",
    summary: "Get a token to upload files to Xet",
    request: { params: bucketPath },
    response: xetToken,
  },
} as const satisfies Operations;
