import { relative } from "node:path";
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
