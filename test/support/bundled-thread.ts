import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import threads from "node:worker_threads";
import { inject } from "vitest";

let stopping = 0;

/** Whether a thread is being stopped. */
export function isThreadStopping(): boolean {
  return stopping > 0;
}

const bundles = inject("threadBundles");

const { Worker } = threads;
/** Starts the bundles of `thread-bundles.ts` instead of the sources. */
threads.Worker = class extends Worker {
  constructor(url: string | URL, options?: threads.WorkerOptions) {
    const [, name] = /\/((?:background-maintenance|snapshot)-thread)\.ts$/.exec(String(url)) ?? [];
    super(name === undefined ? url : pathToFileURL(join(bundles, `${name}.mjs`)), options);
  }

  override async terminate(): Promise<number> {
    stopping += 1;
    return super.terminate().finally(() => {
      stopping -= 1;
    });
  }
};
syncBuiltinESMExports();
