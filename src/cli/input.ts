import { createReadStream } from "node:fs";
import { WebhookError } from "../core/errors.ts";
import { plainText } from "../core/terminal.ts";
import type { WebhookJobRequest } from "../hub/jobs/definition.ts";
import type { InputStream, Invocation, Shell } from "./invocation.ts";
import { usageError } from "./usage.ts";

/** The default limit in MiB. Secrets and jobs are much smaller. */
const defaultMaxMebibytes = 1;

/** The maximum number of problems of a job that an error lists. */
const maxProblems = 3;

/**
 * Reads the secret of `--secret` or `--secret-stdin`. Returns `undefined` if neither is given. On a terminal,
 * `--secret-stdin` prompts for the secret. Otherwise, the secret is the first line of standard input.
 *
 * @throws `ARGUMENT_INVALID` if the secret is empty.
 */
export async function readSecretOption(
  { secret, secretStdin }: { secret?: string | undefined; secretStdin?: boolean | undefined },
  shell: Shell,
): Promise<string | undefined> {
  const read = secretStdin ? await readSecret(shell) : secret;
  if (read !== "") return read;
  throw usageError("The secret is empty. Use at least one character, or omit the option.");
}

/** @throws `ARGUMENT_INVALID` if `--secret` and `--secret-stdin` are both given. */
export function checkSecretOptions({ secret, secretStdin }: { secret?: string; secretStdin?: boolean }): void {
  if (secret !== undefined && secretStdin) {
    throw usageError("--secret and --secret-stdin cannot be combined. Remove one of them.");
  }
}

async function readSecret(shell: Shell): Promise<string> {
  if (shell.stdin.isTTY) return promptSecret(shell);
  const [line = ""] = (await readText(shell.stdin, { untilLineEnd: true })).split(/\r?\n/, 1);
  return line;
}

/**
 * Reads the job of `--job` from a file, or from standard input if the value is `-`.
 *
 * @throws `ARGUMENT_INVALID` if the text is unreadable, not JSON, or not a job. The error never quotes the text,
 * because a job can contain secrets.
 */
export async function readJob({ file, shell }: { file: string; shell: Shell }): Promise<WebhookJobRequest> {
  const job = await readJsonFile({ option: "--job", file, shell });
  const [{ webhookJobRequest }, { describeIssue }, { fieldProblems }, { acceptUnknown }] = await Promise.all([
    import("../hub/jobs/definition.ts"),
    import("../core/describe.ts"),
    import("../hub/validation/arguments.ts"),
    import("../hub/validation/lenient.ts"),
  ]);
  // Keep unknown fields and values. The client sends them and logs a warning.
  const result = acceptUnknown(webhookJobRequest).safeParse(job, { error: describeIssue });
  if (result.success) return result.data;
  const problems = fieldProblems(result.error, { name: "job" })
    .slice(0, maxProblems)
    .map(({ field, problem }) => `${field}: ${problem}`);
  throw usageError(`--job: ${sourceName(file)} is not a valid job: ${problems.join("; ")}.`);
}

/**
 * Reads the JSON of an option from a file, or from standard input if `file` is `-`.
 *
 * @throws `ARGUMENT_INVALID` if the text is unreadable, too large, or not JSON. The error never quotes the text,
 * because it can contain secrets.
 */
export async function readJsonFile({
  option,
  file,
  shell,
  maxMebibytes,
}: {
  option: string;
  file: string;
  shell: Shell;
  maxMebibytes?: number;
}): Promise<unknown> {
  const text =
    file === "-" ? await readText(shell.stdin, { maxMebibytes }) : await readTextFile({ option, file, maxMebibytes });
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // Use only the position, because the rest of the message quotes the text.
    const position = error instanceof Error ? /\(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined;
    throw usageError(`${option}: ${sourceName(file)} is not valid JSON${position ? ` ${position}` : ""}.`);
  }
}

function sourceName(file: string): string {
  return file === "-" ? "standard input" : `"${file}"`;
}

async function readTextFile({
  option,
  file,
  maxMebibytes,
}: {
  option: string;
  file: string;
  maxMebibytes: number | undefined;
}): Promise<string> {
  try {
    // For some invalid paths, such as a path with a null character, this call throws.
    return await readText(createReadStream(file), { maxMebibytes, name: `${option}: "${file}"` });
  } catch (error: unknown) {
    if (WebhookError.isInstance(error)) throw error;
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw usageError(
      `${option}: "${file}" cannot be read${code}. Use the path of a JSON file, or "-" for standard input.`,
    );
  }
}

async function readText(
  stream: InputStream,
  {
    untilLineEnd = false,
    maxMebibytes = defaultMaxMebibytes,
    name = "Standard input",
  }: {
    untilLineEnd?: boolean;
    maxMebibytes?: number | undefined;
    /** The name of the source, for error messages. */
    name?: string;
  } = {},
): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // A secret with replaced or missing characters is another secret.
  const decode = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      throw usageError(`${name} is not valid UTF-8. Convert the text to UTF-8.`);
    }
  };
  let text = "";
  for await (const chunk of stream) {
    text += typeof chunk === "string" ? chunk : decode(chunk);
    if (text.length > maxMebibytes * 1_048_576)
      throw usageError(`${name} is too large. The maximum is ${maxMebibytes} MiB.`);
    if (untilLineEnd && text.includes("\n")) return text;
  }
  return text + decode();
}

/**
 * Checks that a command that runs a server file gets no options for the Hub, which the server would not use.
 *
 * @throws `ARGUMENT_INVALID` if `--token` or `--hub-url` is given.
 */
export function refuseHubOptions({ hubOptions }: Invocation): void {
  if (Object.keys(hubOptions).length === 0) return;
  throw usageError("The server file chooses the Hub. Set HF_TOKEN and HF_ENDPOINT instead of --token and --hub-url.");
}

/** Whether standard input and standard error are terminals, so that a prompt can be answered. */
export function canPrompt({ stdin, stderr }: Shell): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** The streams of a prompt. */
export function promptStreams({ stdin, stderr }: Shell) {
  return { input: stdin, output: stderr };
}

/** Prompts for yes or no on standard error. The default is no, and Ctrl+C counts as no. */
export async function confirm(shell: Shell, question: string): Promise<boolean> {
  const prompts = await import("@clack/prompts");
  const message = plainText(question);
  const answer = await prompts.confirm({ message, initialValue: false, ...promptStreams(shell) });
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

/** Prompts for confirmation unless `--yes` is given. If the user declines, prints a message and sets the exit code to 1. */
export async function requestConfirmation(invocation: Invocation, question: string): Promise<boolean> {
  if (invocation.skipsPrompts || (await confirm(invocation.shell, question))) return true;
  invocation.output.log("Canceled. Nothing was changed.");
  invocation.exitCode = 1;
  return false;
}

/** Prompts for a secret on standard error, without echoing it. @throws `ARGUMENT_INVALID` if the prompt is canceled. */
export async function promptSecret(shell: Shell, message = "Secret"): Promise<string> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.password({ message, ...promptStreams(shell) });
  if (prompts.isCancel(answer)) throw usageError("Canceled. Nothing was changed.");
  return answer ?? "";
}
