import { isRecord } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import type { KnownScope } from "./names.ts";
import type { PayloadOf, WebhookPayload } from "./schema.ts";

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

export interface SampleSubject {
  scope: KnownScope;
  type: string;
  name: string;
  /** The prefix of all URLs in the sample, without a trailing slash. */
  hubUrl: string;
  discussion: { num: number; id: string; commentId: string; authorId: string };
}

function webPath({ type, name }: SampleSubject): string {
  return type === "model" ? name : `${type}s/${name}`;
}

/** Creates a payload with all fields of its scope. */
export function samplePayload(subject: SampleSubject): Record<string, unknown> {
  const { scope, type, name, hubUrl } = subject;
  const isRepoScope = scope.startsWith("repo");
  return {
    event: { action: isRepoScope ? "update" : "create", scope },
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
    ...scopeFields(subject),
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

/** One change to a payload, which sets or removes the value at a path. */
export interface PayloadEdit {
  /** Keys separated by dots, such as `updatedRefs.0.ref`. Numbers are list indexes, starting at 0. */
  path: string;
  /** Any JSON value. */
  value?: unknown;
  /** Removes the value at the path. */
  remove?: true | undefined;
}

/** Whether a text is a valid path of a {@link PayloadEdit}: nonempty keys separated by dots. */
export function isEditPath(text: string): boolean {
  return text.split(".").every((key) => key !== "");
}

/**
 * Applies edits to a copy of a payload, in order. Creates missing objects and lists on the path. Each edit can append
 * at most one item to a list. Ignores edits that remove a missing value, and paths that contain `__proto__`.
 *
 * @throws `ARGUMENT_INVALID` when a path continues below a string, number, or boolean, or skips items of a list.
 * @example
 * ```ts
 * editPayload(payload, [{ path: "repo.private", value: true }, { path: "repo.tags", remove: true }]);
 * ```
 */
export function editPayload(payload: object, edits: readonly PayloadEdit[]): Record<string, unknown> {
  let edited: Record<string, unknown> = { ...payload };
  for (const edit of edits) {
    const keys = edit.path.split(".");
    if (!keys.includes("__proto__")) edited = editObject(edited, keys, edit);
  }
  return edited;
}

/** Applies an edit below a value. `keys`: the rest of its path. */
function editValue(value: unknown, keys: readonly string[], edit: PayloadEdit): unknown {
  const [key] = keys;
  if (key === undefined) return edit.value;
  if (Array.isArray(value)) return editList(value, keys, edit);
  if (typeof value === "object" && value !== null) return editObject({ ...value }, keys, edit);
  if (edit.remove) return value;
  if (value !== undefined && value !== null) {
    throw wrongPath(edit, keys, `is a ${typeof value}, not an object or a list`);
  }
  return /^\d+$/.test(key) ? editList([], keys, edit) : editObject({}, keys, edit);
}

function editObject(object: Record<string, unknown>, keys: readonly string[], edit: PayloadEdit) {
  const [key = "", ...rest] = keys;
  // Inherited names such as "constructor" are not fields of the payload.
  const isThere = Object.hasOwn(object, key);
  if (!edit.remove) return { ...object, [key]: editValue(isThere ? object[key] : undefined, rest, edit) };
  if (!isThere) return object;
  const { [key]: value, ...others } = object;
  return rest.length === 0 ? others : { ...object, [key]: editValue(value, rest, edit) };
}

function editList(list: readonly unknown[], keys: readonly string[], edit: PayloadEdit): readonly unknown[] {
  const [key = "", ...rest] = keys;
  const index = /^\d+$/.test(key) ? Number(key) : Number.POSITIVE_INFINITY;
  if (index < list.length) {
    if (edit.remove && rest.length === 0) return list.toSpliced(index, 1);
    return list.map((item, at) => (at === index ? editValue(item, rest, edit) : item));
  }
  if (edit.remove) return list;
  if (index > list.length) throw wrongPath(edit, keys, `is a list whose next index is ${list.length}`);
  return [...list, editValue(undefined, rest, edit)];
}

function wrongPath({ path }: PayloadEdit, keys: readonly string[], found: string): WebhookError {
  const place = path.split(".").slice(0, -keys.length).join(".");
  return new WebhookError(`Cannot edit "${path}": the value at "${place}" ${found}.`, { code: "ARGUMENT_INVALID" });
}

/**
 * Merges `changes` into a copy of `base`. Objects are merged key by key, and other values are replaced. A value of
 * `undefined` removes its key.
 */
export function deepMerge(base: object, changes: object): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, change] of Object.entries(changes)) {
    // Assigning this key would set the prototype.
    if (key === "__proto__") continue;
    const current = merged[key];
    if (change === undefined) delete merged[key];
    else merged[key] = isRecord(change) ? deepMerge(isRecord(current) ? current : {}, change) : change;
  }
  return merged;
}
