import { readFile } from "node:fs/promises";
import { isRecord, readOwnField } from "../../../core/describe.ts";
import { suggest } from "../../../core/options.ts";
import { shorten } from "../../../core/text.ts";
import { createId, createSha } from "../../../local-hub/accounts.ts";
import { type ParsedEvent, parseEvent, serializeEvent } from "../../../local-hub/events/event-request.ts";
import { actions, actionsByScope, isKnownScope, repositoryName, repoTypes, scopes } from "../../../payload/names.ts";
import { deepMerge, editPayload, isEditPath, type PayloadEdit } from "../../../payload/samples.ts";
import { schemaOf } from "../../../payload/schema.ts";
import { readJsonFile } from "../../input.ts";
import type { Shell } from "../../invocation.ts";
import { usageError } from "../../usage.ts";

/** The options that describe an event. */
export interface EventOptions {
  /** The repository, as `type:name`. */
  repo: string | undefined;
  scope: string | undefined;
  action: string | undefined;
  /** The content of `--file`. */
  file: Fields | undefined;
  /** The fields of {@link readPush}. */
  pushed: Fields | undefined;
  /** The values of `--set` and `--unset`, in the given order. */
  edits: readonly PayloadEdit[];
}

/** An event to send. */
export interface EventDescription {
  event: ParsedEvent;
  /** Warnings about likely mistakes: values that the Hub is not known to send. */
  warnings: readonly string[];
}

/** The Hub URL in payloads that are sent without a local Hub. */
export const hubUrl = "https://huggingface.co";

/**
 * Creates an event from the options.
 *
 * @param context.hasWebhooks Whether the event goes to webhooks of a local Hub, which set their own ID in the payload.
 * @throws `ARGUMENT_INVALID` for invalid options.
 */
export function describeEvent(options: EventOptions, { hasWebhooks }: { hasWebhooks: boolean }): EventDescription {
  const { file = {} } = options;
  const recorded = { type: textAt(file, "repo", "type"), name: textAt(file, "repo", "name") };
  const repo = options.repo === undefined ? recorded : parseRepo(options.repo);
  if (repo.type === undefined || repo.name === undefined) {
    throw usageError(
      "The repository is missing. Add a repository as type:name, such as dataset:me/data, or add a recorded payload with --file.",
    );
  }
  const { scope, action } = scopeAndAction(options);
  const isSameRepo = repo.type === recorded.type && repo.name === recorded.name;
  const isSame = isSameRepo && scope === textAt(file, "event", "scope") && action === textAt(file, "event", "action");
  const isComplete = isSame && isCompletePayload(file);
  const edits = [
    ...(isComplete ? replacingEdits(file) : []),
    ...webhookEdits(file, { withId: !hasWebhooks }),
    // The local Hub's API has these fields, so an edit must set a payload field of this name.
    ...["edits", "files", "silent"].flatMap((path) => (Object.hasOwn(file, path) ? [{ path, value: file[path] }] : [])),
    ...options.edits,
  ];
  const isAnotherRepo = !isSameRepo && recorded.name !== undefined;
  const fields = editPayload(isAnotherRepo ? withoutIdentity(file) : file, options.edits.filter(changesHub));
  const isMove = scope === "repo" && action === "move";
  const event = parseEvent({
    ...fields,
    ...(isMove && { movedTo: destination(fields, options.edits) }),
    repo: { ...partOf(fields, "repo"), ...repo },
    event: { ...partOf(fields, "event"), scope, action },
    ...{ webhook: undefined, files: undefined, silent: undefined, ...withTexts(options.pushed, fields) },
    edits,
  });
  // Report invalid edits before a secret is read.
  serializeEvent(event, { hubUrl, createId, createSha });
  return { event, warnings: findWarnings({ type: repo.type, scope, action }) };
}

function scopeAndAction({ scope: givenScope, action: givenAction, file = {} }: EventOptions) {
  const recordedScope = textAt(file, "event", "scope");
  const scope = parseScope(givenScope ?? recordedScope ?? "repo.content");
  // Use the recorded action only with the recorded scope.
  const recordedAction = scope === recordedScope ? textAt(file, "event", "action") : undefined;
  const defaultAction = isKnownScope(scope) ? actionsByScope[scope][0] : "update";
  return { scope, action: givenAction ?? recordedAction ?? defaultAction };
}

