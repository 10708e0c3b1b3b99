import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import {
  clientFlag,
  objectId,
  objectIdInEitherCase,
  repeatable,
  requestEnum,
  responseEnum,
  timestamp,
  undocumentedBody,
} from "../schemas.ts";
import { repositoryPath, repositoryPathTypes, revisionPath } from "./repository-path.ts";

/** A file in a list of all files of a repository. */
const sibling = z.strictObject({
  /** The path of the file. */
  rfilename: z.string(),
  /** The size in bytes. Only with the query `blobs`, like the following fields. */
  size: z.optional(z.number()),
  /** The Git object ID of the file, or of the pointer to a large file. */
  blobId: z.optional(z.string()),
  /** Missing for files that are stored in Git. */
  lfs: z.optional(z.strictObject({ sha256: z.string(), size: z.number(), pointerSize: z.number() })),
});

const runtime = z.strictObject({
  /** The stage of the Space, such as `RUNNING`. */
  stage: z.string(),
  hardware: z.optional(
    z.strictObject({ current: z.nullable(z.string()), requested: z.optional(z.nullable(z.string())) }),
  ),
});

/**
 * A model, dataset, or Space. With the query `expand`, the response contains only `_id`, `id`, and the requested fields. Without a
 * revision, the response describes the main branch.
 */
export const repositoryInfo = z.strictObject({
  _id: z.string(),
  /** `<owner>/<name>`. */
  id: z.string(),
  /** Only for models: the same as `id`. */
  modelId: z.optional(z.string()),
  author: z.optional(z.string()),
  /** The commit of the revision. Missing for a repository without commits. */
  sha: z.optional(z.string()),
  lastModified: z.optional(timestamp),
  createdAt: z.optional(timestamp),
  private: z.optional(z.boolean()),
  /** Whether users must request access to the files, and whether the requests are approved automatically. */
  gated: z.optional(z.union([z.literal(false), responseEnum(["auto", "manual"])])),
  disabled: z.optional(z.boolean()),
  discussionsDisabled: z.optional(z.boolean()),
  downloads: z.optional(z.number()),
  likes: z.optional(z.number()),
  /** Tags from the metadata of `README.md`, such as `license:mit`. */
  tags: z.optional(z.array(z.string())),
  pipeline_tag: z.optional(z.string()),
  library_name: z.optional(z.string()),
  /** The metadata of `README.md`. Missing if `README.md` has no valid metadata. */
  cardData: z.optional(z.record(z.string(), z.unknown())),
  /** The files of the revision. */
  siblings: z.optional(z.array(sibling)),
  /** The size of the files of the revision in bytes. */
  usedStorage: z.optional(z.number()),
  /** Only for Spaces, like the following fields. */
  sdk: z.optional(z.string()),
  subdomain: z.optional(z.string()),
  host: z.optional(z.string()),
  runtime: z.optional(runtime),
  models: z.optional(z.array(z.string())),
  datasets: z.optional(z.array(z.string())),
});

/** The query for one repository. */
const repositoryQuery = z.object({
  /** Whether the files have sizes and object IDs. */
  blobs: clientFlag(),
  /** The fields that the response contains. Default: all fields. Official clients also send the name `expand[]`. */
  expand: repeatable(),
  "expand[]": repeatable(),
});

/** The type of a repository with commits, in a request. Default `model`. */
const type = z._default(requestEnum(["model", "dataset", "space"]), "model");

const visibility = requestEnum(["private", "public", "protected"]);

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
const fullName = z.string().check(z.regex(/^[^/]+\/[^/]+$/, 'expected "owner/name"'));

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

/** A request to rename a repository, or to transfer it to another owner. */
export const repositoryMove = z.object({ fromRepo: fullName, toRepo: newFullName, type });

/** The settings of a repository to change. Omitted settings keep their values. */
export const repositorySettings = z.object({
  private: z.optional(z.boolean()),
  visibility: z.optional(visibility),
  /** Whether users must request access to the files, and whether the requests are approved automatically. */
  gated: z.optional(z.union([z.literal(false), requestEnum(["auto", "manual"])])),
  discussionsDisabled: z.optional(z.boolean()),
});

/** The settings of a repository after a change. */
export const repositorySettingsResult = z.strictObject({
  private: z.boolean(),
  visibility: responseEnum(["private", "public", "protected"]),
  gated: z.union([z.literal(false), responseEnum(["auto", "manual"])]),
  discussionsDisabled: z.boolean(),
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

/** The operations on repositories (docs/reference/hub-api.md, Repositories). */
export const repositoryOperations = {
  create: {
    method: "post",
    path: "/api/repos/create",
    operationId: "createRepository",
    summary: "Create a repository",
    request: { body: jsonBody(repositoryCreation) },
    response: createdRepository,
  },
  move: {
    method: "post",
    path: "/api/repos/move",
    operationId: "moveRepository",
    summary: "Move a repository",
    request: { body: jsonBody(repositoryMove) },
    response: undocumentedBody,
  },
  delete: {
    method: "delete",
    path: "/api/repos/delete",
    operationId: "deleteRepository",
    summary: "Delete a repository",
    request: { body: jsonBody(repositoryDeletion) },
    response: undocumentedBody,
  },
  updateSettings: {
    method: "put",
    path: "/api/{repoType}/{namespace}/{repo}/settings",
    operationId: "updateRepositorySettings",
    summary: "Update the settings of a repository",
    request: { params: repositoryPath, body: jsonBody(repositorySettings) },
    response: repositorySettingsResult,
  },
  list: {
    method: "get",
    path: "/api/{repoType}",
    operationId: "listRepositories",
    summary: "List repositories",
    request: { params: z.object({ repoType: z.enum(repositoryPathTypes) }), query: repositorySearch },
    response: z.array(repositoryInfo),
  },
  info: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}",
    operationId: "getRepository",
    summary: "Get a repository",
    request: { params: repositoryPath, query: repositoryQuery },
    response: repositoryInfo,
  },
  infoAtRevision: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/revision/{rev}",
    operationId: "getRepositoryRevision",
    summary: "Get a repository at a revision",
    request: { params: revisionPath, query: repositoryQuery },
    response: repositoryInfo,
  },
  checkAccess: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/auth-check",
    operationId: "checkRepositoryAccess",
    summary: "Check the read access to a repository",
    request: { params: repositoryPath },
    response: undocumentedBody,
  },
  checkWriteAccess: {
    method: "get",
    path: "/api/{repoType}/{namespace}/{repo}/auth-check/write",
    operationId: "checkRepositoryWriteAccess",
    summary: "Check the write access to a repository",
    request: { params: repositoryPath },
    response: undocumentedBody,
  },
  validateCard: {
    method: "post",
    path: "/api/validate-yaml",
    operationId: "validateCard",
    summary: "Check the metadata of a card",
    request: { body: jsonBody(cardValidation) },
    response: cardValidationResult,
  },
} as const satisfies Operations;

/** A model, dataset, or Space. */
export type RepositoryInfo = z.output<typeof repositoryInfo>;
