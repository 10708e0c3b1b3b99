import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { WebhookError } from "../core/errors.ts";
import { serverFileInvalid } from "./load-failure.ts";

/** The files tried in this order when no file is given. */
const defaultNames = ["server", "src/server", "app", "src/app", "index", "src/index"];
const extensions = [".ts", ".mts", ".js", ".mjs"];

/**
 * Finds the user's server file and returns its absolute path. Every tool that loads a server file starts here.
 *
 * @throws `SERVER_FILE_INVALID` when the file does not exist; `NODE_REQUIRED` on Bun and Deno, which cannot load it.
 * @example
 * ```ts
 * const path = findServerFile({ file: "server.ts" });
 * ```
 */
export function findServerFile({
  file,
  folder = process.cwd(),
}: {
  /** As the user gave it. Default: the first of `server.ts`, `src/server.ts`, `app.ts`, … that exists. */
  file?: string | undefined;
  /** The folder that `file` is relative to. Default: the working directory. */
  folder?: string | undefined;
}): string {
  requireNode();
  if (file !== undefined) {
    const path = resolve(folder, file);
    if (isFile(path)) return path;
    throw serverFileInvalid(
      existsSync(path)
        ? `"${file}" is not a file: give the file that creates the server, such as server.ts.`
        : `File "${file}" does not exist: create it, or give the file that creates the server.`,
    );
  }
  const found = defaultNames
    .flatMap((name) => extensions.map((extension) => resolve(folder, `${name}${extension}`)))
    .find(isFile);
  if (found !== undefined) return found;
  throw serverFileInvalid(
    "No server.ts, app.ts or index.ts found here or in src: give the file that creates the server, as in `npx hub-webhooks dev bot.ts`, or create one with `npx hub-webhooks dev --create`.",
  );
}

/**
 * Checks that Node runs this process. Loading a server file needs the hooks of Node's module loader, which Bun and Deno
 * lack; both set `process.versions.node` as well.
 *
 * @throws `NODE_REQUIRED` with the name of the other runtime.
 */
export function requireNode(versions: Readonly<Record<string, string | undefined>> = process.versions): void {
  const runtime = versions.bun ? `Bun ${versions.bun}` : versions.deno ? `Deno ${versions.deno}` : undefined;
  if (runtime === undefined) return;
  throw new WebhookError(
    `hub-webhooks needs Node 22.18 or newer to load a server file, but this is ${runtime}. Run the command with Node: npx hub-webhooks.`,
    { code: "NODE_REQUIRED" },
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