function parseRepo(text: string): { type: string; name: string } {
  const colon = text.indexOf(":");
  const type = text.slice(0, Math.max(colon, 0));
  const name = text.slice(colon + 1);
  if (colon === -1) {
    throw usageError(
      `The type of the repository is missing. Use type:name, such as dataset:${/^[^/]+\/[^/]+$/.test(name) ? name : "me/data"}.`,
    );
  }
  if (type === "user" || type === "org") {
    throw usageError(
      `Events only occur on repositories. Use a repository of the ${type}, such as dataset:${name.split("/")[0] || "me"}/data.`,
    );
  }
  if (!repoTypes.some((known) => known === type)) {
    throw usageError(
      `Unknown repository type "${type}".${suggest(type, repoTypes)} Valid types: ${repoTypes.join(", ")}.`,
    );
  }
  // Only models and datasets can be as old as model:gpt2, which has no owner.
  if (!repositoryName.test(name) || (!name.includes("/") && type !== "model" && type !== "dataset")) {
    throw usageError(`The owner of the repository is missing. Use ${type}:owner/name, such as ${type}:me/data.`);
  }
  return { type, name };
}

function parseScope(scope: string): string {
  if (/^(repo|discussion)(\.[\w-]+)*$/.test(scope)) return scope;
  const narrower = scopes.find((known) => known.endsWith(`.${scope}`));
  const hint = narrower ? ` Did you mean "${narrower}"?` : suggest(scope, scopes);
  throw usageError(`Unknown scope "${scope}".${hint} Valid scopes: ${scopes.join(", ")}, and narrower scopes.`);
}

/** Returns the destination of a move, with the edits applied. @throws `ARGUMENT_INVALID` if there is no destination. */
function destination(fields: Fields, edits: readonly PayloadEdit[]): unknown {
  const moveEdits = edits.filter(({ path }) => path === "movedTo" || path.startsWith("movedTo."));
  const { movedTo } = editPayload({ movedTo: fields.movedTo }, moveEdits);
  if (typeof partOf({ movedTo }, "movedTo").name === "string") return movedTo;
  throw usageError("A move requires a destination. Add --set movedTo.name=owner/new-name.");
}

/** The fields that a change on the local Hub uses, with their types. Other edits change only the payload. */
const hubFields: Readonly<Record<string, string>> = {
  "comment.id": "string",
  "comment.content": "string",
  "comment.hidden": "boolean",
  "discussion.num": "number",
  "discussion.title": "string",
  "discussion.status": "string",
  "discussion.isPullRequest": "boolean",
  "updatedConfig.private": "boolean",
};

function changesHub({ path, value }: PayloadEdit): boolean {
  return hubFields[path] === typeof value;
}

function partOf(fields: Fields, key: string): Fields {
  const part = readOwnField(fields, key);
  return isRecord(part) ? part : {};
}

function findWarnings({ type, scope, action }: { type: string; scope: string; action: string }): readonly string[] {
  const note = "Sending it anyway.";
  const isKnownAction = actions.some((known) => known === action);
  return [
    ...(isKnownScope(scope) ? [] : [`The Hub is not known to send scope "${scope}". ${note}${suggest(scope, scopes)}`]),
    ...(isKnownAction ? [] : [`The Hub is not known to send action "${action}". ${note}${suggest(action, actions)}`]),
    ...(isKnownScope(scope) && isKnownAction && !actionsByScope[scope].includes(action)
      ? [
          `With scope ${scope}, the Hub is only known to send ${actionsByScope[scope].join(", ")}, not ${action}. ${note}`,
        ]
      : []),
    ...(type === "bucket" && scope.startsWith("discussion")
      ? [`The Hub is not known to have discussions on buckets. ${note}`]
      : []),
  ];
}

/** A JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** In MiB. Hub payloads are smaller: even a bucket payload with 10,000 files has less than 2 MiB. */
const maxMebibytes = 4;

/** All fields of a payload except `event`, `repo`, and `webhook`. */
const optionalFields = [
  "movedTo",
  "updatedRefs",
  "updatedFiles",
  "updatedFilesTruncated",
  "updatedConfig",
  "discussion",
  "comment",
];

/** The fields of `repo` that depend on its name. */
const identity = {
  type: undefined,
  name: undefined,
  id: undefined,
  owner: undefined,
  subdomain: undefined,
  url: undefined,
};

