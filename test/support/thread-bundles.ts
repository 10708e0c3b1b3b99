import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { TestProject } from "vitest/node";
import { root } from "./project-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder with a bundle of each thread of an inbox. */
    threadBundles: string;
  }
}

/**
 * Bundles the threads of inboxes once for all tests of a run. Node.js needs 200 ms of CPU time to load the sources of a thread, and 50 ms to load a
 * bundle of them.
 */
export default async function bundleThreads(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "inbox-threads-"));
  const threads = ["sqlite/background-maintenance-thread", "bucket/snapshot-thread"];
  const bundle = () =>
    build({
      entryPoints: threads.map((thread) => join(root, `src/inbox/${thread}.ts`)),
      ...{ outdir: folder, entryNames: "[name]", outExtension: { ".js": ".mjs" } },
      ...{ bundle: true, format: "esm", platform: "node" },
    });
  await bundle();
  // In watch mode, the sources have changed.
  project.onTestsRerun(async () => void (await bundle()));
  project.provide("threadBundles", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}
