import { suggest } from "../core/option-error.ts";

// Imports no schemas: the help of the command line must not load them.

/** What a webhook can watch: a repository of a type, or all repositories of a user or an organization. */
export const watchedTypes = ["model", "dataset", "space", "bucket", "kernel", "user", "org"] as const;
/** The type of something that a webhook watches: a type of repository, a user or an organization. */
export type WatchedType = (typeof watchedTypes)[number];

/** The events that a webhook can subscribe to: changes of the repository, or of its discussions. */
export const webhookDomains = ["repo", "discussion"] as const;
/** The events that a webhook can subscribe to. */
export type WebhookDomain = (typeof webhookDomains)[number];

/** A repository, user or organization to watch, as `type:name`: `"dataset:me/data"`, `"org:acme"`. {@link Watched} is the same as an object. */
export type Watch = `${WatchedType}:${string}`;

/** A repository, user or organization that a webhook watches, as in `{ type: "dataset", name: "me/data" }`. */
export interface Watched<Type extends string = WatchedType | (string & {})> {
  /** A {@link WatchedType}, or a type that the Hub added after this release. */
  type: Type;
  /** The name of the repository (`owner/name`), the user or the organization. */
  name: string;
}

/** A parsed {@link Watch}: a {@link Watched} of a type that this release lists. */
export type WatchedItem = Watched<WatchedType>;

/**
 * Parses `type:name`. Returns a problem to show to the user if it is invalid.
 *
 * @example
 * ```ts
 * parseWatch("dataset:me/data"); // { type: "dataset", name: "me/data" }
 * parseWatch("datset:me/data"); // { problem: 'Unknown type "datset". Did you mean "dataset"? …' }
 * ```
 */
export function parseWatch(text: string): WatchedItem | { problem: string } {
  const colon = text.indexOf(":");
  if (colon === -1) return { problem: 'Use type:name, as in "model:me/my-model" or "org:my-org".' };
  const type = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (!isWatchedType(type)) {
    return {
      problem: `Unknown type "${type}".${suggest(type, watchedTypes)} Valid types: ${watchedTypes.join(", ")}.`,
    };
  }
  if (name.includes(",")) return { problem: "Names contain no comma. List several separately." };
  if ((type === "user" || type === "org") && name.includes("/")) {
    return {
      problem: `The name of ${type === "org" ? "an org" : "a user"} has no "/". Use the type of the repository to watch a repository.`,
    };
  }
  if (name.includes("*")) {
    return {
      problem: `The Hub supports no "*" in names. Use "user:me" or "org:acme" to watch all repositories of an owner.`,
    };
  }
  if (name === "") return { problem: `The name is missing. Use "${type}:name".` };
  return { type, name };
}

/** Parses a domain, also written `discussions`; `undefined` for any other word. */
export function parseDomain(text: string): WebhookDomain | undefined {
  return webhookDomains.find((domain) => domain === (text === "discussions" ? "discussion" : text));
}

function isWatchedType(text: string): text is WatchedType {
  return watchedTypes.some((type) => type === text);
}
