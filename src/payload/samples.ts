import { deepMerge } from "./edit.ts";
import type { KnownScope } from "./names.ts";
import type { WebhookPayload } from "./schema.ts";
import type { PayloadOf } from "./scope.ts";

/** A part of a payload to merge into a sample. Lists are replaced, not merged. */
export type DeepPartial<Value> = Value extends string | readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]?: DeepPartial<Value[Key]> }
    : Value;

type TypeIn<Changes> = Changes extends { repo: { type: infer Type extends string } } ? Type : "dataset";

const ownerId = "61d2c54b9e1f3a0f1c2b3a4d";
const discussion = {
  num: 7,
  id: "639885d811ae2bad2b7ba461",
  commentId: "6398872887bfcfb93a306f18",
  authorId: ownerId,
};

/** The texts of the discussion in samples. */
export const sampleTexts = {
  title: "Add a data card",
  content: "Could you say where the data comes from?",
} as const;

const oldSha = "ce9a4674fa833a68d5a73ec355f0ea95eedd60b7";
const newSha = "575db8b7a51b6f85eb06eee540738584589f131c";

/**
 * Creates a realistic Hub payload for tests. The payload has all fields of its scope. Objects in `changes` are merged
 * into it, and lists replace its lists. To leave out a field, set it to `undefined`. For `repo.content`, a bucket has
 * `updatedFiles` and other repositories have `updatedRefs`. URLs match the name of the repository.
 *
 * @example
 * ```ts
 * webhookPayload("repo.content");
 * webhookPayload("repo.config", { repo: { type: "model", name: "acme/net" }, updatedConfig: { private: true } });
 * webhookPayload("repo.config", { updatedConfig: { private: undefined } }); // JSON: "updatedConfig": {}
 * webhookPayload("repo.content", { repo: { type: "bucket", name: "acme/files" } });
 * ```
 */
export function webhookPayload<
  const Scope extends KnownScope,
  const Changes extends DeepPartial<WebhookPayload> = Record<never, never>,
>(scope: Scope, changes?: Changes): PayloadOf<Scope, TypeIn<Changes>> {
  const type = changes?.repo?.type ?? "dataset";
  const name = changes?.repo?.name ?? "acme/data";
  const sample = samplePayload({ scope, type, name, hubUrl: "https://huggingface.co", discussion });
  return deepMerge(sample, changes ?? {}) as PayloadOf<Scope, TypeIn<Changes>>;
}

/** The values in a sample. */
export interface SampleSubject {
  scope: KnownScope;
  type: string;
  name: string;
  /** The prefix of all URLs in the sample, without a trailing slash. */
  hubUrl: string;
  /** The discussion in samples of the `discussion` and `discussion.comment` scopes. */
  discussion: { num: number; id: string; commentId: string; authorId: string };
}

/** Creates a payload with all fields of its scope. */
export function samplePayload(subject: SampleSubject): Record<string, unknown> {
  return { ...commonFields(subject), ...scopeFields(subject) };
}

function webPath({ type, name }: SampleSubject): string {
  return type === "model" ? name : `${type}s/${name}`;
}

function commonFields(subject: SampleSubject) {
  const { scope, type, name, hubUrl } = subject;
  const isRepoScope = scope.startsWith("repo");
  return {
    event: { action: scope === "discussion" || scope === "discussion.comment" ? "create" : "update", scope },
    repo: {
      type,
      name,
      id: "621ffdc036468d709f17434d",
      private: false,
      url: { web: `${hubUrl}/${webPath(subject)}`, api: `${hubUrl}/api/${type}s/${name}` },
      owner: { id: ownerId },
      ...(isRepoScope && type !== "bucket" && { headSha: newSha }),
      ...(type === "space" && { subdomain: name.toLowerCase().replace(/[^a-z0-9]+/g, "-") }),
      tags: ["region:us"],
    },
    webhook: { id: "6390e855e30d9209411de93b", version: 3 },
  };
}

function scopeFields(subject: SampleSubject) {
  const { scope, type } = subject;
  switch (scope) {
    case "repo":
      return {};
    case "repo.content":
      return type === "bucket"
        ? { updatedFiles: [{ path: "data/train.parquet", action: "add", xetHash: "a1b2".repeat(16), size: 1_048_576 }] }
        : { updatedRefs: [{ ref: "refs/heads/main", oldSha, newSha }] };
    case "repo.config":
      return { updatedConfig: { private: false } };
    case "discussion":
    case "discussion.comment":
      return discussionFields(subject);
  }
}

function discussionFields(subject: SampleSubject) {
  const { type, name, hubUrl, discussion } = subject;
  const path = `discussions/${discussion.num}`;
  const web = `${hubUrl}/${webPath(subject)}/${path}`;
  return {
    discussion: {
      id: discussion.id,
      num: discussion.num,
      title: sampleTexts.title,
      status: "open",
      isPullRequest: true,
      author: { id: discussion.authorId },
      url: { web, api: `${hubUrl}/api/${type}s/${name}/${path}` },
      changes: { base: "refs/heads/main" },
    },
    comment: {
      id: discussion.commentId,
      author: { id: discussion.authorId },
      hidden: false,
      url: { web: `${web}#${discussion.commentId}` },
      content: sampleTexts.content,
    },
  };
}
