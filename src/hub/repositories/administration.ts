import * as z from "zod/mini";
import { repositoryName } from "../../payload/names.ts";
import { jsonBody, type Operations } from "../operation.ts";
import {
  clientFlag,
  objectId,
  objectIdInEitherCase,
  repeatable,
  requestEnum,
  responseEnum,
  undocumentedBody,
} from "../schemas.ts";
import { spaceVariable } from "../spaces.ts";
import { repositoryInfo, visibility } from "./repositories.ts";
import { repositoryPath, repositoryPathTypes, revisionPath } from "./repository-path.ts";

/*
 * The operations on repositories, branches, and tags for which the client has no method. They are in a file of their own, because
 * the bundle of a client contains each file as a whole.
 */

/** The type of a repository with commits, in a request. Default `model`. */
const type = z._default(requestEnum(["model", "dataset", "space"]), "model");

/** The Hub's rule for names: no separator at the start or end, no two in a row, and no name that looks like a Git repository. */
const namePattern = /^(?!.*(?:--|\.\.))(?!.*\.(?:git|ipynb)$)[\w](?:[\w.-]*\w)?$/;
const maxNameLength = 96;
const nameRule =
  'letters, digits, "_", "-", and "." without "--", "..", ".git" at the end, or a separator at the start or end';

const newFullName = z
  .string()
  .check(
    z.regex(
      new RegExp(`^[^/]+/(?=.{1,${maxNameLength}}$)${namePattern.source.slice(1)}`),
      `expected "owner/name" with a name of ${nameRule}`,
    ),
  );
const currentName = z.string().check(z.regex(repositoryName, 'expected "owner/name"'));

/** A request to create a repository. */
export const repositoryCreation = z.object({
  /** The name without the owner. */
  name: z.string().check(z.maxLength(maxNameLength), z.regex(namePattern, `expected ${nameRule}`)),
  /** The user or organization that owns the repository. Default: the user of the token. */
  organization: z.optional(z.nullable(z.string())),
  type,
  /** Use `visibility` instead, or nothing for a public repository. */
  private: z.optional(z.nullable(z.boolean())),
  visibility: z.optional(visibility),
  /** The license in the metadata of the first `README.md`. */
  license: z.optional(z.string()),
  /** The SDK of a Space, which a Space requires. */
  sdk: z.optional(requestEnum(["gradio", "docker", "static", "streamlit"])),
  /** The files of the first commit. */
  files: z.optional(
    z.array(
      z.object({
        path: z.string(),
        content: z.string(),
        encoding: z._default(requestEnum(["utf-8", "base64"]), "utf-8"),
      }),
    ),
  ),
  resourceGroupId: z.optional(z.nullable(objectIdInEitherCase)),
  /** Only for Spaces, as are the next fields. */
  secrets: z.optional(z.array(spaceVariable)),
  variables: z.optional(z.array(spaceVariable)),
  hardware: z.optional(z.string()),
  sleepTimeSeconds: z.optional(z.number()),
});

/** A repository that was created. */
export const createdRepository = z.strictObject({
  /** The URL of the repository's page. */
  url: z.string(),
  /** `<owner>/<name>`. */
  name: z.string(),
  id: objectId,
});

/** A request to delete a repository. */
export const repositoryDeletion = z.object({
  /** The name, without the owner if `organization` is set. */
  name: z.string(),
  organization: z.optional(z.nullable(z.string())),
  type,
});

/** A request to rename a repository or a bucket, or to transfer it to another owner. */
export const repositoryMove = z.object({
  fromRepo: currentName,
  toRepo: newFullName,
  type: z._default(requestEnum(["model", "dataset", "space", "bucket"]), "model"),
});

const sortKeys = [
  "lastModified",
  "createdAt",
  "trendingScore",
  "downloads",
  "likes",
  "likes30d",
  "mainSize",
  "num_parameters",
  "id",
] as const;

const maxPageSize = 1_000;
const count = z.codec(z.string().check(z.regex(/^[1-9]\d{0,8}$/)), z.int().check(z.positive()), {
  decode: (text) => Math.min(Number(text), maxPageSize),
  encode: String,
});

