/**
 * Matches characters that can make a text look like a different text: control characters except tabs and line breaks,
 * bidirectional overrides, and invisible characters.
 */
export const deceptiveCharacters =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|\r(?!\n)|\u{E0001}|[\u{E0020}-\u{E007F}]/gu;

/**
 * Makes deceptive characters visible by replacing them with JSON escapes. Escaping does not change the meaning of JSON.
 *
 * @example
 * ```ts
 * escapeHidden("\u001b[31mred"); // String.raw`\u001b[31mred`
 * ```
 */
export function escapeHidden(text: string): string {
  return text.replace(deceptiveCharacters, (hidden) =>
    hidden
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/**
 * Quotes a text as one word for a POSIX shell. Required for untrusted text, because users paste the result into a
 * shell.
 */
export function quoteShellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Like {@link quoteShellWord}, but adds quotes only when they are necessary. */
export function toShellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : quoteShellWord(text);
}
