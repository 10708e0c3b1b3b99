import * as z from "zod";

/*
 * What a delivery says, version 3 of the payload. A schema asks for what a handler may rely on and leaves everything
 * else alone: the Hub adds fields, scopes, actions and repository types without notice and counts every refusal
 * against the webhook. A handler gets the payload as it was sent, so a field that no schema knows is still there.
 */

/** The repository types known today; a payload may carry a newer one. */
export const repoTypes = ["model", "dataset", "space", "bucket", "kernel"] as const;
/** The actions known today; a payload may carry a newer one. */
export const actions = ["create", "delete", "update", "move"] as const;
/** The states of a discussion known today; a payload may carry a newer one. */
export const discussionStatuses = ["draft", "open", "closed", "merged"] as const;

/** Names and ids end up in log lines and answers: a megabyte of them is no name. The Hub's own stay below 200. */
const longestName = 512;
const name = z.string().max(longestName);

/** Any name, with the known ones kept in the type so that editors complete them. */
function openEnum<const Known extends readonly string[]>(_known: Known) {
  return z.custom<Known[number] | (string & {})>(
    (value) => typeof value === "string" && value.length <= longestName,
    `expected a string of at most ${longestName} characters`,
  );
}

/** How many broken items of one list are looked at: a list of a hundred thousand must not cost a second and 60 MB. */
const problemsPerList = 3;

/**
 * A list whose check gives up after a few broken items. Not a transform of `z.array`, which would cost more than the rest
 * of a payload: nobody asks for the list that zod builds.
 */
function listOf<Item extends z.ZodType>(item: Item) {
  return z.custom<z.output<Item>[]>().check(({ value, issues }) => {
    if (!Array.isArray(value)) {
      issues.push({ code: "invalid_type", expected: "array", input: value });
      return;
    }
    let broken = 0;
    for (const [index, input] of value.entries()) {
      const result = item.safeParse(input);
      if (result.success) continue;
      for (const issue of result.error.issues.slice(0, problemsPerList)) {
        issues.push({ code: "custom", message: issue.message, path: [index, ...issue.path], input });
      }
      broken += 1;
      if (broken === problemsPerList) break;
    }
  });
}

const event = z.object({ action: openEnum(actions), scope: name });

const repo = z.object({
  type: openEnum(repoTypes),
  name,
  id: name,
  private: z.boolean(),
  url: z.object({ web: z.string(), api: z.string().optional() }),
  owner: z.object({ id: z.string() }),
  /** Commit at the head of the main branch; on scopes of the `repo` family only, and never on a bucket. */
  headSha: z.string().optional(),
  /** Of a Space: the first label of its host name. */
  subdomain: z.string().optional(),
  tags: listOf(z.string()).optional(),
});

const webhook = z.object({ id: name, version: z.number() });

const updatedRef = z.object({
  /** Such as `refs/heads/main`, `refs/pr/1` or `refs/convert/parquet`. */
  ref: z.string(),
  /** `null` when the ref was created. */
  oldSha: z.string().nullable(),
  /** `null` when the ref was deleted. */
  newSha: z.string().nullable(),
});

const updatedFile = z.object({
  path: z.string(),
  /** An overwritten file is an `add`. */
  action: openEnum(["add", "delete"]),
  xetHash: z.string().optional(),
  /** In bytes. */
  size: z.number().optional(),
});

const updatedConfig = z.object({
  /** Absent when what changed is not something that the Hub reports. */
  private: z.boolean().optional(),
});

const movedTo = z.object({ name: z.string(), owner: z.object({ id: z.string() }) });

const discussion = z.object({
  id: z.string(),
  num: z.number(),
  title: z.string(),
  status: openEnum(discussionStatuses),
  isPullRequest: z.boolean(),
  author: z.object({ id: z.string() }),
  url: z.object({ web: z.string(), api: z.string() }),
  pinned: z.boolean().optional(),
  /** Of a pull request. */
  changes: z.object({ base: z.string(), mergeCommitId: z.string().optional() }).optional(),
});

const comment = z.object({
  id: z.string(),
  author: z.object({ id: z.string() }),
  hidden: z.boolean(),
  url: z.object({ web: z.string() }),
  /** Absent while the comment is hidden. */
  content: z.string().optional(),
});

const common = z.object({ event, repo, webhook });
const updatedRefs = listOf(updatedRef);
const updatedFiles = listOf(updatedFile);
const updatedFilesTruncated = z.boolean().optional();

