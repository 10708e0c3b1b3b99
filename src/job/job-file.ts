import { basename } from "node:path";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { explainFailure } from "../server-file/failure.ts";
import { findServerFile } from "../server-file/find.ts";
import { serverFileInvalid } from "../server-file/invalid.ts";
import { loadServer } from "../server-file/load.ts";
import { loadTypeScript } from "../server-file/typescript.ts";
import { jobIsToEnd } from "./process-signals.ts";
import { type JobOutcome, type RunJobOptions, runJob } from "./run-job.ts";

/** What the file is told when it launches its server, which does nothing here. */
const reachedAt = { port: 7860, url: "http://localhost:7860", publicUrl: "http://localhost:7860" };
/** How long the process stays when its job is done and the file has left something open, such as a timer. */
const leaveAfterMs = 250;

/** What {@link runJobFile} needs. */
export interface RunJobFileOptions extends Omit<RunJobOptions, "signal"> {
  /** The file that makes the server. */
  file: string;
  /** Resolves when the job is asked to end. */
  stopped: Promise<void>;
}

/**
 * Runs a job of the server that a file makes, in this process, which is the job's from then on: one that ends before
 * the job is done ends with 1, whatever the file says, and one that would go on after it is ended.
 *
 * @throws what {@link runJob} throws; `SERVER_FILE_INVALID` with what the file threw; `CLOSING` when it is asked to end
 * while the file loads.
 */
export async function runJobFile({ file, stopped, ...options }: RunJobFileOptions): Promise<JobOutcome> {
  const path = findServerFile({ file });
  const controller = new AbortController();
  const toEnd = stopped.then(() => {
    controller.abort(jobIsToEnd());
    throw controller.signal.reason;
  });
  toEnd.catch(() => {});
  process.on("exit", failUnfinished);
  try {
    const server = await Promise.race([load(path), toEnd]);
    return await runJob(server, { ...options, signal: controller.signal });
  } finally {
    process.off("exit", failUnfinished);
    setTimeout(() => process.exit(), leaveAfterMs).unref();
  }
}

function failUnfinished(code: number): void {
  if (code !== 0) return;
  console.error("error: The process ended before the job was done: see that the file and its handler do not end it.");
  process.exitCode = 1;
}

async function load(path: string): Promise<WebhooksServer> {
  let loading: string | undefined;
  loadTypeScript({
    onLoad(loaded) {
      loading = loaded;
    },
  });
  try {
    return await loadServer({ path, reachedAt });
  } catch (error) {
    const { reason, stack } = explainFailure(error, { loading });
    if (stack !== undefined) console.error(stack);
    throw serverFileInvalid(`${basename(path)} does not load. ${reason}`, { cause: error });
  }
}
