/**
 * The maximum number of indented levels. Without a limit, the output for deeply nested JSON would grow quadratically.
 */
const maxIndent = 32;

/**
 * Yields the tokens of a JSON text with line breaks and spaces between them, so that each value is on its own line. The text
 * is not parsed: numbers keep their digits, objects keep duplicate keys, and the text may be truncated.
 *
 * @example
 * ```ts
 * [...indentJson('{"a":[1,2.0]}')].join(""); // '{\n  "a": [\n    1,\n    2.0\n  ]\n}'
 * ```
 */
export function* indentJson(json: string): Generator<string> {
  let depth = 0;
  let before = "";
  for (const token of tokensOf(json)) {
    const opened = before === "{" || before === "[";
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    // Empty objects and lists stay on one line.
    if (opened !== closes || before === ",") yield `\n${"  ".repeat(Math.min(depth, maxIndent))}`;
    yield token;
    if (token === ":") yield " ";
    if (token === "{" || token === "[") depth += 1;
    before = token;
  }
}

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
