import * as z from "zod/mini";
import { jsonBody, type Operations } from "../operation.ts";
import { clientFlag, repeatable, requestEnum, responseEnum, timestamp } from "../schemas.ts";
import { repositoryPath, revisionPath } from "./repository-path.ts";

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

/** The visibility of a repository, in a request. */
export const visibility = requestEnum(["private", "public", "protected"]);

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

/** The operations on repositories that the client calls. `administration.ts` contains the others. */
export const repositoryOperations = {
  updateSettings: {
    requestLine: "PUT /api/{repoType}/{namespace}/{repo}/settings",
    operationId: "updateRepositorySettings",
    summary: "Update the settings of a repository",
    request: { params: repositoryPath, body: jsonBody(repositorySettings) },
    response: repositorySettingsResult,
  },
  info: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}",
    operationId: "getRepository",
    summary: "Get a repository",
    request: { params: repositoryPath, query: repositoryQuery },
    response: repositoryInfo,
  },
  infoAtRevision: {
    requestLine: "GET /api/{repoType}/{namespace}/{repo}/revision/{rev}",
    operationId: "getRepositoryRevision",
    summary: "Get a repository at a revision",
    request: { params: revisionPath, query: repositoryQuery },
    response: repositoryInfo,
  },
} as const satisfies Operations;

/** A model, dataset, or Space. */
export type RepositoryInfo = z.output<typeof repositoryInfo>;
