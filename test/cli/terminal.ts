import { spawnSync } from "node:child_process";
import { binPath, CommandProcess } from "./command-process.ts";

/** Of util-linux; with it alone a test has a terminal. */
const terminalMaker = "script";

/** Whether a test can have a terminal on this machine. */
export const canMakeTerminal = spawnSync(terminalMaker, ["--version"]).stdout?.includes("util-linux") ?? false;
if (!canMakeTerminal) console.log(`Skipped: there is no ${terminalMaker} of util-linux to make a terminal with.`);

/**
 * Runs `hub-webhooks` with these words of a shell on a terminal of its own, against this Hub; in `cwd`, and with more
 * variables, where these are given.
 */
export function startOnTerminal(
  words: string,
  hub: { url: string },
  { cwd, env }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): CommandProcess {
  // A terminal made like this has no width until it is given one.
  const command = `stty cols 200 rows 24; "${process.execPath}" "${binPath}" ${words}`;
  const variables = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local", TERM: "xterm", SHELL: "/bin/sh", ...env };
  return new CommandProcess(terminalMaker, ["-qec", command, "/dev/null"], variables, cwd === undefined ? {} : { cwd });
}
