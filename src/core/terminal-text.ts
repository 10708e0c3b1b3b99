import { stripVTControlCharacters } from "node:util";
import { deceptiveCharacters, escapeHidden } from "./escape.ts";

/**
 * Untrusted text as one line that is safe to print on a terminal: without escape codes, control characters, line breaks,
 * tabs, bidirectional overrides and invisible characters.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\t\r\n]+/g, " ")
    .replace(deceptiveCharacters, "");
}

/** A value as JSON that is safe to print on a terminal: characters that a terminal would interpret are escaped. */
export function plainJson(value: unknown, indent?: number): string {
  return escapeHidden(JSON.stringify(value, null, indent));
}
