import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describeError } from "../core/describe-error.ts";
import { WebhookError } from "../core/errors.ts";

/** Why a file does not load. */
export interface Failure {
  /** In one line. */
  reason: string;
  /** Where it happened, as Node shows it; absent where the reason says it all. */
  stack?: string;
}

/** What {@link explainFailure} knows besides the error. */
export interface FailureContext {
  /** The file that was loaded last: V8 does not say which one it cannot parse. */
  loading: string | undefined;
}

/** Says why a file does not load, and where: of the stack only what is the user's own. */
export function explainFailure(error: unknown, { loading }: FailureContext): Failure {
  const thrown = describeError(error);
  if (thrown.stack === undefined) return { reason: `It throws ${shownValue(error)}.` };
  const stack = ownLines(thrown.stack);
  const unparsed = thrown.name === "SyntaxError" && loading !== undefined ? shownPath(loading) : undefined;
  const place = firstPlace(stack) ?? unparsed;
  const at = place === undefined ? "" : ` (${place})`;
  if (WebhookError.isInstance(error)) return { reason: `${error.message}${at}` };
  const message = `${thrown.name}: ${thrown.message.split("\n")[0]}`;
  return { reason: `${message}${at}`, stack };
}

function shownValue(thrown: unknown): string {
  try {
    return JSON.stringify(thrown) ?? String(thrown);
  } catch {
    return describeError(thrown).message;
  }
}

/** A path as people write it: relative to the working directory, unless it leads out of that. */
export function shownPath(path: string): string {
  const shorter = relative(process.cwd(), path);
  return shorter.startsWith("..") ? path : shorter;
}

/** The folders of this package, in which it is published and in which it is developed. */
const packageFolders = ["dist/", "src/"].map((folder) => new URL(`../../${folder}`, import.meta.url).href);

/** Where Node, this package and others passed it on is of no use to whoever wrote the file. */
function ownLines(stack: string): string {
  const isForeign = (line: string) =>
    /^\s+at /.test(line) &&
    (/node:|\/node_modules\//.test(line) || packageFolders.some((folder) => line.includes(folder)));
  return stack
    .split("\n")
    .filter((line) => !isForeign(line))
    .join("\n");
}

/** The end of a line of a stack: a URL, or the path of a file that was lowered, with line and column. */
const stackPlace = /(?:\(|\bat (?:async )?|^)((?:file:\/\/|\/|[A-Za-z]:[\\/]).+?)(:\d+(?::\d+)?)\)?$/m;

function firstPlace(stack: string): string | undefined {
  const [, where, place] = stackPlace.exec(stack) ?? [];
  if (where === undefined) return undefined;
  return `${shownPath(where.startsWith("file:") ? fileURLToPath(where) : where)}${place}`;
}
