import { createReadStream } from "node:fs";
import { WebhookError } from "../core/errors.ts";
import type { WebhookJobRequest } from "../hub/jobs.ts";
import type { InputStream, Shell } from "./shell.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** In megabytes: more than any secret or job needs. What goes on for longer was not meant for us. */
const longestInput = 1;

/** How many problems of a job are named at once. */
const problemsNamed = 3;

/** What {@link readJson} needs. */
export interface ReadJsonOptions {
  /** The option that names the file, as in `--job`. */
  option: string;
  /** `-` for standard input. */
  file: string;
  /** What is to stand in it, for an error: `give the job as the Hub takes it`. */
  advice: string;
  shell: Shell;
  /** In megabytes. Default 1. */
  longest?: number;
}

/** Reads the secret that `--secret-stdin` asks for: the first line of standard input, or a hidden prompt on a terminal. */
export async function readSecret(shell: Shell): Promise<string> {
  if (shell.stdin.isTTY) {
    const { askSecret } = await import("./confirm.ts");
    return askSecret(shell);
  }
  const [line = ""] = (await readText(shell.stdin, { untilLineEnd: true })).split(/\r?\n/, 1);
  return line;
}

/**
 * Reads the job that `--job` names: a file, or standard input for `-`.
 *
 * @throws `ARGUMENT_INVALID` when it cannot be read, is not JSON or no job; its text is never quoted, it may hold secrets.
 */
export async function readJob({ file, shell }: { file: string; shell: Shell }): Promise<WebhookJobRequest> {
  const advice = "give the job as the Hub takes it";
  const job = await readJson({ option: "--job", file, advice, shell });
  const [{ webhookJobRequest }, { fieldProblems }, { acceptUnknown }] = await Promise.all([
    import("../hub/jobs.ts"),
    import("../hub/arguments.ts"),
    import("../hub/lenient.ts"),
  ]);
  // What this release does not list stays: the client sends it with a warning.
  const result = acceptUnknown(webhookJobRequest).safeParse(job);
  if (result.success) return result.data;
  const problems = fieldProblems(result.error, { name: "the whole" })
    .slice(0, problemsNamed)
    .map(({ field, problem }) => `${field}: ${problem}`);
  throw wrongUsage(`--job: ${nameOf(file)} is no job that the Hub takes: ${problems.join("; ")}.`);
}

/**
 * Reads the JSON that an option names: a file, or standard input for `-`.
 *
 * @throws `ARGUMENT_INVALID` when it cannot be read, is too long or not JSON; its text is never quoted, it may hold secrets.
 */
export async function readJson({ option, file, advice, shell, longest }: ReadJsonOptions): Promise<unknown> {
  const text = file === "-" ? await readText(shell.stdin, { longest }) : await readTextFile({ option, file, longest });
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The place alone is taken from the message: the rest of it quotes the text.
    const place = error instanceof Error ? /\(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined;
    throw wrongUsage(`${option}: ${nameOf(file)} is not JSON${place ? ` ${place}` : ""}: ${advice}.`);
  }
}

function nameOf(file: string): string {
  return file === "-" ? "standard input" : `"${file}"`;
}

async function readTextFile({
  option,
  file,
  longest,
}: Pick<ReadJsonOptions, "option" | "file" | "longest">): Promise<string> {
  try {
    return await readText(createReadStream(file), { longest, name: `${option}: "${file}"` });
  } catch (error) {
    if (WebhookError.isInstance(error)) throw error;
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw wrongUsage(
      `${option}: "${file}" cannot be read${code}: give the path of a JSON file, or "-" for standard input.`,
    );
  }
}

interface ReadTextOptions {
  untilLineEnd?: boolean;
  longest?: number | undefined;
  /** What is read, as an error calls it. */
  name?: string;
}

async function readText(stream: InputStream, options: ReadTextOptions = {}): Promise<string> {
  const { untilLineEnd = false, longest = longestInput, name = "Standard input" } = options;
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > longest * 1_048_576) {
      throw wrongUsage(`${name} is longer than ${longest === 1 ? "a megabyte" : `${longest} megabytes`}: give less.`);
    }
    if (untilLineEnd && text.includes("\n")) break;
  }
  return text;
}
