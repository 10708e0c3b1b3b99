import { suggest } from "../core/options.ts";

// This file must not import schemas, because the command line loads it to print help.

/** The types of items that a webhook can watch: one repository, or all repositories of a user or organization. */
export const watchedTypes = ["model", "dataset", "space", "bucket", "kernel", "user", "org"] as const;
/** The type of an item that a webhook watches: a repository type, `user`, or `org`. */
export type WatchedType = (typeof watchedTypes)[number];

/** The domains of events that a webhook can subscribe to: changes to repositories, or to their discussions. */
export const webhookDomains = ["repo", "discussion"] as const;
/** A domain of events that a webhook can subscribe to. */
export type WebhookDomain = (typeof webhookDomains)[number];

/**
 * A repository, user, or organization to watch, as `type:name`, such as `"dataset:me/data"` or `"org:acme"`. {@link
 * Watched} is the object form.
 */
export type Watch = `${WatchedType}:${string}`;

/** A repository, user, or organization that a webhook watches, such as `{ type: "dataset", name: "me/data" }`. */
export interface Watched<Type extends string = WatchedType | (string & {})> {
  /** A {@link WatchedType}, or a type that the Hub added after this release. */
  type: Type;
  /** The name of the repository (`owner/name`), the user, or the organization. */
  name: string;
}

/** A parsed {@link Watch}: a {@link Watched} of a type that is known to this release. */
export type WatchedItem = Watched<WatchedType>;

/** Formats watched items as `type:name`. */
export function formatWatched(watched: readonly Watched[]): readonly string[] {
  return watched.map(({ type, name }) => `${type}:${name}`);
}

/**
 * Parses `type:name`. If the text is invalid, returns a problem to show to the user.
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
  if (name.includes(",")) return { problem: "A name cannot contain a comma. Pass several values separately." };
  if ((type === "user" || type === "org") && name.includes("/")) {
    return {
      problem: `The name of ${type === "org" ? "an organization" : "a user"} cannot contain "/". To watch one repository, use its type, as in "model:${name}".`,
    };
  }
  if (name.includes("*")) {
    return {
      problem: `The Hub does not support "*" in names. To watch all repositories of a user or organization, use "user:me" or "org:acme".`,
    };
  }
  if (name === "") return { problem: `The name is missing. Use "${type}:name".` };
  return { type, name };
}

/** Parses a domain. Also accepts `discussions`. Returns `undefined` for any other word. */
export function parseDomain(text: string): WebhookDomain | undefined {
  return webhookDomains.find((domain) => domain === (text === "discussions" ? "discussion" : text));
}

function isWatchedType(text: string): text is WatchedType {
  return watchedTypes.some((type) => type === text);
}
