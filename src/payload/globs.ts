import { optionError } from "../core/option-error.ts";

/** Returns the values of an option that takes one text or a list. @throws `OPTION_INVALID` if there is no value or an empty value. */
export function listOf(option: string, value: string | readonly string[]): readonly string[] {
  const list = typeof value === "string" ? [value] : value;
  if (list.length > 0 && list.every((item) => typeof item === "string" && item !== "")) return list;
  throw optionError(
    `Option "${option}" contains no value or an empty value. Set at least one value, or omit the option to match everything.`,
  );
}

/** Converts a glob to a regular expression. `*` matches any text without a slash, and `**` matches any text. */
export function globToRegExp(glob: string): RegExp {
  const source = glob
    .split(/(\*{1,2})/)
    .map((part) => (part === "**" ? ".*" : part === "*" ? "[^/]*" : part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")));
  return new RegExp(`^${source.join("")}$`, "su");
}

/**
 * The maximum length of a ref. Longer refs never match, because matching a glob with several stars takes quadratic
 * time. The Hub's refs are far shorter.
 */
const maxRefLength = 512;

/** Returns a function that checks whether a ref matches one of the globs. */
export function refMatcher(globs: readonly string[]): (ref: string) => boolean {
  const patterns = globs.map(globToRegExp);
  return (ref) => ref.length <= maxRefLength && patterns.some((pattern) => pattern.test(ref));
}
