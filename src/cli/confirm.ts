import type { Shell } from "./shell.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** What {@link confirm} needs. */
export interface ConfirmOptions {
  shell: Shell;
  /** The question, in plain text. */
  question: string;
}

/** Whether there is a person to ask: one who sees the question and can type an answer. */
export function canAsk({ stdin, stderr }: Shell): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Asks yes or no on standard error. No is the answer in doubt, and to Ctrl+C. */
export async function confirm({ shell, question }: ConfirmOptions): Promise<boolean> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.confirm({
    message: question,
    initialValue: false,
    input: shell.stdin,
    output: shell.stderr,
  });
  return answer === true;
}

/**
 * Asks for a secret on standard error, without showing what is typed.
 *
 * @throws `ARGUMENT_INVALID` when it is not given.
 */
export async function askSecret(shell: Shell): Promise<string> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.password({ message: "Secret", input: shell.stdin, output: shell.stderr });
  if (prompts.isCancel(answer)) {
    throw wrongUsage("No secret was given, and nothing was done.");
  }
  return answer ?? "";
}
