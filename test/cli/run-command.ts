import { PassThrough, Readable } from "node:stream";
import { expect } from "vitest";
import { run } from "../../src/cli/main.ts";
import type { WebhookPayload } from "../../src/index.ts";

/** Options for running a command in this process. */
export interface RunOptions {
  /** The content of standard input. Default: empty. */
  input?: string | Readable;
  /** Whether standard output is a terminal. Default `false`. */
  isTerminal?: boolean;
  env?: Record<string, string>;
  /** The Hub to use, with the token `hf_local`. */
  hub?: { url: string };
  /** Stops a long-running command when it resolves. */
  stopped?: Promise<void>;
  /** Receives the complete standard output after each write. */
  onOutput?: (output: string) => void;
  /** Receives each text written to standard error. */
  onNotice?: (text: string) => void;
  /** Called when the command stops itself. */
  onStop?: () => void;
  /** Whether standard error is a terminal. Default `false`. */
  hasPrompts?: boolean;
}

/** The output and exit code of a command. */
export interface RunResult {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line in this process. Words of a string are separated by spaces. */
export async function runCommand(words: string | readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const {
    input = "",
    isTerminal = false,
    env = {},
    hub,
    stopped = Promise.resolve(),
    onOutput,
    onNotice,
    onStop = () => {},
    hasPrompts = false,
  } = options;
  let stdout = "";
  let stderr = "";
  const argv = typeof words === "string" ? words.split(" ") : words;
  const exitCode = await run([...argv, ...(hub ? ["--hub-url", hub.url, "--token", "hf_local"] : [])], {
    stdin: typeof input === "string" ? Readable.from([Buffer.from(input)]) : input,
    stdout: collect(isTerminal, (text) => {
      stdout += text;
      onOutput?.(stdout);
    }),
    stderr: collect(hasPrompts, (text) => {
      stderr += text;
      onNotice?.(text);
    }),
    env,
    untilStopped: () => stopped,
    stop: onStop,
  });
  return { exitCode, stdout, stderr };
}

function collect(isTTY: boolean, onText: (text: string) => void): PassThrough & { isTTY: boolean } {
  const stream = new PassThrough();
  // A synchronous write, so that the output is complete when the command returns.
  stream.write = (chunk: unknown) => {
    onText(String(chunk));
    return true;
  };
  return Object.assign(stream, { isTTY, columns: 120, rows: 24 });
}

/** A key as a terminal sends it. */
export const keys = { down: "\u001b[B", enter: "\r", escape: "\u001b", interrupt: "\u0003" };

/**
 * Runs the command line in this process, with a terminal for its prompts. Types the next keys when the next text is
 * prompted. The prompts are in `stderr`.
 */
export async function runWithPrompts(
  argv: string | readonly string[],
  answers: readonly (readonly [prompt: string, typed: string])[],
  options: RunOptions = {},
): Promise<RunResult> {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode() {} });
  let prompted = "";
  const ended = runCommand(argv, {
    ...options,
    input,
    isTerminal: true,
    hasPrompts: true,
    onNotice: (text) => {
      prompted += text;
    },
  });
  for (const [prompt, typed] of answers) {
    await expect.poll(() => prompted, { interval: 2, timeout: 15_000 }).toContain(prompt);
    prompted = "";
    input.write(typed);
  }
  return ended;
}

/** Runs `trigger` in this process until it exits by itself. */
export function runTrigger(words: string | readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const argv = typeof words === "string" ? words.split(" ") : words;
  return runCommand(["trigger", ...argv], { stopped: new Promise<never>(() => {}), ...options });
}

/** Returns the payload that `--dry-run` prints for a URL. */
export async function payloadOf(argv: readonly string[], options: RunOptions = {}): Promise<WebhookPayload> {
  const url = ["--url", "http://127.0.0.1:1/", "--dry-run", "--format", "json"];
  const { exitCode, stdout, stderr } = await runTrigger([...argv, ...url], options);
  if (exitCode !== 0) throw new Error(stderr);
  return JSON.parse(stdout).payload;
}

/** Returns the help of the command with this name and of its subcommands, by name such as `deliveries list`. */
export async function readHelps(name = ""): Promise<Map<string, string>> {
  const { stdout } = await runCommand([...name.split(" ").filter((word) => word !== ""), "--help"]);
  const helps = new Map([[name, stdout]]);
  // Only command groups have lines that start with a word.
  for (const [, list = ""] of stdout.matchAll(/\n(?!Arguments|Examples?)[A-Z][a-z ]*:\n(.*?)\n(?=\n|$)/gs)) {
    for (const [, part = ""] of list.matchAll(/^ {2}(\w[\w-]*)/gm)) {
      if (part === "help") continue;
      for (const entry of await readHelps(`${name} ${part}`.trim())) helps.set(...entry);
    }
  }
  return helps;
}
