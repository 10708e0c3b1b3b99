import { getAccountKind, localUser } from "../local-hub/accounts.ts";
import { parseWatch, type WatchedItem } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/control.ts";
import type { DevConfig } from "./dev-options.ts";

/** Returns the watch list of an endpoint's webhook in a session. The list is empty if the endpoint has no webhook. */
export function effectiveWatch(
  endpoint: Pick<EndpointDetails, "watch" | "repos">,
  { isReal, watch }: Pick<DevConfig, "isReal" | "watch">,
): readonly WatchedItem[] {
  if (endpoint.watch.length > 0) return endpoint.watch;
  if (watch) return watch;
  return isReal ? [] : defaultWatch(endpoint);
}

/**
 * Derives the default watch list of an endpoint for a local Hub: the repositories and owners in the endpoint's filter,
 * or all repositories of `local-user` if the filter has none. There is no such default on the real Hub.
 *
 * @example
 * ```ts
 * defaultWatch({ repos: ["dataset:me/data", "model:acme/*"] });
 * // [{ type: "dataset", name: "me/data" }, { type: "org", name: "acme" }]
 * ```
 */
export function defaultWatch({ repos }: Pick<EndpointDetails, "repos">): readonly WatchedItem[] {
  const watch = repos.flatMap((repo): readonly WatchedItem[] => {
    const [, type = "", owner = "", name = ""] = /^([^:]+):([^/]+)\/(.+)$/.exec(repo) ?? [];
    if (owner === "" || owner.includes("*")) return [];
    if (`${type}${name}`.includes("*")) return [{ type: getAccountKind(owner) ?? "user", name: owner }];
    const parsed = parseWatch(repo);
    return "problem" in parsed ? [] : [parsed];
  });
  return watch.length > 0 ? watch : [{ type: "user", name: localUser }];
}
