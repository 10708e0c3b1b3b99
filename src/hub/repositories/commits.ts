import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import { clientFlag, repeatable, responseEnum, timestamp, wholeNumber } from "../schemas.ts";
import { withJsonRule } from "../validation/json-rule.ts";
import { repositoryPath, revisionPath } from "./repository-path.ts";

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

/** The operations on commits. */
export const commitOperations = {
  list: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/commits/{rev}",
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
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/compare/{compare}",
    operationId: "compareRevisions",
    summary: "Compare two revisions",
    request: {
      params: z.object({ ...repositoryPath.shape, compare: comparison }),
      query: z.object({ raw: clientFlag() }),
    },
    response: z.string(),
  },
  preupload: {
    method: "post",
    path: "/api/{repoType}/{namespace}/{repo}/preupload/{rev}",
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
    method: "post",
    path: "/api/{repoType}/{namespace}/{repo}/commit/{rev}",
    operationId: "createCommit",
    summary: "Create a commit",
    request: {
      params: revisionPath,
      query: z.object({ create_pr: clientFlag({ encoded: "1" }), hot_reload: clientFlag() }),
    },
    response: commitResult,
  },
} as const satisfies Operations;
