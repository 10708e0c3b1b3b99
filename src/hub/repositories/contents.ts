import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import {
  clientFlag,
  repeatable,
  responseEnum,
  timestamp,
  undocumentedBody,
  wholeNumber,
  withJsonRule,
} from "../schemas.ts";
import { repositoryPath, revisionPath } from "./repository-path.ts";

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
  /** The ID of the content in Xet storage. The repositories of the local Hub have none. */
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

/** A file in a repository. */
export type RepositoryFile = z.output<typeof treeEntry>;

/** The operations on files. */
export const fileOperations = {
  tree: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/tree/{rev}/{path}",
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
    requestLine: "POST /api/{repoType}/{namespace}/{repo}/paths-info/{rev}",
    operationId: "listPathsInfo",
    summary: "List information about paths",
    request: { params: revisionPath, body: jsonBody(pathsInfoRequest) },
    response: z.array(treeEntry),
  },
  /** Only for models. */
  resolveModel: {
    requestLine: "GET /{namespace}/{repo}/resolve/{rev}/{path}",
    operationId: "downloadModelFile",
    summary: "Download a file",
    request: { params: modelFilePath },
    response: undocumentedBody,
  },
  /** Only for datasets and Spaces. */
  resolve: {
    requestLine: "GET /{repoType}/{namespace}/{repo}/resolve/{rev}/{path}",
    operationId: "downloadFile",
    summary: "Download a file",
    request: { params: filePath },
    response: undocumentedBody,
  },
} as const satisfies Operations;

/** The format of the IDs of commits. */
const sha = z.string().check(z.regex(/^[0-9a-f]{40}$/, "expected 40 lowercase hexadecimal digits"));

/** A commit in the history of a repository. */
export const commit = z.strictObject({
  id: z.string(),
  /** The first line of the commit message. */
  title: z.string(),
  /** The rest of the commit message. */
  message: z.string(),
  authors: z.array(z.strictObject({ user: z.string(), avatar: z.optional(z.string()) })),
  date: timestamp,
  /** The title and the message as HTML. Present if `expand` contains `formatted`. */
  formatted: z.optional(z.strictObject({ title: z.string(), message: z.optional(z.string()) })),
});

const separator = /\.\.\.?/;

/** Two revisions, such as `main..refs/pr/1`. With three dots, the first revision is replaced with the common ancestor. */
const comparison = withJsonRule(
  z.string().check(
    z.refine((text) => {
      const [base, head, ...rest] = text.split(separator);
      return Boolean(base) && Boolean(head) && rest.length === 0;
    }, 'expected two revisions, as in "main..dev"'),
  ),
  { pattern: "^.+\\.\\..+$" },
);

/** A file that a client wants to upload. */
const uploadedFile = z.object({
  path: z.string(),
  /** The size in bytes. */
  size: z.int().check(z.nonnegative()),
  /** The first 512 bytes in Base64, by which the Hub distinguishes text files from binary files. */
  sample: z.optional(z.string()),
});

/** A request for the upload mode of files. */
export const preuploadRequest = z.object({
  files: z.array(uploadedFile).check(z.maxLength(1_000)),
  /** The new content of `.gitattributes`. Default: the content at the revision. */
  gitAttributes: z.optional(z.string()),
  /** The new content of `.gitignore`. Default: the content at the revision. */
  gitIgnore: z.optional(z.string()),
});

/** The upload modes of files. */
export const preuploadResult = z.strictObject({
  files: z.array(
    z.strictObject({
      path: z.string(),
      /** `regular` files are sent with the commit. `lfs` files are uploaded before the commit. */
      uploadMode: responseEnum(["regular", "lfs"]),
      /** Whether `.gitignore` excludes the file from commits. */
      shouldIgnore: z.boolean(),
      /** The ID of the file at the revision: of the blob, or the SHA-256 of a file in LFS. Missing if there is no file. */
      oid: z.optional(z.string()),
    }),
  ),
  /** The commit of the revision. */
  commitOid: z.optional(sha),
});

/** The result of a commit. */
export const commitResult = z.strictObject({
  success: z.boolean(),
  /** The ID of the new commit, or of the head of the branch if the commit changed nothing. */
  commitOid: z.string(),
  commitUrl: z.string(),
  /** The output of the git hook. */
  hookOutput: z.string(),
  /** The URL of the new pull request. Present with `create_pr`. */
  pullRequestUrl: z.optional(z.string()),
});

/** A commit in the history of a repository. */
export type RepositoryCommit = z.output<typeof commit>;

/** The operations on commits. */
export const commitOperations = {
  list: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/commits/{rev}",
    operationId: "listCommits",
    summary: "List the commits of a repository",
    request: {
      params: revisionPath,
      query: z.object({
        p: wholeNumber({ minimum: 0, maximum: 1_000_000_000, fallback: 0 }),
        limit: wholeNumber({ minimum: 1, maximum: 1_000, fallback: 50 }),
        expand: repeatable(),
        "expand[]": repeatable(),
      }),
    },
    response: z.array(commit),
  },
  compare: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/compare/{compare}",
    operationId: "compareRevisions",
    summary: "Compare two revisions",
    request: {
      params: z.object({ ...repositoryPath.shape, compare: comparison }),
      query: z.object({ raw: clientFlag() }),
    },
    response: z.string(),
  },
  preupload: {
    requestLine: "POST /api/{repoType}/{namespace}/{repo}/preupload/{rev}",
    operationId: "getUploadModes",
    summary: "Get the upload modes of files",
    request: {
      params: revisionPath,
      query: z.object({ create_pr: clientFlag({ encoded: "1" }) }),
      body: jsonBody(preuploadRequest),
    },
    response: preuploadResult,
  },
  /** The body is a list of JSON lines, which `upload-lines.ts` of the local Hub describes. */
  create: {
    requestLine: "POST /api/{repoType}/{namespace}/{repo}/commit/{rev}",
    operationId: "createCommit",
    summary: "Create a commit",
    request: {
      params: revisionPath,
      query: z.object({ create_pr: clientFlag({ encoded: "1" }), hot_reload: clientFlag() }),
    },
    response: commitResult,
  },
} as const satisfies Operations;

const refInfo = z.strictObject({
  /** The short name, such as `main` or `v1`. */
  name: z.string(),
  /** The full name, such as `refs/heads/main`, `refs/tags/v1`, or `refs/pr/1`. */
  ref: z.string(),
  /** The commit. For a tag with a message, also the commit. */
  targetCommit: z.string(),
});

/** The refs of a repository. */
export const repositoryRefs = z.strictObject({
  branches: z.array(refInfo),
  tags: z.array(refInfo),
  /** Refs with converted files of datasets, such as `refs/convert/parquet`. */
  converts: z.array(refInfo),
  /** Only with the query `include_prs`. */
  pullRequests: z.optional(z.array(refInfo)),
});

/** The refs of a repository. */
export type RepositoryRefs = z.output<typeof repositoryRefs>;

/** The operation on branches and tags that the client calls. `administration.ts` contains the others. */
export const refOperations = {
  list: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/refs",
    operationId: "listRefs",
    summary: "List the refs of a repository",
    request: { params: repositoryPath, query: z.object({ include_prs: clientFlag({ encoded: "1" }) }) },
    response: repositoryRefs,
  },
} as const satisfies Operations;
