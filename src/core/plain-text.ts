import { stripVTControlCharacters } from "node:util";
import { deceptiveCharacters, showHidden } from "./visible-text.ts";

/**
 * Text that may come from a stranger, as one line that a terminal shows and does not obey: without escape codes,
 * control characters, line ends and tabs, and without what turns the direction of writing or is not seen.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\t\r\n]+/g, " ")
    .replace(deceptiveCharacters, "");
}

/** A value as JSON that a terminal can show: what JSON lets through and a terminal would obey is written as `\u….` */
export function plainJson(value: unknown, indent?: number): string {
  return showHidden(JSON.stringify(value, null, indent));
}
