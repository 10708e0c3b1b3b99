import { indentJson } from "../../../core/indent-json.ts";
import { plainJson } from "../../../core/terminal-text.ts";

/**
 * A JSON text with a line for each value, which a terminal shows and does not obey; `undefined` where it is no JSON.
 *
 * @example
 * ```ts
 * prettyJson('{"a":[1,2.0]}'); // '{\n  "a": [\n    1,\n    2.0\n  ]\n}'
 * ```
 */
export function prettyJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  return [...indentJson(text)].map((part) => (part.startsWith('"') ? plainJson(JSON.parse(part)) : part)).join("");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
