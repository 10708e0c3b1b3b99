import { coversScope } from "../payload/scope.ts";
import type { Watched } from "../payload/watch.ts";

/** The default scope of `trigger`. */
const defaultScope = "repo.content";

/**
 * Returns arguments for `hub-webhooks trigger`. The event fires a webhook and matches the endpoint's filter.
 *
 * @param options.watched The watched items of the webhook. Default if empty: `dataset:me/data`.
 * @param options.scopes The domains of the webhook, or the scopes of the endpoint's filter. An empty list stands for all scopes.
 * @param options.repos The repositories of the endpoint's filter. Default: all.
 * @example
 * ```ts
 * triggerArguments({ watched: [{ type: "user", name: "me" }], scopes: ["discussion"], repos: ["model:me/*"] });
 * // ["model:me/data", "--scope", "discussion"]
 * ```
 */
export function triggerArguments({
  watched: [first = { type: "dataset", name: "me/data" }],
  scopes,
  repos = [],
}: {
  watched: readonly Watched<string>[];
  scopes: readonly string[];
  repos?: readonly string[];
}): readonly string[] {
  const matchesDefault = scopes.length === 0 || scopes.some((scope) => coversScope(scope, defaultScope));
  return [chooseRepo(first, repos), ...(matchesDefault ? [] : ["--scope", scopes[0] ?? defaultScope])];
}

function chooseRepo({ type, name }: Watched<string>, repos: readonly string[]): string {
  if (type !== "user" && type !== "org") return `${type}:${name}`;
  const [filterType = "", filterName = ""] = repos[0]?.split(":") ?? [];
  const repoType = filterType === "" || filterType.includes("*") ? "dataset" : filterType;
  return `${repoType}:${filterName.startsWith(`${name}/`) && !filterName.includes("*") ? filterName : `${name}/data`}`;
}
