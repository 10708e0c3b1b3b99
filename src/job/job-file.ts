import { basename } from "node:path";
import { defaultPort } from "../core/urls.ts";
import { findServerFile } from "../server-file/find-server-file.ts";
import { serverFileInvalid } from "../server-file/load-failure.ts";
import { ServerFileLoader } from "../server-file/server-file-loader.ts";
import { type JobOutcome, jobStopped, type RunJobOptions, runJob } from "./run-job.ts";

const url = `http://localhost:${defaultPort}`;
/** The result of `launch()` in the server file. In a job, `launch()` does not start a server. */
const launchResult = { port: defaultPort, url, publicUrl: url };
/** The delay before the process exits after the job. Open timers and connections do not keep the process running. */
const exitAfterMs = 250;

/**
 * Loads the server from a file, runs the job in this process, then exits the process. If the file or a handler exits
 * the process before the job is finished, the exit code is 1.
 *
 * @param options.file The file that creates the server.
 * @param options.stopped Resolves when the job should stop.
 * @throws the errors of {@link runJob}; `SERVER_FILE_INVALID` with the error of the file as `cause`; `CLOSING` when the
 * job is stopped while the file loads.
 */
export async function runJobFile({
  file,
  stopped,
  ...options
}: Omit<RunJobOptions, "signal"> & { file: string; stopped: Promise<void> }): Promise<JobOutcome> {
  const path = findServerFile({ file });
  const controller = new AbortController();
  const aborted = stopped.then(() => {
    controller.abort(jobStopped());
    throw controller.signal.reason;
  });
  aborted.catch(() => {});
  process.on("exit", failUnfinished);
  try {
    const server = await Promise.race([load(path), aborted]);
    return await runJob(server, { ...options, signal: controller.signal });
  } finally {
    process.off("exit", failUnfinished);
    setTimeout(() => process.exit(), exitAfterMs).unref();
  }
}

function failUnfinished(code: number): void {
  if (code !== 0) return;
  console.error(
    "error: The process exited before the job was done. Remove calls to process.exit() from the file and its handlers, and look for a promise that never settles.",
  );
  process.exitCode = 1;
}

async function load(path: string) {
  const loader = new ServerFileLoader();
  try {
    return await loader.load({ path, launchResult });
  } catch (error) {
    const { reason, stack } = loader.explain(error);
    if (stack !== undefined) console.error(stack);
    throw serverFileInvalid(`${basename(path)} failed to load. ${reason}`, { cause: error });
  }
}
