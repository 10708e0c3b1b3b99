/**
 * Control characters but for tab and line breaks, what turns the direction of writing around, and what nobody sees:
 * any of them can make a text read as another than it is.
 */
export const deceptiveCharacters =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|\r(?!\n)|\u{E0001}|[\u{E0020}-\u{E007F}]/gu;

/**
 * Writes characters that deceive the eye as JSON would escape them, so that they are seen, and JSON stays the same.
 *
 * @example
 * ```ts
 * showHidden("\u001b[31mred"); // \u001b[31mred, in plain letters
 * ```
 */
export function showHidden(text: string): string {
  return text.replace(deceptiveCharacters, (hidden) =>
    hidden
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
