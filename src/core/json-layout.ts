/** Deeper than this nothing moves further to the right: a deep text must not become quadratic. */
const deepestIndent = 32;

/**
 * The strings, signs and other values of a JSON text, with the line ends and the spaces that lay it out with a line for
 * each value. The text is not parsed, so that numbers keep their digits and objects every key; it may be cut off.
 *
 * @example
 * ```ts
 * [...layOutJson('{"a":[1,2.0]}')].join(""); // '{\n  "a": [\n    1,\n    2.0\n  ]\n}'
 * ```
 */
export function* layOutJson(json: string): Generator<string> {
  let depth = 0;
  let before = "";
  for (const token of tokensOf(json)) {
    const opened = before === "{" || before === "[";
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    // Nothing stands between the signs of what is empty.
    if (opened !== closes || before === ",") yield `\n${"  ".repeat(Math.min(depth, deepestIndent))}`;
    yield token;
    if (token === ":") yield " ";
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
}

/** The strings, signs and other values, without the space between them. */
function* tokensOf(json: string): Generator<string> {
  const next = /[{}[\],:"]|[^{}[\],:"\s]+/g;
  for (let found = next.exec(json); found; found = next.exec(json)) {
    if (found[0] === '"') next.lastIndex = endOfString(json, found.index);
    yield json.slice(found.index, next.lastIndex);
  }
}

function endOfString(json: string, start: number): number {
  let end = start + 1;
  while (end < json.length && json[end] !== '"') end += json[end] === "\\" ? 2 : 1;
  return end + 1;
}