/** The query of a list of repositories. */
export const repositorySearch = z.object({
  /** The user or organization that owns the repositories. */
  author: z.optional(z.string()),
  /** The repositories whose name contains each of these texts. */
  search: repeatable(),
  /** The repositories that have each of these tags. */
  filter: repeatable(),
  /** The task of the models. */
  pipeline_tag: z.optional(z.string()),
  /** Default `lastModified`. */
  sort: z.optional(responseEnum(sortKeys)),
  /** `-1` sorts in descending order, which is the default except for `id`. */
  direction: z.optional(z.enum(["1", "-1"])),
  /** The maximum number of repositories per page. Default and maximum `1000`. */
  limit: z._default(count, maxPageSize),
  /** Whether the response contains the files and the metadata. */
  full: clientFlag(),
  /** Whether the response contains the metadata. */
  cardData: clientFlag(),
  expand: repeatable(),
  "expand[]": repeatable(),
  /** The start of the page, from the `Link` header of the previous page. */
  cursor: z.optional(z.string()),
});

/** A model card, dataset card, or Space card to check. */
export const cardValidation = z.object({
  /** The content of `README.md`. */
  content: z.string(),
  repoType: z._default(requestEnum(["model", "dataset", "space"]), "model"),
});

const cardProblems = z.array(z.strictObject({ message: z.string() }));

/** The result of the check of a card. The status is 400 if there are errors. */
export const cardValidationResult = z.strictObject({ errors: cardProblems, warnings: cardProblems });

/** The operations on repositories for which the client has no method (docs/reference/hub-api.md, Repositories). */
export const repositoryAdministration = {
  create: {
    requestLine: "POST /api/repos/create",
    operationId: "createRepository",
    summary: "Create a repository",
    request: { body: jsonBody(repositoryCreation) },
    response: createdRepository,
  },
  move: {
    requestLine: "POST /api/repos/move",
    operationId: "moveRepository",
    summary: "Move a repository",
    request: { body: jsonBody(repositoryMove) },
    response: undocumentedBody,
  },
  delete: {
    requestLine: "DELETE /api/repos/delete",
    operationId: "deleteRepository",
    summary: "Delete a repository",
    request: { body: jsonBody(repositoryDeletion) },
    response: undocumentedBody,
  },
  list: {
    requestLine: "GET /api/{repoType}",
    operationId: "listRepositories",
    summary: "List repositories",
    request: { params: z.object({ repoType: z.enum(repositoryPathTypes) }), query: repositorySearch },
    response: z.array(repositoryInfo),
  },
  checkAccess: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/auth-check",
    operationId: "checkRepositoryAccess",
    summary: "Check the read access to a repository",
    request: { params: repositoryPath },
    response: undocumentedBody,
  },
  checkWriteAccess: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/auth-check/write",
    operationId: "checkRepositoryWriteAccess",
    summary: "Check the write access to a repository",
    request: { params: repositoryPath },
    response: undocumentedBody,
  },
  validateCard: {
    requestLine: "POST /api/validate-yaml",
    operationId: "validateCard",
    summary: "Check the metadata of a card",
    request: { body: jsonBody(cardValidation) },
    response: cardValidationResult,
  },
} as const satisfies Operations;

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

/** The changes of branches and tags, for which the client has no method (docs/reference/hub-api.md). */
export const refChanges = {
  createBranch: {
    requestLine: "POST /api/{repoType}/{namespace}/{repo}/branch/{rev}",
    operationId: "createBranch",
    summary: "Create a branch",
    request: { params: revisionPath, body: jsonBody(branchCreation) },
    response: undocumentedBody,
  },
  deleteBranch: {
    requestLine: "DELETE /api/{repoType}/{namespace}/{repo}/branch/{rev}",
    operationId: "deleteBranch",
    summary: "Delete a branch",
    request: { params: revisionPath },
    response: undocumentedBody,
  },
  createTag: {
    requestLine: "POST /api/{repoType}/{namespace}/{repo}/tag/{rev}",
    operationId: "createTag",
    summary: "Create a tag",
    request: { params: revisionPath, body: jsonBody(tagCreation) },
    response: undocumentedBody,
  },
  deleteTag: {
    requestLine: "DELETE /api/{repoType}/{namespace}/{repo}/tag/{rev}",
    operationId: "deleteTag",
    summary: "Delete a tag",
    request: { params: revisionPath },
    response: undocumentedBody,
  },
  squash: {
    requestLine: "POST /api/{repoType}/{namespace}/{repo}/super-squash/{rev}",
    operationId: "squashHistory",
    summary: "Squash the commits of a branch",
    request: { params: revisionPath, body: jsonBody(historySquash) },
    response: undocumentedBody,
  },
} as const satisfies Operations;
