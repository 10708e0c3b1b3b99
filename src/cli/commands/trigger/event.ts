import { suggest } from "../../../core/option-error.ts";
import { resolveEvent } from "../../../local-hub/events/event-payload.ts";
import { type ParsedEvent, parseEvent } from "../../../local-hub/events/event-request.ts";
import { createId, createSha } from "../../../local-hub/ids.ts";
import { editPayload, type PayloadEdit } from "../../../payload/edit.ts";
import { actions, isKnownScope, type KnownScope, repoTypes, scopes } from "../../../payload/schema.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import { type Fields, isWholePayload, textAt, webhookEdits, wholeEdits, withoutIdentity } from "./payload-file.ts";

/** What the command line says of an event. */
export interface EventWords {
  /** As `type:name`. */
  repo: string | undefined;
  scope: string | undefined;
  action: string | undefined;
  /** What `--file` names. */
  file: Fields | undefined;
  /** In the order in which they were given. */
  edits: readonly PayloadEdit[];
}

/** What {@link describeEvent} needs beside the words. */
export interface DescribeOptions {
  /** Whether webhooks of a local Hub fire, each of which has an id. */
  hasWebhooks: boolean;
}

/** An event that can be sent. */
export interface EventDescription {
  event: ParsedEvent;
  /** What looks like a slip, since the Hub is not known to send it; each a sentence. */
  doubts: readonly string[];
}

/** The actions that the Hub is known to send with each scope; the first is the one that is taken by default. */
const actionsOf: Readonly<Record<KnownScope, readonly [string, ...string[]]>> = {
  repo: ["update", "create", "delete", "move"],
  "repo.content": ["update"],
  "repo.config": ["update"],
  discussion: ["create", "update", "delete"],
  "discussion.comment": ["create", "update"],
};

/** The beginning of the URLs in a payload that no local Hub makes. */
export const hubUrl = "https://huggingface.co";

/**
 * Makes an event of what the command line says.
 *
 * @throws `ARGUMENT_INVALID` when that is no event, with what to say instead.
 */
export function describeEvent(words: EventWords, { hasWebhooks }: DescribeOptions): EventDescription {
  const { file = {} } = words;
  const recorded = { type: textAt(file, "repo", "type"), name: textAt(file, "repo", "name") };
  const repo = words.repo === undefined ? recorded : parseRepo(words.repo);
  if (repo.type === undefined || repo.name === undefined) {
    throw wrongUsage(
      "Nothing says on which repository: give it as type:name, such as dataset:me/data, or a recorded payload with --file.",
    );
  }
  const { scope, action } = whatHappens(words);
  const isSameRepo = repo.type === recorded.type && repo.name === recorded.name;
  const isSame = isSameRepo && scope === textAt(file, "event", "scope") && action === textAt(file, "event", "action");
  const isWhole = isSame && isWholePayload(file);
  const edits = [
    ...(isWhole ? wholeEdits(file) : []),
    ...webhookEdits(file, { withId: !hasWebhooks }),
    // A name that the control of the local Hub keeps for itself.
    ...(Object.hasOwn(file, "edits") ? [{ path: "edits", value: file.edits }] : []),
    ...words.edits,
  ];
  const isOfAnother = !isSameRepo && recorded.name !== undefined;
  const fields = isOfAnother ? withoutIdentity(file) : file;
  const moves = scope === "repo" && action === "move";
  const event = parseEvent({
    ...fields,
    ...(moves && { movedTo: destination(fields, words.edits) }),
    repo: { ...partOf(fields, "repo"), ...repo },
    event: { ...partOf(fields, "event"), scope, action },
    webhook: undefined,
    edits,
  });
  // Edits that do not fit are told before anybody is asked for anything.
  resolveEvent({ event, baseUrl: hubUrl, createId, createSha });
  return { event, doubts: doubtsAbout({ type: repo.type, scope, action }) };
}

function whatHappens({ scope: givenScope, action: givenAction, file = {} }: EventWords) {
  const recordedScope = textAt(file, "event", "scope");
  const scope = checkedScope(givenScope ?? recordedScope ?? "repo.content");
  // An action belongs to its scope.
  const recordedAction = scope === recordedScope ? textAt(file, "event", "action") : undefined;
  const usual = isKnownScope(scope) ? actionsOf[scope][0] : "update";
  return { scope, action: givenAction ?? recordedAction ?? usual };
}

function parseRepo(text: string): { type: string; name: string } {
  const colon = text.indexOf(":");
  const type = text.slice(0, Math.max(colon, 0));
  const name = text.slice(colon + 1);
  if (colon === -1) {
    throw wrongUsage(
      `The type of the repository is missing: give it as type:name, such as dataset:${/^[^/]+\/[^/]+$/.test(name) ? name : "me/data"}.`,
    );
  }
  if (type === "user" || type === "org") {
    throw wrongUsage(
      `Things happen on repositories: name one of the ${type}'s, such as dataset:${name.split("/")[0] || "me"}/data.`,
    );
  }
  if (!repoTypes.some((known) => known === type)) {
    throw wrongUsage(
      `"${type}" is no type of repository.${suggest(type, repoTypes)} Types are ${repoTypes.join(", ")}.`,
    );
  }
  if (!/^[^/]+\/[^/]+$/.test(name)) {
    throw wrongUsage(`The name of a repository has an owner: give it as ${type}:owner/name, such as ${type}:me/data.`);
  }
  return { type, name };
}

function checkedScope(scope: string): string {
  if (/^(repo|discussion)(\.[\w-]+)*$/.test(scope)) return scope;
  const narrower = scopes.find((known) => known.endsWith(`.${scope}`));
  const hint = narrower ? ` Did you mean "${narrower}"?` : suggest(scope, scopes);
  throw wrongUsage(`"${scope}" is no scope.${hint} A scope is one of ${scopes.join(", ")}, or narrower than one.`);
}

/** Where a repository moves to is part of what happens, and not only of what is said of it. */
function destination(fields: Fields, edits: readonly PayloadEdit[]): unknown {
  const about = edits.filter(({ path }) => path === "movedTo" || path.startsWith("movedTo."));
  const { movedTo } = editPayload({ movedTo: fields.movedTo }, about);
  if (typeof partOf({ movedTo }, "movedTo").name === "string") return movedTo;
  throw wrongUsage("A move says where to: add --set movedTo.name=owner/new-name.");
}

function partOf(fields: Fields, key: string): Fields {
  const part = Object.hasOwn(fields, key) ? fields[key] : undefined;
  return typeof part === "object" && part !== null && !Array.isArray(part) ? { ...part } : {};
}

function doubtsAbout({ type, scope, action }: { type: string; scope: string; action: string }): readonly string[] {
  const asItIs = "it is sent as it is.";
  const isKnownAction = actions.some((known) => known === action);
  return [
    ...(isKnownScope(scope)
      ? []
      : [`The Hub is not known to have events of scope "${scope}": ${asItIs}${suggest(scope, scopes)}`]),
    ...(isKnownAction
      ? []
      : [`The Hub is not known to have the action "${action}": ${asItIs}${suggest(action, actions)}`]),
    ...(isKnownScope(scope) && isKnownAction && !actionsOf[scope].includes(action)
      ? [`With ${scope} the Hub is only known to send ${actionsOf[scope].join(", ")}, and not ${action}: ${asItIs}`]
      : []),
    ...(type === "bucket" && scope.startsWith("discussion")
      ? [`The Hub is not known to have discussions on buckets: ${asItIs}`]
      : []),
  ];
}
