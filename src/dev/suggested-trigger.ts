import { coversScope } from "../payload/scope.ts";
import type { KnownWatched } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/server-details.ts";

/** What a suggestion is made from. */
export interface SuggestedTriggerOptions {
  endpoint: Pick<EndpointDetails, "repos" | "scopes">;
  /** What its webhook watches. */
  watched: readonly KnownWatched[];
}

/** What `trigger` sends when nobody says. */
const usualScope = "repo.content";

/**
 * What to give `hub-webhooks trigger`, word by word, so that an endpoint hears of it and its filter lets it pass.
 * `undefined` where it has no webhook.
 *
 * @example
 * ```ts
 * suggestTrigger({ endpoint: { repos: ["dataset:me/*"], scopes: ["discussion"] }, watched: [{ type: "user", name: "me" }] });
 * // ["dataset:me/data", "--scope", "discussion"]
 * ```
 */
export function suggestTrigger({ endpoint, watched }: SuggestedTriggerOptions): readonly string[] | undefined {
  const [first] = watched;
  if (!first) return undefined;
  const { repos, scopes } = endpoint;
  const isHeard = scopes.length === 0 || scopes.some((scope) => coversScope(scope, usualScope));
  return [repoFor(first, repos), ...(isHeard ? [] : ["--scope", scopes[0] ?? usualScope])];
}

function repoFor({ type, name }: KnownWatched, repos: readonly string[]): string {
  if (type !== "user" && type !== "org") return `${type}:${name}`;
  const [wantedType = "", wantedName = ""] = repos[0]?.split(":") ?? [];
  const repoType = wantedType === "" || wantedType.includes("*") ? "dataset" : wantedType;
  return `${repoType}:${wantedName.startsWith(`${name}/`) && !wantedName.includes("*") ? wantedName : `${name}/data`}`;
}
