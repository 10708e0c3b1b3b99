import { plainJson } from "../../plain-text.ts";

/** Deeper than this nothing moves further to the right: a deep text must not become quadratic. */
const deepestIndent = 32;

/**
 * A JSON text with a line for each value, which a terminal shows and does not obey; `undefined` where it is no JSON.
 * The text is laid out and not parsed anew, so that numbers keep their digits and objects every key.
 *
 * @example
 * ```ts
 * prettyJson('{"a":[1,2.0]}'); // '{\n  "a": [\n    1,\n    2.0\n  ]\n}'
 * ```
 */
export function prettyJson(text: string): string | undefined {
  if (!isJson(text)) return undefined;
  const parts: string[] = [];
  let depth = 0;
  let before = "";
  const breakLine = () => parts.push(`\n${"  ".repeat(Math.min(depth, deepestIndent))}`);
  for (const token of tokensOf(text)) {
    const opened = before === "{" || before === "[";
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    // Nothing stands between the signs of what is empty.
    if (opened !== closes) breakLine();
    parts.push(token.startsWith('"') ? plainJson(JSON.parse(token)) : token);
    if (token === ",") breakLine();
    if (token === ":") parts.push(" ");
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
  return parts.join("");
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The strings, signs and other values of a JSON text, without the space between them. */
function* tokensOf(text: string): Generator<string> {
  const next = /[{}[\],:"]|[^{}[\],:"\s]+/g;
  for (let found = next.exec(text); found; found = next.exec(text)) {
    if (found[0] === '"') next.lastIndex = endOfString(text, found.index);
    yield text.slice(found.index, next.lastIndex);
  }
}

function endOfString(text: string, start: number): number {
  let end = start + 1;
  while (text.charAt(end) !== '"') end += text.charAt(end) === "\\" ? 2 : 1;
  return end + 1;
}
