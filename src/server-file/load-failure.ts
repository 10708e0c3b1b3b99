import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { CodeFrame } from "../console/protocol/session.ts";
import { describeError } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { userStackLines } from "../core/terminal.ts";
import { maskUrl } from "../core/urls.ts";
import { ServerRedaction } from "../receiver/logs.ts";

/** Why a server file does not load: a reason and, if it helps, a stack trace. */
export interface LoadFailure {
  /** The reason, on one line. */
  reason: string;
  /** The stack trace as Node prints it. Missing if the reason is sufficient. */
  stack?: string;
  /** The source around the error. */
  frame?: CodeFrame;
}

/** Creates the error for a server file that is missing, does not load, or creates no server. */
export function serverFileInvalid(message: string, options: { cause?: unknown } = {}): WebhookError {
  return new WebhookError(message, { code: "SERVER_FILE_INVALID", ...options });
}

/**
 * Explains why a server file does not load. The stack contains only frames from the user's own code.
 *
 * @param options.loading The file that was loaded last. The reason for a syntax error names this file, because V8 does
 * not report the file of a syntax error.
 */
export function explainLoadFailure(error: unknown, { loading }: { loading: string | undefined }): LoadFailure {
  const thrown = describeError(error);
  if (thrown.stack === undefined) return { reason: `The file throws ${valueText(error)}.` };
  const stack = userStackLines(thrown.stack).join("\n");
  const unparsed = thrown.name === "SyntaxError" && loading !== undefined ? displayPath(loading) : undefined;
  const location = firstLocation(stack) ?? unparsed;
  const at = location === undefined ? "" : ` (${location})`;
  if (WebhookError.isInstance(error)) return { reason: `${error.message}${at}` };
  const message = `${thrown.name}: ${thrown.message.split("\n")[0]}`;
  return { reason: `${message}${at}`, stack };
}

/**
 * Returns a function that replaces the secrets in texts about a server file, which pages show: those that logs redact, also if the
 * file adds them to the environment later, and the passwords in URLs.
 */
export function createMask(): (text: string) => string {
  const redaction = new ServerRedaction({});
  return (text) => {
    redaction.addEnvironment();
    return maskUrl(redaction.text(text));
  };
}

/** Returns a path relative to the working directory, or the unchanged path if the file is outside that directory. */
export function displayPath(path: string): string {
  const shorter = relative(process.cwd(), path);
  return shorter.startsWith("..") ? path : shorter;
}

function valueText(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return describeError(thrown).message;
  }
}

/** Matches the location at the end of a stack line: a URL, or the path of a transpiled file, with line and column. */
const stackLocation = /(?:\(|\bat (?:async )?|^)((?:file:\/\/|\/|[A-Za-z]:[\\/]).+?)(:\d+(?::\d+)?)\)?$/m;

function firstLocation(stack: string): string | undefined {
  const [, file, position] = stackLocation.exec(stack) ?? [];
  if (file === undefined) return undefined;
  return `${displayPath(file.startsWith("file:") ? fileURLToPath(file) : file)}${position}`;
}

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
