import { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import threads from "node:worker_threads";
import { buildSync } from "esbuild";

/*
 * Import this file in tests that start inboxes on SQLite. Each of them starts a thread. Node.js needs 200 ms of CPU time to load its
 * sources, and 50 ms to load a bundle of them.
 */

let bundle: URL | undefined;

function bundleThread(source: URL): URL {
  const folder = mkdtempSync(join(tmpdir(), "inbox-thread-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "thread.mjs");
  buildSync({ entryPoints: [fileURLToPath(source)], outfile, bundle: true, format: "esm", platform: "node" });
  return pathToFileURL(outfile);
}

const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(url: string | URL, options?: threads.WorkerOptions) {
    const isOfInbox = url instanceof URL && url.pathname.endsWith("/background-maintenance-thread.ts");
    if (isOfInbox) bundle ??= bundleThread(url);
    super(isOfInbox && bundle ? bundle : url, options);
  }
};
syncBuiltinESMExports();
