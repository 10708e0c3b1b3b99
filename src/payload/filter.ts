import { readOwnField } from "../core/describe.ts";
import { optionError } from "../core/options.ts";
import { type Action, actions, type RepoType, repoTypes, type Scope, scopes } from "./names.ts";
import { actionOf, coversScope, hasShapeOf, schemaOf, type WebhookPayload } from "./schema.ts";

/** Returns the values of an option that takes one text or a list. @throws `OPTION_INVALID` if there is no value or an empty value. */
function listOf(option: string, value: string | readonly string[]): readonly string[] {
  const list = [value].flat();
  if (list.length > 0 && list.every((item) => typeof item === "string" && item !== "")) return list;
  throw optionError(
    `Option "${option}" contains no value or an empty value. Set a value, or omit the option to match everything.`,
  );
}

/**
 * Returns a function that checks whether a text matches a glob. `*` matches any text without a slash, and `**` matches any text.
 *
 * The time to match grows only with the product of the lengths: other users choose the texts, and a regular expression with several
 * stars could block the process for minutes.
 */
function globMatcher(glob: string): (text: string) => boolean {
  const [start = ""] = glob.split("*", 1);
  const parts = glob.slice(start.length).match(/\*{1,2}|[^*]/gu) ?? [];
  return (text) => text.startsWith(start) && matchesParts(parts, text.slice(start.length));
}

function matchesParts(parts: readonly string[], text: string): boolean {
  /** At each index, whether that many parts match the text up to the current character. */
  const reached: (boolean | undefined)[] = [true];
  for (const [index, part] of parts.entries()) reached.push(reached[index] && part.startsWith("*"));
  for (const char of text) {
    let before = reached[0];
    reached[0] = false;
    // Iterating over entries would take ten times as long. A payload can list 10,000 long paths.
    for (let index = 0; index < parts.length; index += 1) {
      const part = parts[index];
      const current = reached[index + 1];
      reached[index + 1] =
        part === "**" || part === "*"
          ? reached[index] || (current && (part === "**" || char !== "/"))
          : before && part === char;
      before = current;
    }
  }
  return reached[parts.length] === true;
}

/** The maximum length of a ref. Longer refs never match. The Hub's refs are far shorter. */
const maxRefLength = 512;

function refMatcher(globs: readonly string[]): (ref: unknown) => boolean {
  const matchers = globs.map(globMatcher);
  return (ref) => typeof ref === "string" && ref.length <= maxRefLength && matchers.some((matches) => matches(ref));
}

/** Selects deliveries by the files that changed. */
export type PathFilter = NonNullable<ReturnType<typeof createPathFilter>>;

/** The maximum length of a path that is compared with the globs. Longer paths always match, so that no change is missed. */
const maxPathLength = 1_024;

/**
 * Creates the filter of the `paths` option, or returns `undefined` if the option is not set.
 *
 * @throws `OPTION_INVALID` when the option contains no path or an empty path.
 */
export function createPathFilter({ paths: given, ref }: FilterOptions) {
  if (given === undefined) return undefined;
  const paths = listOf("paths", given);
  const matchers = paths.map(globMatcher);
  return {
    paths,
    matches: (path: string) => path.length > maxPathLength || matchers.some((matches) => matches(path)),
    acceptsRef: ref === undefined ? () => true : refMatcher(listOf("ref", ref)),
  };
}

/**
 * Decides from the payload whether a changed file matches. Otherwise, returns the updated refs whose changed files the Hub must list.
 * If the payload does not contain enough to find the changed files, the result is `true`.
 */
export function matchListedFiles(
  filter: PathFilter,
  payload: WebhookPayload,
): boolean | NonNullable<WebhookPayload["updatedRefs"]> {
  const { updatedFiles, updatedFilesTruncated, updatedRefs } = payload;
  // The fields of other repository types and of unknown scopes can have other forms.
  if (!schemaOf(contentScope, undefined).safeParse(payload).success) return true;
  if (updatedFiles) return updatedFilesTruncated === true || updatedFiles.some(({ path }) => filter.matches(path));
  if (!updatedRefs) return true;
  const refs = updatedRefs.filter(
    ({ ref, oldSha, newSha }) => filter.acceptsRef(ref) && newSha !== null && newSha !== oldSha,
  );
  return refs.length > 0 && refs;
}

