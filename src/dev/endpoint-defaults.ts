import { getAccountKind, localUser } from "../local-hub/accounts.ts";
import { type KnownWatched, parseWatch } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/server-details.ts";

/**
 * What the webhook of an endpoint watches on a local Hub when its file does not say: the repositories and owners that
 * its filter names, else all that belongs to the developer. On the real Hub nobody's repositories are guessed.
 *
 * @example
 * ```ts
 * watchByDefault({ repos: ["dataset:me/data", "model:acme/*"] });
 * // [{ type: "dataset", name: "me/data" }, { type: "org", name: "acme" }]
 * ```
 */
export function watchByDefault({ repos }: Pick<EndpointDetails, "repos">): readonly KnownWatched[] {
  const named = repos.flatMap((repo): readonly KnownWatched[] => {
    const [, type = "", owner = "", name = ""] = /^([^:]+):([^/]+)\/(.+)$/.exec(repo) ?? [];
    if (owner === "" || owner.includes("*")) return [];
    if (`${type}${name}`.includes("*")) return [{ type: getAccountKind(owner) ?? "user", name: owner }];
    const watched = parseWatch(repo);
    return "problem" in watched ? [] : [watched];
  });
  return named.length > 0 ? named : [{ type: "user", name: localUser }];
}
