import * as z from "zod/mini";
import { $constructor, type $strip, type $ZodLooseShape, type $ZodObjectDef } from "zod/v4/core";
import { type Action, actions, discussionStatuses, isKnownScope, type KnownScope, repoTypes } from "./names.ts";
import { objectSchema } from "./object-schema.ts";

/*
 * The payload of a delivery, version 3. The schemas require only the fields that handlers rely on, because the Hub adds
 * fields, scopes, actions, and repository types without notice, and counts every error response against the webhook.
 * Handlers receive the payload as the Hub sent it, including unknown fields.
 */

/**
 * The maximum length of names and IDs, because they appear in log lines and responses. The Hub's names and IDs have
 * fewer than 200 characters.
 */
const maxNameLength = 512;
const name = z.string().check(z.maxLength(maxNameLength));

// TypeScript requires an explicit type on the name through which an assertion function is called.
const miniType: $constructor<z.ZodMiniType> = z.ZodMiniType;

const MiniObject: $constructor<z.ZodMiniObject, $ZodObjectDef> = $constructor("ZodMiniObject", (schema, definition) => {
  objectSchema.init(schema, definition);
  miniType.init(schema, definition);
});

function object<Shape extends $ZodLooseShape>(shape: Shape): z.ZodMiniObject<Shape, $strip> {
  return new MiniObject({ type: "object", shape }) as z.ZodMiniObject<Shape, $strip>;
}

/** Creates a schema that accepts any name. The type lists the known names, so that editors can complete them. */
function openEnum<const Known extends readonly string[]>(_known: Known) {
  return z.custom<Known[number] | (string & {})>(
    (value) => typeof value === "string" && value.length <= maxNameLength,
    `expected a string of at most ${maxNameLength} characters`,
  );
}

/**
 * The maximum number of problems per list. Without a limit, validating a hundred thousand invalid items would take a
 * second and 60 MiB.
 */
const maxProblemsPerList = 3;

/**
 * Creates a list schema whose validation stops after a few invalid items. Unlike `z.array`, this schema does not copy
 * the list, because the copy would take longer than the rest of the validation.
 */
function listOf<Item extends z.ZodMiniType>(item: Item) {
  return z.custom<z.output<Item>[]>().check(({ value, issues }) => {
    if (!Array.isArray(value)) {
      issues.push({ code: "invalid_type", expected: "array", input: value });
      return;
    }
    let invalid = 0;
    for (const [index, input] of value.entries()) {
      const result = item.safeParse(input);
      if (result.success) continue;
      for (const issue of result.error.issues.slice(0, maxProblemsPerList)) {
        issues.push({ code: "custom", message: issue.message, path: [index, ...issue.path], input });
      }
      invalid += 1;
      if (invalid === maxProblemsPerList) break;
    }
  });
}

const event = object({ action: openEnum(actions), scope: name });

const repo = object({
  type: openEnum(repoTypes),
  name,
  id: name,
  private: z.boolean(),
  url: object({ web: z.string(), api: z.optional(z.string()) }),
  owner: object({ id: z.string() }),
  /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
  headSha: z.optional(z.string()),
  /** The first label of a Space's hostname. */
  subdomain: z.optional(z.string()),
  tags: z.optional(listOf(z.string())),
});

const webhook = object({ id: name, version: z.number() });

const updatedRef = object({
  /** The name of the ref, such as `refs/heads/main`, `refs/pr/1`, or `refs/convert/parquet`. */
  ref: z.string(),
  /** `null` when the ref was created. */
  oldSha: z.nullable(z.string()),
  /** `null` when the ref was deleted. */
  newSha: z.nullable(z.string()),
});

const updatedFile = object({
  path: z.string(),
  /** The change to the file. An overwritten file has the action `add`. */
  action: openEnum(["add", "delete"]),
  xetHash: z.optional(z.string()),
  /** The file size, in bytes. */
  size: z.optional(z.number()),
});

const updatedConfig = object({
  /** The new visibility. Missing if the Hub does not report the change. */
  private: z.optional(z.boolean()),
});

