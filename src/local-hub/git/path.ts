import { WebhookError } from "../../core/errors.ts";

const maxPathBytes = 1_000;
const maxSegmentBytes = 255;

/**
 * Splits the path of a file into its segments.
 *
 * @throws `ARGUMENT_INVALID` if git clients could not check out the path, or if the path could leave their folder.
 */
export function splitPath(path: string): string[] {
  const segments = path.split("/");
  const problem = findProblem(path, segments);
  if (problem === undefined) return segments;
  throw invalidPath(path, problem);
}

/** Creates the error for a path that cannot be used. */
export function invalidPath(path: string, problem: string): WebhookError {
  return new WebhookError(`The path ${JSON.stringify(path.slice(0, maxPathBytes))} ${problem}.`, {
    code: "ARGUMENT_INVALID",
  });
}

function findProblem(path: string, segments: readonly string[]): string | undefined {
  if (!path.isWellFormed() || /\p{Cc}/u.test(path)) return "contains a control character. Rename the file";
  if (Buffer.byteLength(path) > maxPathBytes) return `is longer than ${maxPathBytes} bytes. Use a shorter path`;
  for (const segment of segments) {
    if (segment === "") return "has an empty segment. Use a path such as data/train.csv";
    if (segment === "." || segment === ".." || segment.toLowerCase() === ".git") {
      return `contains the segment "${segment}". Use a path without this segment`;
    }
    if (Buffer.byteLength(segment) > maxSegmentBytes) {
      return `has a segment of more than ${maxSegmentBytes} bytes. Use a shorter name`;
    }
  }
  return undefined;
}