const repoPayload = common.extend({ movedTo: movedTo.optional() });
const gitContentPayload = common.extend({ updatedRefs });
const bucketContentPayload = common.extend({ updatedFiles, updatedFilesTruncated });
const contentPayload = common.extend({
  updatedRefs: updatedRefs.optional(),
  updatedFiles: updatedFiles.optional(),
  updatedFilesTruncated,
});
const repoConfigPayload = common.extend({ updatedConfig });
const discussionPayload = common.extend({ discussion, comment: comment.optional() });
const discussionCommentPayload = common.extend({ discussion, comment });
const anyRepoPayload = contentPayload.extend({
  movedTo: movedTo.optional(),
  updatedConfig: updatedConfig.optional(),
});
const anyPayload = anyRepoPayload.extend({ discussion: discussion.optional(), comment: comment.optional() });

/**
 * The body of a delivery of any scope, version 3. `event`, `repo` and `webhook` are always there; the rest depends on
 * `event.scope`: narrow it with {@link isScope} or with the `scope` option of an endpoint. What has been checked are
 * those three and the fields that belong to the scope, so of a scope that this release does not know only those three.
 * An optional field of another scope (`comment` on `repo.content`, say) is passed on as it came: its type says what the
 * Hub sends, and nobody has looked at it.
 */
export type WebhookPayload = z.output<typeof anyPayload>;
/**
 * A delivery of scope `repo` or any narrower one: `repo.content`, `repo.config` and those to come. Its optional fields
 * have been checked on the scope that they belong to, and on no other: see {@link WebhookPayload}.
 */
export type RepoPayload = z.output<typeof anyRepoPayload>;
/** A delivery of scope `repo.content`: `updatedRefs` of a git repository, `updatedFiles` of a bucket. */
export type RepoContentPayload = z.output<typeof contentPayload>;
/** A delivery of scope `repo.content` of a model, a dataset or a Space. */
export type GitContentPayload = z.output<typeof gitContentPayload>;
/** A delivery of scope `repo.content` of a bucket. Above 10,000 entries the Hub cuts `updatedFiles`. */
export type BucketContentPayload = z.output<typeof bucketContentPayload>;
/** A delivery of scope `repo.config`. `updatedConfig` is `{}` when the Hub does not report what changed. */
export type RepoConfigPayload = z.output<typeof repoConfigPayload>;
/** A delivery of scope `discussion` or narrower; `comment` comes with a new discussion. */
export type DiscussionPayload = z.output<typeof discussionPayload>;
/** A delivery of scope `discussion.comment`. */
export type DiscussionCommentPayload = z.output<typeof discussionCommentPayload>;
/** What every payload has, whatever its scope. */
export type CommonPayload = z.output<typeof common>;

const schemas = {
  repo: repoPayload,
  "repo.config": repoConfigPayload,
  discussion: discussionPayload,
  "discussion.comment": discussionCommentPayload,
} as const;

/** The scopes known today; a payload may carry a newer, narrower one such as `repo.config.dois`. */
export const scopes = ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"] as const;
/** A scope known today. */
export type KnownScope = (typeof scopes)[number];
/** A scope: a known one, which editors complete, or one to come. */
export type Scope = KnownScope | (string & {});
/** A repository type: a known one, which editors complete, or one to come. */
export type RepoType = (typeof repoTypes)[number] | (string & {});
/** What happened: a known action, which editors complete, or one to come. */
export type Action = (typeof actions)[number] | (string & {});

/** Whether this release knows the scope, and so what its payload must hold. */
export function isKnownScope(scope: string): scope is KnownScope {
  return (scopes as readonly string[]).includes(scope);
}

/**
 * The schema of what a payload of `scope` must hold. Which of the two lists `repo.content` carries depends on the
 * repository type: a bucket has files, a git repository refs, and of the other types (kernels) nothing is known.
 * A scope that is not known needs only what all have.
 */
export function schemaOf(scope: unknown, repoType: unknown): z.ZodType<CommonPayload> {
  if (typeof scope !== "string" || !isKnownScope(scope)) return common;
  if (scope !== "repo.content") return schemas[scope];
  if (repoType === "bucket") return bucketContentPayload;
  return repoType === "model" || repoType === "dataset" || repoType === "space" ? gitContentPayload : contentPayload;
}

const none: readonly string[] = [];

/** The names in a payload that this release does not know: a new scope, action, repository type or version. */
export function unknownNames({ event, repo, webhook }: WebhookPayload): readonly string[] {
  const known =
    isKnownScope(event.scope) &&
    isOneOf(actions, event.action) &&
    isOneOf(repoTypes, repo.type) &&
    webhook.version === 3;
  if (known) return none;
  return [
    isKnownScope(event.scope) ? "" : `scope ${event.scope}`,
    isOneOf(actions, event.action) ? "" : `action ${event.action}`,
    isOneOf(repoTypes, repo.type) ? "" : `repository type ${repo.type}`,
    webhook.version === 3 ? "" : `payload version ${webhook.version}`,
  ].filter((name) => name !== "");
}

function isOneOf(list: readonly string[], value: string): boolean {
  return list.includes(value);
}