const movedTo = object({ name: z.string(), owner: object({ id: z.string() }) });

const discussion = object({
  id: z.string(),
  num: z.number(),
  title: z.string(),
  status: openEnum(discussionStatuses),
  isPullRequest: z.boolean(),
  author: object({ id: z.string() }),
  url: object({ web: z.string(), api: z.string() }),
  pinned: z.optional(z.boolean()),
  /** Only present on pull requests. */
  changes: z.optional(object({ base: z.string(), mergeCommitId: z.optional(z.string()) })),
});

const comment = object({
  id: z.string(),
  author: object({ id: z.string() }),
  hidden: z.boolean(),
  url: object({ web: z.string() }),
  /** Missing while the comment is hidden. */
  content: z.optional(z.string()),
});

const updatedRefs = listOf(updatedRef);
const updatedFiles = listOf(updatedFile);
const updatedFilesTruncated = z.optional(z.boolean());

// The schemas spread these fields, because `z.extend` would add 0.4 kB to a compressed bundle.
const commonFields = { event, repo, webhook };
const contentFields = {
  ...commonFields,
  updatedRefs: z.optional(updatedRefs),
  updatedFiles: z.optional(updatedFiles),
  updatedFilesTruncated,
};
const anyRepoFields = { ...contentFields, movedTo: z.optional(movedTo), updatedConfig: z.optional(updatedConfig) };

const common = object(commonFields);
const repoPayload = object({ ...commonFields, movedTo: z.optional(movedTo) });
const gitContentPayload = object({ ...commonFields, updatedRefs });
const bucketContentPayload = object({ ...commonFields, updatedFiles, updatedFilesTruncated });
const contentPayload = object(contentFields);
const repoConfigPayload = object({ ...commonFields, updatedConfig });
const discussionPayload = object({ ...commonFields, discussion, comment: z.optional(comment) });
const discussionCommentPayload = object({ ...commonFields, discussion, comment });
const anyRepoPayload = object(anyRepoFields);
const anyPayload = object({ ...anyRepoFields, discussion: z.optional(discussion), comment: z.optional(comment) });

/**
 * The payload of a delivery of any scope, version 3. `event`, `repo`, and `webhook` are always present. The other
 * fields depend on `event.scope`: narrow the type with {@link isScope} or with the `scope` option of an endpoint.
 * Validation covers `event`, `repo`, `webhook`, and the fields of a known scope, but not optional fields of other
 * scopes (such as `comment` on `repo.content`).
 */
export type WebhookPayload = z.output<typeof anyPayload>;
/**
 * A payload of scope `repo` or a narrower scope such as `repo.content` or `repo.config`. Optional fields are validated
 * only for the scope that they belong to: see {@link WebhookPayload}.
 */
export type RepoPayload = z.output<typeof anyRepoPayload>;
/** A payload of scope `repo.content`. Git repositories have `updatedRefs`, and buckets have `updatedFiles`. */
export type RepoContentPayload = z.output<typeof contentPayload>;
/** A payload of scope `repo.content` of a model, a dataset, or a Space. */
export type GitContentPayload = z.output<typeof gitContentPayload>;
/** A payload of scope `repo.content` of a bucket. The Hub truncates `updatedFiles` to 10,000 entries. */
export type BucketContentPayload = z.output<typeof bucketContentPayload>;
/** A payload of scope `repo.config`. `updatedConfig` is `{}` when the Hub does not report what changed. */
export type RepoConfigPayload = z.output<typeof repoConfigPayload>;
/** A payload of scope `discussion` or `discussion.comment`. A new discussion includes its first `comment`. */
export type DiscussionPayload = z.output<typeof discussionPayload>;
/** A payload of scope `discussion.comment`. */
export type DiscussionCommentPayload = z.output<typeof discussionCommentPayload>;
type CommonPayload = z.output<typeof common>;

const schemas = {
  repo: repoPayload,
  "repo.config": repoConfigPayload,
  discussion: discussionPayload,
  "discussion.comment": discussionCommentPayload,
} as const;

