import { createFilter } from "../../payload/filter.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import { formatWatched, parseWatch, type WatchedItem } from "../../payload/watch.ts";
import type { EndpointDetails } from "../../receiver/control.ts";

/**
 * Returns the reason why the filter of an endpoint ignores a payload, or `undefined` if the payload matches. Only checks scopes and
 * repositories, because the description of an endpoint contains no other filters. The server applies the others.
 */
export function reasonToIgnore(
  { scopes, repos }: Pick<EndpointDetails, "scopes" | "repos">,
  payload: WebhookPayload,
): string | undefined {
  const filter = createFilter({
    ...(scopes.length > 0 && { scope: scopes }),
    ...(repos.length > 0 && { repo: repos.filter(isRepoPattern) }),
  });
  return filter?.(payload);
}

function isRepoPattern(text: string): text is `${string}:${string}` {
  return text.includes(":");
}

/** Returns the repositories that an endpoint watches or that its filter names, as `type:name`, without owners and patterns. */
export function repositoriesOf({ watch, repos }: Pick<EndpointDetails, "watch" | "repos">): readonly string[] {
  const named = repos.flatMap((repo) => {
    const parsed = parseWatch(repo);
    return "problem" in parsed ? [] : [parsed];
  });
  return formatWatched([...watch, ...named].filter((item) => !isOwner(item) && item.name.includes("/")));
}

/** Returns an example of a repository for each owner that an endpoint watches, as `type:name`. */
export function examplesOf({ watch }: Pick<EndpointDetails, "watch">): readonly string[] {
  return watch.filter(isOwner).map(({ name }) => `dataset:${name}/data`);
}

function isOwner({ type }: WatchedItem): boolean {
  return type === "user" || type === "org";
}
