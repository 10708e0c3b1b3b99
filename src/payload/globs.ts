import { optionError } from "../core/option-error.ts";

/** Returns the values of an option that takes one text or a list. @throws `OPTION_INVALID` if there is no value or an empty value. */
export function listOf(option: string, value: string | readonly string[]): readonly string[] {
  const list = typeof value === "string" ? [value] : value;
  if (list.length > 0 && list.every((item) => typeof item === "string" && item !== "")) return list;
  throw optionError(
    `Option "${option}" contains no value or an empty value. Set at least one value, or omit the option to match everything.`,
  );
}

/**
 * Returns a function that checks whether a text matches a glob. `*` matches any text without a slash, and `**` matches any text.
 *
 * The time to match grows only with the product of the lengths: other users choose the texts, and a regular expression with several
 * stars could block the process for minutes.
 */
export function globMatcher(glob: string): (text: string) => boolean {
  const [start = ""] = glob.split("*", 1);
  const parts = glob.slice(start.length).match(/\*{1,2}|[^*]/g) ?? [];
  return (text) => text.startsWith(start) && matchesParts(parts, text.slice(start.length));
}

/** Whether characters and wildcards match the whole text. */
function matchesParts(parts: readonly string[], text: string): boolean {
  /** At each index, whether that many parts match the text up to the current character. */
  const reached = [true];
  for (const [index, part] of parts.entries()) reached.push(reached[index] === true && part.startsWith("*"));
  for (let position = 0; position < text.length; position += 1) {
    const char = text.charAt(position);
    let before = reached[0] === true;
    reached[0] = false;
    for (const [index, part] of parts.entries()) {
      const current = reached[index + 1] === true;
      reached[index + 1] = part.startsWith("*")
        ? reached[index] === true || (current && (part === "**" || char !== "/"))
        : before && part === char;
      before = current;
    }
  }
  return reached[parts.length] === true;
}

/** The maximum length of a ref. Longer refs never match. The Hub's refs are far shorter. */
const maxRefLength = 512;

/** Returns a function that checks whether a ref matches one of the globs. */
export function refMatcher(globs: readonly string[]): (ref: string) => boolean {
  const matchers = globs.map(globMatcher);
  return (ref) => ref.length <= maxRefLength && matchers.some((matches) => matches(ref));
}