/**
 * Returns the schema of a scope. The schema of `repo.content` depends on the repository type: it requires files for buckets,
 * refs for git repositories, and neither for other types, such as kernels. The schema of an unknown scope requires only the
 * common fields.
 */
export function schemaOf(scope: unknown, repoType: unknown): z.ZodMiniType<CommonPayload> {
  if (!isKnownScope(scope)) return common;
  if (scope !== "repo.content") return schemas[scope];
  if (repoType === "bucket") return bucketContentPayload;
  return repoType === "model" || repoType === "dataset" || repoType === "space" ? gitContentPayload : contentPayload;
}

/** Lists the unknown names in a payload: a new scope, action, repository type, or version. */
export function unknownNames({ event, repo, webhook }: WebhookPayload): readonly string[] {
  const names: string[] = [];
  if (!isKnownScope(event.scope)) names.push(`scope ${event.scope}`);
  if (!(actions as readonly string[]).includes(event.action)) names.push(`action ${event.action}`);
  if (!(repoTypes as readonly string[]).includes(repo.type)) names.push(`repository type ${repo.type}`);
  if (webhook.version !== 3) names.push(`payload version ${webhook.version}`);
  return names;
}

interface PayloadByScope {
  repo: RepoPayload;
  "repo.content": RepoContentPayload;
  "repo.config": RepoConfigPayload;
  discussion: DiscussionPayload;
  "discussion.comment": DiscussionCommentPayload;
}

/**
 * The payload type of a scope. `RepoType` narrows `repo.content` further: buckets have `updatedFiles`, and models,
 * datasets, and Spaces have `updatedRefs`.
 */
export type PayloadOf<Scope extends string, RepoType extends string = string> = Scope extends KnownScope
  ? Scope extends "repo.content"
    ? ContentPayloadOf<RepoType>
    : PayloadByScope[Scope]
  : WebhookPayload;

type ContentPayloadOf<RepoType extends string> = RepoType extends "bucket"
  ? BucketContentPayload
  : RepoType extends "model" | "dataset" | "space"
    ? GitContentPayload
    : RepoContentPayload;

/**
 * Whether `scope` is `wanted` or a narrower scope. The Hub's scopes form a hierarchy: `repo` covers `repo.content` and
 * future scopes such as `repo.config.dois`.
 */
export function coversScope(wanted: string, scope: string): boolean {
  return scope === wanted || scope.startsWith(`${wanted}.`);
}

/**
 * Returns the action of a payload. An unknown narrower scope counts as an `update` of the broader scope, as the Hub's
 * documentation recommends.
 */
export function actionOf(payload: WebhookPayload): Action {
  const { scope, action } = payload.event;
  return scope.includes(".") && !isKnownScope(scope) ? "update" : action;
}

/** Prevents the payload type in the `else` branch of {@link isScope} from becoming `never`. */
interface Scoped<Wanted extends string> {
  event: { scope: Wanted | `${Wanted}.${string}` };
}

/**
 * Whether a payload has the scope `scope` or a narrower scope. Narrows the payload type, unlike a comparison of the
 * nested `event.scope`. An unknown narrower scope matches only if the payload has the fields of the broader scope.
 *
 * @example
 * ```ts
 * server.webhook(async function on_change(payload) {
 *   if (isScope(payload, "discussion.comment")) return payload.comment.content;
 * });
 * ```
 */
export function isScope<Wanted extends KnownScope>(
  payload: WebhookPayload,
  scope: Wanted,
): payload is WebhookPayload & PayloadOf<Wanted> & Scoped<Wanted> {
  return coversScope(scope, payload.event.scope) && hasShapeOf(scope, payload);
}

/**
 * Whether a payload has the fields of `scope`. Payloads of known scopes were validated on arrival, so only payloads of
 * unknown scopes are validated here.
 */
export function hasShapeOf(scope: string, payload: WebhookPayload): boolean {
  return isKnownScope(payload.event.scope) || schemaOf(scope, payload.repo.type).safeParse(payload).success;
}
