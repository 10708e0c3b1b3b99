import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { packageRoot } from "./files.ts";
import { deceptiveCharacters, escapeHidden } from "./text.ts";

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

/** The folders that contain the code of this package: published in `dist`, in development in `src`. */
const packageFolders = ["dist/", "src/"]
  .map((folder) => new URL(folder, packageRoot))
  .flatMap((folder) => [folder.href, fileURLToPath(folder)]);

/** Splits a stack into lines, without the frames of Node, this package, or other packages. */
export function userStackLines(stack: string): string[] {
  const isForeign = (line: string) =>
    /^\s+at /.test(line) &&
    (/node:|\/node_modules\//.test(line) || packageFolders.some((folder) => line.includes(folder)));
  return stack.split("\n").filter((line) => !isForeign(line));
}
