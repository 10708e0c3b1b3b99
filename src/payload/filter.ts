import { optionError } from "../core/option-error.ts";
import {
  type Action,
  actions,
  isKnownScope,
  type RepoType,
  repoTypes,
  type Scope,
  type WebhookPayload,
} from "./schema.ts";
import { actionOf, coversScope, hasShapeOf } from "./scope.ts";

/** A repository as `type:name`. `*` stands for anything but a slash, `**` for anything, in both parts. */
export type RepoPattern = `${RepoType}:${string}`;

/** Which deliveries an endpoint wants. Each field takes one value or several; all fields that are given must match. */
export interface FilterOptions {
  /**
   * Scopes, each with all narrower ones: `"repo"` takes `repo.content` and any `repo.*` to come. A narrower scope that
   * is not known yet counts as an `update` of the broader one.
   */
  scope?: Scope | readonly Scope[];
  /** Actions: `create`, `delete`, `update`, `move`. */
  action?: Action | readonly Action[];
  /** Repositories as `type:name` with globs: `"dataset:me/data"`, `"model:me/*"`, `"*:acme/**"`. */
  repo?: RepoPattern | readonly RepoPattern[];
  /**
   * Git refs with globs, such as `"refs/heads/main"` or `"refs/pr/*"`: at least one of `updatedRefs` must match. The
   * Hub also fires for `refs/pr/N` and `refs/convert/parquet`.
   */
  ref?: string | readonly string[];
}

/** Says why a payload is not wanted, or nothing when it is. */
export type Filter = (payload: WebhookPayload) => string | undefined;

/**
 * Turns filter options into one function.
 *
 * @throws `OPTION_INVALID` when a field is empty or a repository is not written as `type:name`.
 * @example
 * ```ts
 * const filter = createFilter({ scope: "repo.content", repo: "dataset:me/*" });
 * filter(payload); // undefined, or for instance "repo model:me/net is not dataset:me/*"
 * ```
 */
export function createFilter(options: FilterOptions): Filter | undefined {
  const checks: Filter[] = [];
  const { scope, action, repo, ref } = options;
  if (scope !== undefined) checks.push(scopeFilter(listOf("scope", scope)));
  if (action !== undefined) checks.push(actionFilter(listOf("action", action)));
  if (repo !== undefined) checks.push(repoFilter(listOf("repo", repo)));
  if (ref !== undefined) checks.push(refFilter(listOf("ref", ref)));
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
 * Says what looks like a slip in filter options: a value that the Hub does not send today. It may do so tomorrow, so
 * it is no error, but a filter that nothing passes is a silence that takes long to understand.
 */
export function doubtsAbout({ scope, action, repo, ref }: FilterOptions): string[] {
  const unknown = (option: string, values: readonly string[], known: (value: string) => boolean, hint: string) =>
    values
      .filter((value) => !known(value) && !value.includes("*"))
      .map((value) => `Option "${option}" is "${value}", which the Hub does not send today: ${hint}.`);
  const all = (value: string | readonly string[] | undefined) => (typeof value === "string" ? [value] : (value ?? []));
  const isOneOf = (known: readonly string[]) => (value: string) => known.includes(value);
  return [
    ...unknown("scope", all(scope), isKnownScope, "scopes are repo, repo.content, discussion and the like"),
    ...unknown("action", all(action), isOneOf(actions), `actions are ${actions.join(", ")}`),
    ...unknown(
      "repo",
      all(repo).map((pattern) => pattern.split(":")[0] ?? ""),
      isOneOf(repoTypes),
      `types are ${repoTypes.join(", ")}`,
    ),
    ...unknown("ref", all(ref), (value) => value.startsWith("refs/"), 'write it in full, as in "refs/heads/main"'),
  ];
}

function scopeFilter(wanted: readonly string[]): Filter {
  return (payload) => {
    const covering = wanted.filter((scope) => coversScope(scope, payload.event.scope));
    if (covering.length === 0) return `scope ${payload.event.scope} is not ${wanted.join(" or ")}`;
    if (covering.some((scope) => hasShapeOf(scope, payload))) return undefined;
    return `scope ${payload.event.scope} does not have what ${covering.join(" or ")} promises`;
  };
}

function actionFilter(wanted: readonly string[]): Filter {
  return (payload) => {
    const action = actionOf(payload);
    return wanted.includes(action) ? undefined : `action ${action} is not ${wanted.join(" or ")}`;
  };
}

function repoFilter(wanted: readonly string[]): Filter {
  const patterns = wanted.map((pattern) => {
    const colon = pattern.indexOf(":");
    if (colon < 1 || colon === pattern.length - 1) {
      throw optionError(
        `Option "repo" is ${JSON.stringify(pattern)}: write the type too, as in "dataset:${pattern.replaceAll(":", "") || "me/data"}", or "*:" for every type.`,
      );
    }
    return globToRegExp(pattern);
  });
  return ({ repo }) => {
    const name = `${repo.type}:${repo.name}`;
    return patterns.some((pattern) => pattern.test(name)) ? undefined : `repo ${name} is not ${wanted.join(" or ")}`;
  };
}

/** Far beyond what the Hub takes for one. A glob with two stars takes the square of it in steps. */
const longestRef = 512;

function refFilter(wanted: readonly string[]): Filter {
  const patterns = wanted.map(globToRegExp);
  const isWanted = (ref: string) => ref.length <= longestRef && patterns.some((pattern) => pattern.test(ref));
  return (payload) => {
    const updated = payload.updatedRefs?.some(({ ref }) => isWanted(ref));
    return updated ? undefined : `no updated ref is ${wanted.join(" or ")}`;
  };
}

function listOf(option: string, value: string | readonly string[]): readonly string[] {
  const list = typeof value === "string" ? [value] : value;
  if (list.length > 0 && list.every((item) => typeof item === "string" && item !== "")) return list;
  throw optionError(`Option "${option}" is empty: give at least one value, or leave it out to take everything.`);
}

/** `**` is anything, `*` anything but a slash, every other character itself. */
function globToRegExp(glob: string): RegExp {
  const source = glob
    .split(/(\*{1,2})/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")));
  return new RegExp(`^${source.join("")}$`, "su");
}
