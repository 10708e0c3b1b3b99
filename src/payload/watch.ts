import { suggest } from "../core/option-error.ts";

/*
 * What can be watched. Nothing of the schemas is imported, so that the help of the command line need not load them; a
 * test holds that the types are those of repositories, and two more.
 */

/** What a webhook can watch: a repository of a type, or all that belongs to a user or an organization. */
export const watchedTypes = ["model", "dataset", "space", "bucket", "kernel", "user", "org"] as const;
/** What a webhook can watch. */
export type WatchedType = (typeof watchedTypes)[number];

/** What a webhook can be told of: changes of the repository, or of its discussions. */
export const webhookDomains = ["repo", "discussion"] as const;
/** What a webhook can be told of. */
export type WebhookDomain = (typeof webhookDomains)[number];

/** One thing to watch, as `type:name`: `"dataset:me/data"`, `"org:acme"`. */
export type Watch = `${WatchedType}:${string}`;

/** One thing that a webhook watches. */
export interface WatchedThing {
  type: WatchedType;
  name: string;
}

/**
 * Reads what is to be watched, written as `type:name`; of anything else it says what to write instead.
 *
 * @example
 * ```ts
 * parseWatch("dataset:me/data"); // { type: "dataset", name: "me/data" }
 * parseWatch("datset:me/data"); // { problem: '"datset" cannot be watched. Did you mean "dataset"? …' }
 * ```
 */
export function parseWatch(text: string): WatchedThing | { problem: string } {
  const colon = text.indexOf(":");
  if (colon === -1) return { problem: 'Give it as type:name, such as "model:me/my-model" or "org:my-org".' };
  const type = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (!isWatchedType(type)) {
    return {
      problem: `"${type}" cannot be watched.${suggest(type, watchedTypes)} Types are ${watchedTypes.join(", ")}.`,
    };
  }
  if (name.includes(",")) return { problem: "Give several one by one: a name has no comma." };
  if ((type === "user" || type === "org") && name.includes("/")) {
    return {
      problem: `The name of ${type === "org" ? "an org" : "a user"} has no "/"; a repository is watched by its own type.`,
    };
  }
  if (name.includes("*")) {
    return {
      problem: `The Hub watches a repository by its whole name, without "*", or all of an owner: give "user:me" or "org:acme".`,
    };
  }
  if (name === "") return { problem: `The name is missing: give it as "${type}:name".` };
  return { type, name };
}

/** Reads a domain, where people also say `discussions`; `undefined` for any other word. */
export function parseDomain(text: string): WebhookDomain | undefined {
  return webhookDomains.find((domain) => domain === (text === "discussions" ? "discussion" : text));
}

function isWatchedType(text: string): text is WatchedType {
  return watchedTypes.some((type) => type === text);
}
