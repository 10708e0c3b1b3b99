import { readFile } from "node:fs/promises";
import type { WebhookJobRequest } from "../hub/contract/jobs.ts";
import type { InputStream, Shell } from "./shell.ts";
import { wrongUsage } from "./wrong-usage.ts";

/** More than any secret or job needs: what goes on for longer was not meant for us. */
const longestInput = 1_048_576;

/** How many problems of a job are named at once. */
const problemsNamed = 3;

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
  const name = file === "-" ? "standard input" : `"${file}"`;
  const text = file === "-" ? await readText(shell.stdin) : await readJobFile(file);
  const [{ webhookJobRequest }, { fieldProblems }] = await Promise.all([
    import("../hub/contract/jobs.ts"),
    import("../hub/contract/problems.ts"),
  ]);
  const result = webhookJobRequest.safeParse(parseJson(text, name));
  if (result.success) return result.data;
  const problems = fieldProblems(result.error, { name: "the whole" })
    .slice(0, problemsNamed)
    .map(({ field, problem }) => `${field}: ${problem}`);
  throw wrongUsage(`--job: ${name} is no job that the Hub takes: ${problems.join("; ")}.`);
}

async function readJobFile(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? ` (${error.code})` : "";
    throw wrongUsage(
      `--job: "${file}" cannot be read${code}: give the path of a JSON file, or "-" for standard input.`,
    );
  }
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    // The place alone is taken from the message: the rest of it quotes the text.
    const place = error instanceof Error ? /\(line \d+ column \d+\)/.exec(error.message)?.[0] : undefined;
    throw wrongUsage(`--job: ${name} is not JSON${place ? ` ${place}` : ""}: give the job as the Hub takes it.`);
  }
}

async function readText(stream: InputStream, { untilLineEnd = false } = {}): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (text.length > longestInput) throw wrongUsage("Standard input is longer than a megabyte: give less.");
    if (untilLineEnd && text.includes("\n")) break;
  }
  return text;
}
