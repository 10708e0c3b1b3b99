/** Shortens a text to at most `maxLength` UTF-16 code units. A shortened text ends with an ellipsis. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${cutAt(text, maxLength - 1)}…`;
}

/** Copies the start of a text, in UTF-16 code units. A slice would keep the whole text in memory. */
export function copyStart(text: string, length: number): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(new TextEncoder().encode(text.slice(0, length)));
}

/** Returns at most the first `maxLength` UTF-16 code units of a text. Never splits a surrogate pair. */
export function cutAt(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, "");
}

/**
 * Matches characters that can make a text look like a different text: control characters except tabs and line breaks,
 * bidirectional overrides, and invisible characters.
 */
export const deceptiveCharacters =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|\r(?!\n)|\u{E0001}|[\u{E0020}-\u{E007F}]/gu;

/**
 * Makes deceptive characters visible by replacing them with JSON escapes. Escaping does not change the meaning of JSON.
 */
export function escapeHidden(text: string): string {
  return text.replace(deceptiveCharacters, (hidden) =>
    hidden
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for HTML, also within quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => entities[char] ?? char);
}

/** Parses JSON. Returns `undefined` for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Quotes a text as one word for a POSIX shell. Required for untrusted text, because users paste the result into a shell. */
export function quoteShellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Like {@link quoteShellWord}, but adds quotes only when they are necessary. */
export function toShellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : quoteShellWord(text);
}

/** The maximum number of indented levels. Without a limit, the output for deeply nested JSON would grow quadratically. */
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
