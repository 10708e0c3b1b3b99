import { plainText } from "../core/terminal-text.ts";
import type { Invocation } from "./invocation.ts";
import type { Shell } from "./shell.ts";
import { usageError } from "./usage.ts";

/** Whether a user can see a prompt and type an answer. */
export function canPrompt({ stdin, stderr }: Shell): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks a yes-or-no question on standard error. The default answer is no, and Ctrl+C counts as no. */
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
 * Checks early that a command can prompt for the confirmation that it requires.
 *
 * @throws `ARGUMENT_INVALID` without `--yes` and without a terminal.
 */
export function requireConfirmable({ shell, skipsPrompts: isConfirmed }: Invocation, command: string): void {
  if (isConfirmed || canPrompt(shell)) return;
  throw usageError(`"${command}" requires confirmation, but there is no terminal for a prompt. Add --yes to confirm.`);
}

/** Asks for confirmation unless `--yes` is given. If declined, logs that and sets the exit code to 1. */
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
