import { getAccountKind, localUser } from "../local-hub/accounts.ts";
import { coversScope } from "../payload/scope.ts";
import type { KnownWatched } from "../payload/watch.ts";
import { parseWatch } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/server-control.ts";

/** The default scope of `trigger`. */
const defaultScope = "repo.content";

/**
 * Derives what to watch on a local Hub from the filter of an endpoint: the repositories and owners that it names, or else
 * everything of the local user. There is no such default on the real Hub.
 *
 * @example
 * ```ts
 * defaultWatch({ repos: ["dataset:me/data", "model:acme/*"] });
 * // [{ type: "dataset", name: "me/data" }, { type: "org", name: "acme" }]
 * ```
 */
export function defaultWatch({ repos }: Pick<EndpointDetails, "repos">): readonly KnownWatched[] {
  const watched = repos.flatMap((repo): readonly KnownWatched[] => {
    const [, type = "", owner = "", name = ""] = /^([^:]+):([^/]+)\/(.+)$/.exec(repo) ?? [];
    if (owner === "" || owner.includes("*")) return [];
    if (`${type}${name}`.includes("*")) return [{ type: getAccountKind(owner) ?? "user", name: owner }];
    const parsed = parseWatch(repo);
    return "problem" in parsed ? [] : [parsed];
  });
  return watched.length > 0 ? watched : [{ type: "user", name: localUser }];
}

/**
 * Returns arguments of `hub-webhooks trigger` whose event reaches an endpoint and matches its filter; `undefined` if its
 * webhook watches nothing.
 *
 * @example
 * ```ts
 * const endpoint = { repos: ["dataset:me/*"], scopes: ["discussion"] };
 * suggestTrigger({ endpoint, watched: [{ type: "user", name: "me" }] });
 * // ["dataset:me/data", "--scope", "discussion"]
 * ```
 */
export function suggestTrigger({
  endpoint: { repos, scopes },
  watched,
}: {
  endpoint: Pick<EndpointDetails, "repos" | "scopes">;
  watched: readonly KnownWatched[];
}): readonly string[] | undefined {
  const [first] = watched;
  if (!first) return undefined;
  const matchesDefault = scopes.length === 0 || scopes.some((scope) => coversScope(scope, defaultScope));
  return [chooseRepo(first, repos), ...(matchesDefault ? [] : ["--scope", scopes[0] ?? defaultScope])];
}

function chooseRepo({ type, name }: KnownWatched, repos: readonly string[]): string {
  if (type !== "user" && type !== "org") return `${type}:${name}`;
  const [filterType = "", filterName = ""] = repos[0]?.split(":") ?? [];
  const repoType = filterType === "" || filterType.includes("*") ? "dataset" : filterType;
  return `${repoType}:${filterName.startsWith(`${name}/`) && !filterName.includes("*") ? filterName : `${name}/data`}`;
}