/** The reason why no changed file matches. */
export function pathsReason({ paths }: Pick<PathFilter, "paths">): string {
  return `no changed file is ${paths.join(" or ")}`;
}

/** The reason why a delivery is ignored whose changes catch-up has derived. */
export const coveredReason = "catch-up has already delivered this change";

/** The values of a filter, as lists. An empty list matches everything. */
export type FilterValues = Readonly<Record<"scopes" | "actions" | "repos" | "refs" | "paths", readonly string[]>>;

/** What a filter decides about a payload. */
export interface FilterPrediction {
  /** The reason why the filter ignores the payload. */
  ignored?: string;
  /** What the payload does not decide, such as `if a changed file matches data/**`. */
  condition?: string;
}

/**
 * Predicts what a filter decides about a payload, without a request to the Hub.
 *
 * @param changedPaths the changed files of the payload's refs, if they are known.
 */
export function predictFilter(
  { scopes, actions, repos, refs, paths }: FilterValues,
  payload: WebhookPayload,
  changedPaths?: readonly string[],
): FilterPrediction {
  const options: FilterOptions = {
    ...(scopes.length > 0 && { scope: scopes }),
    ...(actions.length > 0 && { action: actions }),
    ...(repos.length > 0 && { repo: repos.filter(isRepoPattern) }),
    ...(refs.length > 0 && { ref: refs }),
    ...(paths.length > 0 && { paths }),
  };
  const ignored = createFilter(options)?.(payload);
  if (ignored !== undefined) return { ignored };
  const filter = createPathFilter(options);
  const listed = filter === undefined || matchListedFiles(filter, payload);
  const matches = filter && typeof listed === "object" && changedPaths ? changedPaths.some(filter.matches) : listed;
  if (matches === true) return {};
  return matches === false
    ? { ignored: pathsReason({ paths }) }
    : { condition: `if a changed file matches ${paths.join(" or ")}` };
}

function isRepoPattern(text: string): text is `${string}:${string}` {
  return text.includes(":");
}

/**
 * A pattern for repositories, as `type:name`. In both parts, `*` matches any text without a slash, and `**` matches any
 * text.
 */
export type RepoPattern = `${RepoType}:${string}`;

/** Selects the deliveries that an endpoint receives. Each field takes one value or a list, and all fields must match. */
export interface FilterOptions {
  /**
   * Scopes. Each scope includes narrower scopes: `"repo"` matches `repo.content` and any future `repo.*`. A narrower scope
   * that is unknown to this release counts as an `update` of the broader scope.
   */
  scope?: Scope | readonly Scope[];
  /** Actions, such as `create`, `delete`, `update`, and `move`. */
  action?: Action | readonly Action[];
  /**
   * Repositories as `type:name` with globs, regardless of case: `"dataset:me/data"`, `"model:gpt2"`, `"model:me/*"`, `"*:acme/**"`.
   */
  repo?: RepoPattern | readonly RepoPattern[];
  /**
   * Git refs with globs, such as `"refs/heads/main"` or `"refs/pr/*"`. At least one of `updatedRefs` must match. The Hub
   * also sends updates of `refs/pr/N` and `refs/convert/parquet`.
   */
  ref?: string | readonly string[];
  /**
   * Paths of files with globs, such as `"README.md"` or `"data/**"`. The handler only runs if at least one changed file matches.
   * Events of other scopes than `repo.content` never match. For models, datasets, and Spaces, the server requests
   * the changed files of each updated ref that matches `ref` from the Hub: it compares a new branch with the main branch, and a deleted ref has no
   * changed files. For buckets, the payload lists the files. If the Hub does not answer, or if the list in the payload is
   * truncated, the handler runs.
   */
  paths?: string | readonly string[];
}

const contentScope = "repo.content";

/** Returns the reason why a payload does not match, or `undefined` if the payload matches. */
export type Filter = (payload: WebhookPayload) => string | undefined;

/**
 * Creates a filter function. Returns `undefined` if no option is set. Of `paths`, the function only checks that the payload can
 * contain changed files: see `createPathFilter`.
 *
 * @throws `OPTION_INVALID` when a field is empty or a repository does not have the form `type:name`.
 * @example
 * ```ts
 * const filter = createFilter({ scope: "repo.content", repo: "dataset:me/*" });
 * filter(payload); // undefined, or a reason such as "repo model:me/net is not dataset:me/*"
 * ```
 */