/**
 * Reads `--file`: fields of a payload, or a complete payload.
 *
 * @throws `ARGUMENT_INVALID` if the file is unreadable or does not contain a JSON object.
 */
export async function readPayloadFile({ file, shell }: { file: string; shell: Shell }): Promise<Fields> {
  const value = await readJsonFile({ option: "--file", file, shell, maxMebibytes });
  if (isRecord(value)) return value;
  throw usageError(
    `--file: The JSON in "${file}" is not an object. Use an object with payload fields, or a complete payload.`,
  );
}

/** Whether the fields form a complete payload. */
function isCompletePayload(fields: Fields): boolean {
  return schemaOf(textAt(fields, "event", "scope"), textAt(fields, "repo", "type")).safeParse(fields).success;
}

/** Returns the string in a nested field, if there is one. */
function textAt(fields: Fields, outer: string, inner: string): string | undefined {
  const value = readOwnField(readOwnField(fields, outer), inner);
  return typeof value === "string" ? value : undefined;
}

/** Removes the fields that depend on the name of the recorded repository. The rest can be sent for another repository. */
function withoutIdentity(fields: Fields): Fields {
  return isRecord(fields.repo) ? { ...fields, repo: deepMerge(fields.repo, identity) } : fields;
}

/** Returns the fields of a push with the texts of the pull request that `--set` gives. */
function withTexts(pushed: Fields | undefined, fields: Fields): Fields | undefined {
  if (pushed?.discussion === undefined) return pushed;
  return deepMerge(pushed, { discussion: partOf(fields, "discussion"), comment: partOf(fields, "comment") });
}

/**
 * Reads the files of `--add`, `--delete`, `--pr` and `--ref`. Returns the scope and fields of their event, or `undefined` without these
 * options.
 *
 * @throws `ARGUMENT_INVALID` if a file cannot be read.
 */
export async function readPush({
  add = [],
  delete: deleted = [],
  pr,
  ref,
}: {
  add?: readonly string[];
  delete?: readonly string[];
  pr?: boolean;
  ref?: string;
}): Promise<{ scope: string; fields: Fields } | undefined> {
  if (add.length === 0 && deleted.length === 0 && !pr && ref === undefined) return undefined;
  const added = await Promise.all(add.map(readAddedFile));
  const files = Object.fromEntries([...added, ...deleted.map((path) => [path, null])]);
  const fields = {
    ...(Object.keys(files).length > 0 && { files }),
    // The local Hub makes the commit, and sets its ID.
    ...(ref !== undefined && { updatedRefs: [{ ref, newSha: "" }] }),
  };
  if (!pr) return { scope: "repo.content", fields };
  const paths = Object.keys(files);
  const changed = paths.length > 1 ? `${paths.length} files` : (paths[0] ?? "a file");
  return {
    scope: "discussion",
    fields: {
      ...fields,
      discussion: { isPullRequest: true, title: `Change ${shorten(changed, 100)}` },
      comment: { content: `This pull request changes ${paths.join(", ") || changed}.` },
    },
  };
}

async function readAddedFile(text: string): Promise<readonly [path: string, file: { base64: string }]> {
  const [path = "", file = ""] = text.split(/=(.*)/s);
  if (path === "" || file === "")
    throw usageError(`--add: "${text}" is not a path and a file. Use data/train.csv=./bad.csv.`);
  try {
    return [path, { base64: await readFile(file, "base64") }];
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw usageError(`--add: "${file}" cannot be read${code}. Use the path of a file on this machine.`);
  }
}

/** Returns the edits that turn any payload into the recorded payload, except for `webhook`. */
function replacingEdits(payload: Fields): readonly PayloadEdit[] {
  return ["event", "repo", ...optionalFields].map((path) =>
    Object.hasOwn(payload, path) ? { path, value: payload[path] } : { path, remove: true },
  );
}

/**
 * Returns the edits that replace `webhook`, the field that a local Hub sets, with the values of a file. The recorded ID
 * is omitted if a webhook fires, because that webhook has its own ID.
 */
function webhookEdits({ webhook }: Fields, { withId }: { withId: boolean }): readonly PayloadEdit[] {
  if (webhook === undefined) return [];
  if (!isRecord(webhook)) return [{ path: "webhook", value: webhook }];
  return Object.entries(webhook)
    .filter(([key]) => (withId || key !== "id") && isEditPath(key))
    .map(([key, value]) => ({ path: `webhook.${key}`, value }));
}
