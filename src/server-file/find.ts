import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { serverFileInvalid } from "./invalid.ts";
import { requireNode } from "./require-node.ts";

/** Where a server is looked for when nobody says, in this order. */
const usualNames = ["server", "src/server", "app", "src/app", "index", "src/index"];
const extensions = [".ts", ".mts", ".js", ".mjs"];

/** What {@link findServerFile} looks for. */
export interface FindServerFileOptions {
  /** As the user gave it; left out: `server.ts`, `src/server.ts`, `app.ts`, … are tried. */
  file?: string | undefined;
  /** What `file` is relative to. Default: the working directory. */
  folder?: string | undefined;
}

/**
 * Finds the file of the user's server. Returns its absolute path. Every tool that loads such a file starts here.
 *
 * @throws `SERVER_FILE_INVALID` when there is none; `NODE_REQUIRED` on Bun and Deno, which could not load it.
 * @example
 * ```ts
 * const path = findServerFile({ file: "server.ts" });
 * ```
 */
export function findServerFile({ file, folder = process.cwd() }: FindServerFileOptions): string {
  requireNode();
  if (file !== undefined) {
    const path = resolve(folder, file);
    if (isFile(path)) return path;
    throw serverFileInvalid(
      existsSync(path)
        ? `${file} is no file: give the file that makes the server, such as server.ts.`
        : `There is no file ${file}: give the one that makes the server, or write it first.`,
    );
  }
  const found = usualNames
    .flatMap((name) => extensions.map((extension) => resolve(folder, `${name}${extension}`)))
    .find(isFile);
  if (found !== undefined) return found;
  throw serverFileInvalid(
    "There is no server.ts, app.ts or index.ts here or in src: give the file that makes the server, as in `hub-webhooks dev bot.ts`, or have one written by `hub-webhooks dev --create`.",
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
