import { InvalidArgumentError } from "commander";
import type { PayloadEdit } from "../../../payload/edit.ts";

/**
 * Reads one value of `--set`: a path, `=`, and a value, which is JSON where it can be read as JSON, and else a text.
 *
 * @throws `InvalidArgumentError` when it is no `path=value`.
 * @example
 * ```ts
 * parseSet("repo.private=true"); // { path: "repo.private", value: true }
 * parseSet("discussion.title=Hello"); // { path: "discussion.title", value: "Hello" }
 * ```
 */
export function parseSet(text: string): PayloadEdit {
  const equals = text.indexOf("=");
  if (equals === -1) {
    throw new InvalidArgumentError(
      isRepoName(text)
        ? "It looks like the repository: put that before --set, which takes all that follows."
        : 'Give it as path=value, such as "repo.private=true" or "updatedRefs.0.ref=refs/heads/dev".',
    );
  }
  return { path: checkedPath(text.slice(0, equals)), value: readValue(text.slice(equals + 1)) };
}

/**
 * Reads one value of `--unset`: the path of what is to be taken away. It has an option of its own because every text
 * behind the `=` of `--set` is a value: nothing is the empty text, and `null` is null.
 *
 * @throws `InvalidArgumentError` when it is no path.
 */
export function parseUnset(text: string): PayloadEdit {
  if (isRepoName(text)) {
    throw new InvalidArgumentError(
      "It looks like the repository: put that before --unset, which takes all that follows.",
    );
  }
  if (text.includes("=")) throw new InvalidArgumentError('Give the path alone, such as "repo.headSha".');
  return { path: checkedPath(text), remove: true };
}

function isRepoName(text: string): boolean {
  return /^[a-z]+:[^/=]+\/[^/=]+$/.test(text);
}

function checkedPath(path: string): string {
  if (path.split(".").every((key) => key !== "")) return path;
  throw new InvalidArgumentError('A path is keys with dots between them, such as "repo.private".');
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
