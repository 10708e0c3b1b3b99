import { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import threads from "node:worker_threads";
import { buildSync } from "esbuild";

/*
 * Import this file in tests that start inboxes, which start threads. Node.js needs 200 ms of CPU time to load the sources of a thread,
 * and 50 ms to load a bundle of them.
 */

const bundles = new Map<string, URL>();
/** Tests set another one. */
const parentFolder = tmpdir();

function bundleOf(source: URL): URL {
  const known = bundles.get(source.href);
  if (known) return known;
  const folder = mkdtempSync(join(parentFolder, "inbox-thread-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, "thread.mjs");
  buildSync({ entryPoints: [fileURLToPath(source)], outfile, bundle: true, format: "esm", platform: "node" });
  const bundle = pathToFileURL(outfile);
  bundles.set(source.href, bundle);
  return bundle;
}

let stopping = 0;

/** Whether a thread is being stopped. */
export function isThreadStopping(): boolean {
  return stopping > 0;
}

const { Worker } = threads;
threads.Worker = class extends Worker {
  constructor(url: string | URL, options?: threads.WorkerOptions) {
    const isBundled = url instanceof URL && /\/(?:background-maintenance|snapshot)-thread\.ts$/.test(url.pathname);
    super(isBundled ? bundleOf(url) : url, options);
  }

  override async terminate(): Promise<number> {
    stopping += 1;
    return super.terminate().finally(() => {
      stopping -= 1;
    });
  }
};
syncBuiltinESMExports();
