import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { CodeFrame } from "../console/protocol/session.ts";

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
    const file = projectFile(toPath(location) ?? "", folder);
    const lines = file === undefined ? undefined : readLines(file);
    const number = Number(line);
    if (file === undefined || !lines || number < 1 || number > lines.length) continue;
    const first = Math.max(1, number - context);
    return {
      file,
      line: number,
      column: Math.max(1, Number(column ?? 1)),
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

/**
 * Returns the real path of a file of the project, or `undefined` for a path that is not absolute, for anything but a file, and for a
 * link to a file outside of the project.
 */
export function projectFile(path: string, folder: string): string | undefined {
  try {
    const file = isAbsolute(path) ? realpathSync(path) : "";
    return isBelow(file, realpathSync(folder)) && statSync(file).isFile() ? file : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a path is in a folder or below it, and not in its dependencies. */
function isBelow(file: string, folder: string): boolean {
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
