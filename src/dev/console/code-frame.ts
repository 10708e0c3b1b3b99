import { readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { CodeFrame } from "../../console/protocol/dev.ts";

/** The number of lines before and after the line of the error. */
const context = 4;
const maxLineLength = 300;
/** A larger file, in characters, is generated code. */
const maxFileLength = 2_000_000;

/**
 * A position in a file, such as `file:///app/server.ts:12:5` or `/app/server.ts:12`. Only starts after a space or parenthesis: a
 * match from each slash of a long text would take seconds.
 */
const position = /(?<![^\s(])(file:\/\/\/[^\s:()]+|(?:\/|[A-Za-z]:\\)[^\s:()]+):(\d+)(?::(\d+))?/g;

/**
 * Returns the lines of source around the first position in a stack or message that is in a file below `folder`, or `undefined` if
 * there is none.
 */
export function readCodeFrame(text: string, { folder }: { folder: string }): CodeFrame | undefined {
  for (const [, location = "", line = "", column] of text.matchAll(position)) {
    const file = toPath(location);
    if (file === undefined || !isBelow(file, folder)) continue;
    const lines = readLines(file);
    const number = Number(line);
    if (!lines || number < 1 || number > lines.length) continue;
    const first = Math.max(1, number - context);
    return {
      file,
      line: number,
      column: column === undefined ? 1 : Number(column),
      lines: lines.slice(first - 1, number + context).map((source, index) => ({
        number: first + index,
        text: source.slice(0, maxLineLength),
        isError: first + index === number,
      })),
    };
  }
  return undefined;
}

/** Returns the folder whose files the console shows: the current one, or that of a server file elsewhere. */
export function sourceFolder(serverFile: string): string {
  return isBelow(serverFile, process.cwd()) ? process.cwd() : dirname(serverFile);
}

/** Whether a file is in a folder or below it, and not in its dependencies. */
export function isBelow(file: string, folder: string): boolean {
  const path = relative(folder, file);
  // On Windows, the path to another drive is absolute.
  return path !== "" && !path.startsWith("..") && !isAbsolute(path) && !path.split(sep).includes("node_modules");
}

function toPath(location: string): string | undefined {
  if (!location.startsWith("file:")) return location;
  try {
    return fileURLToPath(location);
  } catch {
    return undefined;
  }
}

function readLines(file: string): readonly string[] | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return text.length > maxFileLength ? undefined : text.split("\n");
  } catch {
    return undefined;
  }
}
