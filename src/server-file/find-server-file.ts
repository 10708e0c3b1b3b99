import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { WebhookError } from "../core/errors.ts";
import { serverFileInvalid } from "./load-failure.ts";

/** The default server files without their extensions, in order of preference. */
const defaultNames = ["server", "src/server", "app", "src/app", "index", "src/index"];
const extensions = [".ts", ".mts", ".js", ".mjs"];

/**
 * Finds the user's server file and returns its absolute path.
 *
 * @throws `SERVER_FILE_INVALID` when the file does not exist; `NODE_REQUIRED` on Bun and Deno, which cannot load server
 * files.
 * @example
 * ```ts
 * const path = findServerFile({ file: "server.ts" });
 * ```
 */
export function findServerFile({
  file,
  folder = process.cwd(),
}: {
  /** The path that the user specified. Default: the first of `server.ts`, `src/server.ts`, `app.ts`, … that exists. */
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
        ? `"${file}" is not a file. Specify the file that creates the server, such as server.ts.`
        : `File "${file}" does not exist. Create it, or specify the file that creates the server.`,
    );
  }
  const found = defaultNames
    .flatMap((name) => extensions.map((extension) => resolve(folder, `${name}${extension}`)))
    .find(isFile);
  if (found !== undefined) return found;
  throw serverFileInvalid(
    "No server.ts, app.ts, or index.ts found in this folder or in src. Specify the file that creates the server, as in `npx hub-webhooks dev bot.ts`, or create one with `npx hub-webhooks dev --create`.",
  );
}

/**
 * Checks that this process runs on Node. Loading a server file requires the hooks of Node's module loader, which Bun and
 * Deno do not support. Bun and Deno also set `process.versions.node`, so that field cannot be used to recognize Node.
 *
 * @throws `NODE_REQUIRED` with the name of the other runtime.
 */
export function requireNode(versions: Readonly<Record<string, string | undefined>> = process.versions): void {
  const runtime = versions.bun ? `Bun ${versions.bun}` : versions.deno ? `Deno ${versions.deno}` : undefined;
  if (runtime === undefined) return;
  throw new WebhookError(
    `hub-webhooks requires Node 22.18 or newer to load a server file, but is running on ${runtime}. Run the command with Node: npx hub-webhooks.`,
    { code: "NODE_REQUIRED" },
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
