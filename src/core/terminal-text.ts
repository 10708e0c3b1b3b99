import { stripVTControlCharacters } from "node:util";
import { deceptiveCharacters, escapeHidden } from "./escape.ts";

/**
 * Converts untrusted text to one line that is safe to print on a terminal: without escape codes, control characters, line
 * breaks, tabs, bidirectional overrides, or invisible characters.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\t\r\n]+/g, " ")
    .replace(deceptiveCharacters, "");
}

/** Converts a value to JSON that is safe to print on a terminal. Escapes the characters that a terminal would interpret. */
export function plainJson(value: unknown, indent?: number): string {
  return escapeHidden(JSON.stringify(value, null, indent));
}
