/*
 * Uses up the files that this process may open, then starts another process and prints what comes of it:
 * `full-process.ts job`, or `full-process.ts server FILE`.
 */
import { openSync } from "node:fs";
import { runCommand } from "../../src/local-hub/jobs/run-command.ts";
import { ServerProcess } from "../../src/server-file/server-process.ts";

const [, , kind, path = ""] = process.argv;

try {
  for (;;) openSync("/dev/null", "r");
} catch {
  // No more files can be opened.
}

if (kind === "job") {
  const { signal } = new AbortController();
  const options = { command: ["true"], environment: {}, timeoutSeconds: null, signal, onOutput: () => {} };
  console.log(await runCommand(options));
} else {
  const launchResult = { port: 7860, url: "http://localhost:7860", publicUrl: "http://localhost:7860" };
  const listeners = process.listenerCount("exit");
  const started = ServerProcess.serve({ path, launchResult, secret: undefined });
  await started.serving().catch(({ code }) => console.log(code));
  await started.stop();
  console.log(process.listenerCount("exit") - listeners);
}
