import { plainText } from "../core/terminal.ts";
import type { Invocation } from "./invocation.ts";
import type { Shell } from "./shell.ts";
import { usageError } from "./usage.ts";

/** Whether standard input and standard error are terminals, so that a prompt can be answered. */
export function canPrompt({ stdin, stderr }: Shell): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Prompts for yes or no on standard error. The default is no, and Ctrl+C counts as no. */
export async function confirm(shell: Shell, question: string): Promise<boolean> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.confirm({
    message: plainText(question),
    initialValue: false,
    input: shell.stdin,
    output: shell.stderr,
  });
  return answer === true;
}

/**
 * Checks that a command can prompt for confirmation, before the command does any work.
 *
 * @throws `ARGUMENT_INVALID` if `--yes` is not given and there is no terminal.
 */
export function requireConfirmable({ shell, skipsPrompts }: Invocation, command: string): void {
  if (skipsPrompts || canPrompt(shell)) return;
  throw usageError(`"${command}" requires confirmation, but there is no terminal for a prompt. Add --yes to confirm.`);
}

/**
 * Prompts for confirmation unless `--yes` is given. If the user declines, prints a message and sets the exit code to 1.
 */
export async function requestConfirmation(invocation: Invocation, question: string): Promise<boolean> {
  if (invocation.skipsPrompts || (await confirm(invocation.shell, question))) return true;
  invocation.output.log("Canceled. Nothing was changed.");
  invocation.exitCode = 1;
  return false;
}

/**
 * Prompts for a secret on standard error, without echoing it.
 *
 * @throws `ARGUMENT_INVALID` if the prompt is canceled.
 */
export async function promptSecret(shell: Shell): Promise<string> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.password({ message: "Secret", input: shell.stdin, output: shell.stderr });
  if (prompts.isCancel(answer)) throw usageError("Canceled. Nothing was changed.");
  return answer ?? "";
}
