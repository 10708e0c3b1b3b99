/**
 * Control characters other than tab and line breaks, bidirectional overrides and invisible characters: each can make a text
 * look like a different one.
 */
export const deceptiveCharacters =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|\r(?!\n)|\u{E0001}|[\u{E0020}-\u{E007F}]/gu;

/**
 * Makes deceptive characters visible by writing them as JSON escapes. JSON keeps its meaning.
 *
 * @example
 * ```ts
 * escapeHidden("\u001b[31mred"); // \u001b[31mred, in plain letters
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

/** Quotes a text as one word of a POSIX shell: users paste it, and it may be chosen by an attacker. */
export function quoteShellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Like {@link quoteShellWord}, without quotes if the text needs none. */
export function toShellWord(text: string): string {
  return /^[\w@%+:,./-]+$/.test(text) ? text : quoteShellWord(text);
}
