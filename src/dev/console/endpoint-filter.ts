import { formatWatched, parseWatch, type WatchedItem } from "../../payload/watch.ts";
import type { EndpointDetails } from "../../receiver/control.ts";

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
