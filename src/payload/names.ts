import { readOwnField } from "../core/describe.ts";
import { readJson, shorten } from "../core/text.ts";

/*
 * The names in payloads, apart from the schemas, so that the Hub client and the console use them without the schemas.
 */

/** The known repository types. Payloads can contain newer types. */
export const repoTypes = ["model", "dataset", "space", "bucket", "kernel"] as const;
/** The known actions. Payloads can contain newer actions. */
export const actions = ["create", "delete", "update", "move"] as const;
/** The known states of a discussion. Payloads can contain newer states. */
export const discussionStatuses = ["draft", "open", "closed", "merged"] as const;
/** The known scopes. Payloads can contain newer, narrower scopes such as `repo.config.dois`. */
export const scopes = ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"] as const;
/** A scope that is known to this release. */
export type KnownScope = (typeof scopes)[number];
/** A scope. Editors complete the known scopes, and other strings are valid for future scopes. */
export type Scope = KnownScope | (string & {});
/** A repository type. Editors complete the known types, and other strings are valid for future types. */
export type RepoType = (typeof repoTypes)[number] | (string & {});
/** The action of an event. Editors complete the known actions, and other strings are valid for future actions. */
export type Action = (typeof actions)[number] | (string & {});

/** Whether this release has a schema for the scope. */
export function isKnownScope(scope: unknown): scope is KnownScope {
  return (scopes as readonly unknown[]).includes(scope);
}

/** The actions that the Hub is known to send for each scope. The first action is the default. */
export const actionsByScope: Readonly<Record<KnownScope, readonly [string, ...string[]]>> = {
  repo: ["update", "create", "delete", "move"],
  "repo.content": ["update"],
  "repo.config": ["update"],
  discussion: ["create", "update", "delete"],
  "discussion.comment": ["create", "update"],
};

/** The name of a repository: owner and name, or only the name for the oldest repositories, such as `gpt2`. */
export const repositoryName = /^(?:([^/]+)\/)?([^/]+)$/;

const maxLength = 200;

/** A larger body is not parsed: a page of them would take seconds. */
const maxParsedLength = 1_000_000;

/**
 * Reads the event and the repository of a body, which can be anything, JSON or not. Shortens texts to 200 characters, and omits a longer
 * URL.
 */
export function summarizeEvent(body: string | undefined) {
  const payload = body === undefined || body.length > maxParsedLength ? undefined : readJson(body);
  const event = readOwnField(payload, "event");
  const repo = readOwnField(payload, "repo");
  const url = readOwnField(readOwnField(repo, "url"), "web");
  return {
    scope: readText(event, "scope"),
    action: readText(event, "action"),
    repoType: readText(repo, "type"),
    repoName: readText(repo, "name"),
    // The page of the repository, which can be any text. A shortened URL would point to another page.
    repoUrl: typeof url === "string" && url !== "" && url.length <= maxLength ? url : undefined,
    subject: readSubject(payload),
  };
}

/** Returns the part of the repository: `#3` for a discussion or a pull request, otherwise the pushed ref, such as `main` or `main +2`. */
function readSubject(payload: unknown): string | undefined {
  const num = readOwnField(readOwnField(payload, "discussion"), "num");
  if (typeof num === "number") return `#${num}`;
  const refs = readOwnField(payload, "updatedRefs");
  const ref = Array.isArray(refs) ? readText(refs[0], "ref") : undefined;
  const name = ref?.replace(/^refs\/(?:heads|tags)\//, "").replace(/^refs\/pr\/(?=\d+$)/, "#");
  return name && Array.isArray(refs) && refs.length > 1 ? `${name} +${refs.length - 1}` : name;
}

function readText(value: unknown, name: string): string | undefined {
  const text = readOwnField(value, name);
  return typeof text === "string" && text !== "" ? shorten(text, maxLength) : undefined;
}
