import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import { clientFlag, undocumentedBody } from "../schemas.ts";
import { repositoryPath, revisionPath } from "./repository-path.ts";

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

/** A request to create a branch. */
export const branchCreation = z.object({
  /** The branch, tag, or commit from which the branch starts. Default: the main branch. */
  startingPoint: z.optional(z.string()),
  /** Whether the branch starts with an empty commit. Default `false`. */
  emptyBranch: z._default(z.boolean(), false),
  /** Whether to replace an existing branch. Default `false`. */
  overwrite: z._default(z.boolean(), false),
});

/** A request to create a tag. */
export const tagCreation = z.object({
  /** The name of the tag. */
  tag: z.string().check(z.minLength(1)),
  message: z.optional(z.string()),
});

/** A request to replace the commits of a branch with one commit. */
export const historySquash = z.object({
  /** The message of the commit. */
  message: z.optional(z.string()),
});

/** The refs of a repository. */
export type RepositoryRefs = z.output<typeof repositoryRefs>;

/** The operations on branches and tags (docs/reference/hub-api.md). */
export const refOperations = {
  list: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/refs",
    operationId: "listRefs",
    summary: "List the refs of a repository",
    request: { params: repositoryPath, query: z.object({ include_prs: clientFlag({ encoded: "1" }) }) },
    response: repositoryRefs,
  },
  createBranch: {
    method: "post",
    path: "/api/{repoType}/{namespace}/{repo}/branch/{rev}",
    operationId: "createBranch",
    summary: "Create a branch",
    request: { params: revisionPath, body: jsonBody(branchCreation) },
    response: undocumentedBody,
  },
  deleteBranch: {
    method: "delete",
    path: "/api/{repoType}/{namespace}/{repo}/branch/{rev}",
    operationId: "deleteBranch",
    summary: "Delete a branch",
    request: { params: revisionPath },
    response: undocumentedBody,
  },
  createTag: {
    method: "post",
    path: "/api/{repoType}/{namespace}/{repo}/tag/{rev}",
    operationId: "createTag",
    summary: "Create a tag",
    request: { params: revisionPath, body: jsonBody(tagCreation) },
    response: undocumentedBody,
  },
  deleteTag: {
    method: "delete",
    path: "/api/{repoType}/{namespace}/{repo}/tag/{rev}",
    operationId: "deleteTag",
    summary: "Delete a tag",
    request: { params: revisionPath },
    response: undocumentedBody,
  },
  squash: {
    method: "post",
    path: "/api/{repoType}/{namespace}/{repo}/super-squash/{rev}",
    operationId: "squashHistory",
    summary: "Squash the commits of a branch",
    request: { params: revisionPath, body: jsonBody(historySquash) },
    response: undocumentedBody,
  },
} as const satisfies Operations;
