import { stripVTControlCharacters } from "node:util";

/**
 * Text that may come from a stranger, as one line that a terminal shows and does not obey: without escape codes,
 * control characters, line ends and tabs, and without what turns the direction of writing.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\t\r\n]+/g, " ")
    .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** A value as JSON that a terminal can show: what JSON lets through and a terminal would obey is written as `\u….` */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
