import type { KnownScope, WebhookPayload } from "./schema.ts";
import type { PayloadOf } from "./scope.ts";

/** Any part of a payload, to be laid over a sample of it. Lists are replaced whole. */
export type DeepPartial<Value> = Value extends string | readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]?: DeepPartial<Value[Key]> }
    : Value;

type TypeIn<Changes> = Changes extends { repo: { type: infer Type extends string } } ? Type : "dataset";

const ownerId = "61d2c54b9e1f3a0f1c2b3a4d";
const oldSha = "ce9a4674fa833a68d5a73ec355f0ea95eedd60b7";
const newSha = "575db8b7a51b6f85eb06eee540738584589f131c";

/**
 * A payload of the Hub as it really looks, for tests: complete for its scope, with `changes` laid over it. A bucket's
 * `repo.content` lists files, every other one refs; URLs follow the repository's name.
 *
 * @example
 * ```ts
 * webhookPayload("repo.content");
 * webhookPayload("repo.config", { repo: { type: "model", name: "acme/net" }, updatedConfig: { private: true } });
 * webhookPayload("repo.content", { repo: { type: "bucket", name: "acme/files" } });
 * ```
 */
export function webhookPayload<
  const Scope extends KnownScope,
  const Changes extends DeepPartial<WebhookPayload> = Record<never, never>,
>(scope: Scope, changes?: Changes): PayloadOf<Scope, TypeIn<Changes>> {
  const type = changes?.repo?.type ?? "dataset";
  const name = changes?.repo?.name ?? "acme/data";
  const sample = { ...common({ scope, type, name }), ...furtherKeys({ scope, type, name }) };
  return merge(sample, changes ?? {}) as PayloadOf<Scope, TypeIn<Changes>>;
}

interface Subject {
  scope: KnownScope;
  type: string;
  name: string;
}

function common({ scope, type, name }: Subject) {
  const path = type === "model" ? name : `${type}s/${name}`;
  const isRepoScope = scope.startsWith("repo");
  return {
    event: { action: scope === "discussion" || scope === "discussion.comment" ? "create" : "update", scope },
    repo: {
      type,
      name,
      id: "621ffdc036468d709f17434d",
      private: false,
      url: { web: `https://huggingface.co/${path}`, api: `https://huggingface.co/api/${type}s/${name}` },
      owner: { id: ownerId },
      ...(isRepoScope && type !== "bucket" && { headSha: newSha }),
      ...(type === "space" && { subdomain: name.toLowerCase().replace(/[^a-z0-9]+/g, "-") }),
      tags: ["region:us"],
    },
    webhook: { id: "6390e855e30d9209411de93b", version: 3 },
  };
}

function furtherKeys({ scope, type, name }: Subject) {
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
    case "discussion.comment": {
      const path = type === "model" ? name : `${type}s/${name}`;
      return discussionKeys(
        `https://huggingface.co/${path}/discussions/7`,
        `https://huggingface.co/api/${type}s/${name}`,
      );
    }
  }
}

function discussionKeys(web: string, api: string) {
  return {
    discussion: {
      id: "639885d811ae2bad2b7ba461",
      num: 7,
      title: "Add a data card",
      status: "open",
      isPullRequest: true,
      author: { id: ownerId },
      url: { web, api: `${api}/discussions/7` },
      changes: { base: "refs/heads/main" },
    },
    comment: {
      id: "6398872887bfcfb93a306f18",
      author: { id: ownerId },
      hidden: false,
      url: { web: `${web}#6398872887bfcfb93a306f18` },
      content: "Could you say where the data comes from?",
    },
  };
}

/** Lays `changes` over `base`: objects key by key, everything else whole; `undefined` takes a key away. */
function merge(base: unknown, changes: unknown): unknown {
  if (!isRecord(base) || !isRecord(changes)) return changes;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, change] of Object.entries(changes)) {
    if (change === undefined) delete merged[key];
    else merged[key] = merge(merged[key] ?? {}, change);
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