export function createFilter(options: FilterOptions): Filter | undefined {
  const checks: Filter[] = [];
  const { scope, action, repo, ref, paths } = options;
  if (scope !== undefined) checks.push(scopeFilter(listOf("scope", scope)));
  if (action !== undefined) checks.push(actionFilter(listOf("action", action)));
  if (repo !== undefined) checks.push(repoFilter(listOf("repo", repo)));
  if (ref !== undefined) checks.push(refFilter(listOf("ref", ref)));
  if (paths !== undefined) checks.push(contentFilter);
  if (checks.length === 0) return undefined;
  return (payload) => {
    for (const check of checks) {
      const reason = check(payload);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

/**
 * Returns warnings about filter values that the Hub does not send, because a filter that never matches is hard to
 * debug. Unknown values are not errors, because the Hub can add values at any time.
 */
export function lintFilter({ scope, action, repo, ref, paths }: FilterOptions): string[] {
  const all = (value: string | readonly string[] = []) => [value].flat();
  const unknown = (option: string, values: readonly string[], isKnown: (value: string) => boolean, hint: string) =>
    values
      .filter((value) => !isKnown(value) && !value.includes("*"))
      .map((value) => `Option "${option}" is "${value}", which is unknown, so the filter might never match. ${hint}.`);
  const unlisted = (option: string, values: readonly string[], known: readonly string[], what: string) =>
    unknown(option, values, (value) => known.includes(value), `Known ${what}: ${known.join(", ")}`);
  const types = all(repo).map((pattern) => pattern.split(":")[0] ?? "");
  const isContentOnly = scope !== undefined && all(scope).every((wanted) => coversScope(contentScope, wanted));
  return [
    ...unlisted("scope", all(scope), scopes, "scopes"),
    ...unlisted("action", all(action), actions, "actions"),
    ...unlisted("repo", types, repoTypes, "types"),
    ...unknown("ref", all(ref), (value) => value.startsWith("refs/"), 'Use full refs such as "refs/heads/main"'),
    ...(paths === undefined || isContentOnly
      ? []
      : [`Option "paths" ignores events of other scopes than "${contentScope}". Set scope: "${contentScope}".`]),
  ];
}

function scopeFilter(wanted: readonly string[]): Filter {
  return (payload) => {
    const covering = wanted.filter((scope) => coversScope(scope, payload.event.scope));
    if (covering.length === 0) return `scope ${payload.event.scope} is not ${wanted.join(" or ")}`;
    if (covering.some((scope) => hasShapeOf(scope, payload))) return undefined;
    return `scope ${payload.event.scope} lacks fields of ${covering.join(" or ")}`;
  };
}

const contentFilter: Filter = ({ event }) =>
  coversScope(contentScope, event.scope) ? undefined : `scope ${event.scope} has no changed files`;

function actionFilter(wanted: readonly string[]): Filter {
  return (payload) => {
    const action = actionOf(payload);
    return wanted.includes(action) ? undefined : `action ${action} is not ${wanted.join(" or ")}`;
  };
}

function repoFilter(wanted: readonly string[]): Filter {
  const matchers = wanted.map((pattern) => {
    const colon = pattern.indexOf(":");
    if (colon < 1 || colon === pattern.length - 1) {
      throw optionError({
        option: "repo",
        value: pattern,
        expected: `type:name, as in "dataset:${pattern.replaceAll(":", "") || "me/data"}", or "*:" for all types`,
      });
    }
    // The Hub has no two repositories whose names differ only in case.
    return globMatcher(pattern.toLowerCase());
  });
  return ({ repo }) => {
    const name = `${repo.type}:${repo.name}`;
    const folded = name.toLowerCase();
    return matchers.some((matches) => matches(folded)) ? undefined : `repo ${name} is not ${wanted.join(" or ")}`;
  };
}

function refFilter(wanted: readonly string[]): Filter {
  const isWanted = refMatcher(wanted);
  return ({ updatedRefs }) => {
    // Other scopes than `repo.content` can have another value.
    const updated = Array.isArray(updatedRefs) && updatedRefs.some((item) => isWanted(readOwnField(item, "ref")));
    return updated ? undefined : `no updated ref is ${wanted.join(" or ")}`;
  };
}
