import type { WebhookPayload } from "../../../../src/index.ts";
import { type RunOptions, type RunResult, runCommand } from "../../run-command.ts";

/** Runs `trigger` in this process, until it ends by itself. */
export function runTrigger(argv: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return runCommand(["trigger", ...argv], { stopped: new Promise<never>(() => {}), ...options });
}

/** The payload that `--dry-run` shows, straight for a URL. */
export async function payloadOf(argv: readonly string[], options: RunOptions = {}): Promise<WebhookPayload> {
  const url = ["--url", "http://127.0.0.1:1/", "--dry-run", "--format", "json"];
  const { exitCode, stdout, stderr } = await runTrigger([...argv, ...url], options);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout).payload;
}
