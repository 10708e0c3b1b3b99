import type { FilterOptions } from "./filter.ts";
import { globMatcher, listOf, refMatcher } from "./globs.ts";

/** Selects deliveries by the files that changed. */
export interface PathFilter {
  /** The paths, for messages. */
  readonly paths: readonly string[];
  /** Whether a changed file matches. */
  readonly matches: (path: string) => boolean;
  /** Whether the changes of a ref count. */
  readonly acceptsRef: (ref: string) => boolean;
}

/** The maximum length of a path that is compared with the globs. Longer paths always match, so that no change is missed. */
const maxPathLength = 1_024;

/**
 * Creates the filter of the `paths` option, or returns `undefined` if the option is not set.
 *
 * @throws `OPTION_INVALID` when the option contains no path or an empty path.
 */
export function createPathFilter({ paths: given, ref }: FilterOptions): PathFilter | undefined {
  if (given === undefined) return undefined;
  const paths = listOf("paths", given);
  const matchers = paths.map(globMatcher);
  return {
    paths,
    matches: (path) => path.length > maxPathLength || matchers.some((matches) => matches(path)),
    acceptsRef: ref === undefined ? () => true : refMatcher(listOf("ref", ref)),
  };
}
