import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import { clientFlag, responseEnum, timestamp, undocumentedBody } from "../schemas.ts";
import { revisionPath } from "./repository-path.ts";

const scan = z.looseObject({ status: z.string() });

/** A file or a folder in a repository. */
export const treeEntry = z.strictObject({
  type: responseEnum(["file", "directory", "unknown"]),
  /** The ID of the blob or the tree in git. */
  oid: z.string(),
  /** The size in bytes: of the content for files, also in LFS, and `0` for folders. */
  size: z.number(),
  path: z.string(),
  /** Present if the content of the file is in LFS. */
  lfs: z.optional(
    z.strictObject({
      /** The SHA-256 of the content. */
      oid: z.string(),
      size: z.number(),
      /** The size of the pointer file in git. */
      pointerSize: z.number(),
    }),
  ),
  /** The ID of the content in Xet storage. The local Hub has no Xet storage. */
  xetHash: z.optional(z.string()),
  /** The last commit that changed the file or the folder. Present with `expand`. */
  lastCommit: z.optional(z.strictObject({ id: z.string(), title: z.string(), date: timestamp })),
  /** The results of the security scans. Present with `expand`. The local Hub does not scan files. */
  securityFileStatus: z.optional(
    z.looseObject({ status: z.string(), avScan: z.optional(scan), pickleImportScan: z.optional(scan) }),
  ),
});

/** A request for information about paths. */
export const pathsInfoRequest = z.object({
  paths: z.union([z.array(z.string()).check(z.maxLength(2_000)), z.string()]),
  /** Whether the response contains `lastCommit` and `securityFileStatus`. */
  expand: z._default(z.boolean(), false),
});

const { namespace, repo, rev } = revisionPath.shape;
const modelFilePath = z.object({ namespace, repo, rev, path: z.string() });
const filePath = z.object({ repoType: z.enum(["datasets", "spaces"]), ...modelFilePath.shape });
const folderPath = z.object({ ...revisionPath.shape, path: z._default(z.string(), "") });
const count = z.codec(z.string().check(z.regex(/^[1-9]\d{0,15}$/)), z.int().check(z.positive()), {
  decode: Number,
  encode: String,
});

/** The operations on files. */
export const fileOperations = {
  tree: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/tree/{rev}/{path}",
    operationId: "listTree",
    summary: "List the files of a folder",
    request: {
      params: folderPath,
      query: z.object({
        recursive: clientFlag(),
        /** Whether the response contains `lastCommit` and `securityFileStatus`. */
        expand: clientFlag(),
        /** The maximum number of entries per page. Default and maximum `1000`, or `100` with `expand`. */
        limit: z.optional(count),
        /** The start of the page, from the `Link` header of the previous page. */
        cursor: z.optional(z.string()),
      }),
    },
    response: z.array(treeEntry),
  },
  pathsInfo: {
    method: "post",
    path: "/api/{repoType}/{namespace}/{repo}/paths-info/{rev}",
    operationId: "listPathsInfo",
    summary: "List information about paths",
    request: { params: revisionPath, body: jsonBody(pathsInfoRequest) },
    response: z.array(treeEntry),
  },
  /** Only for models. */
  resolveModel: {
    method: "get",
    path: "/{namespace}/{repo}/resolve/{rev}/{path}",
    operationId: "downloadModelFile",
    summary: "Download a file",
    request: { params: modelFilePath },
    response: undocumentedBody,
  },
  /** Only for datasets and Spaces. */
  resolve: {
    method: "get",
    path: "/{repoType}/{namespace}/{repo}/resolve/{rev}/{path}",
    operationId: "downloadFile",
    summary: "Download a file",
    request: { params: filePath },
    response: undocumentedBody,
  },
} as const satisfies Operations;
