import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The script that package.json names as `hub-webhooks`, as it stands in the sources. */
export const binPath = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url));

/** How a process ended, and what it said. */
export interface ProcessResult {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process of the command line. */
export class CommandProcess {
  /** Resolves when it has ended and all it said has been read. */
  readonly ended: Promise<ProcessResult>;
  readonly stdin: NodeJS.WritableStream;
  readonly #child: ChildProcessWithoutNullStreams;
  #stdout = "";
  #stderr = "";
  #hasEnded = false;
  #changed = Promise.withResolvers<void>();

  constructor(
    command: string,
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
    { cwd }: { cwd?: string } = {},
  ) {
    // A home of its own: no token file of this machine may be found.
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    this.#child = spawn(command, argv, { cwd, env: { PATH, NODE_COMPILE_CACHE, HOME: "/dev/null", ...env } });
    this.stdin = this.#child.stdin;
    this.#child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      this.#wake();
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      this.#wake();
    });
    this.ended = once(this.#child, "close").then(() => {
      this.#hasEnded = true;
      this.#wake();
      const { exitCode, signalCode } = this.#child;
      return { exitCode, signal: signalCode, stdout: this.#stdout, stderr: this.#stderr };
    });
    onTestFinished(async () => {
      this.signal("SIGKILL");
      await this.ended;
    });
  }

  /**
   * Waits until this has been said on either stream.
   *
   * @throws when the process ends before.
   */
  async says(text: string | RegExp): Promise<void> {
    await this.#until((said) => (typeof text === "string" ? said.includes(text) : text.test(said)), text);
  }

  /** How often this has been said so far on either stream. */
  count(text: string): number {
    return occurrences(this.#stdout + this.#stderr, text);
  }

  /**
   * Waits until this has been said once more than `before` times.
   *
   * @throws when the process ends before.
   */
  async saysMore(text: string, before: number): Promise<void> {
    await this.#until((said) => occurrences(said, text) > before, text);
  }

  /** What it has written to standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** What it has written to standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Reads no more of its standard output, as `head` does when it has enough. */
  closeStdout(): void {
    this.#child.stdout.destroy();
  }

  async #until(isSaid: (said: string) => boolean, text: string | RegExp): Promise<void> {
    for (;;) {
      const said = this.#stdout + this.#stderr;
      if (isSaid(said)) return;
      if (this.#hasEnded) throw new Error(`It ended before it said ${text}:\n${said}`);
      await this.#changed.promise;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

function occurrences(said: string, text: string): number {
  return said.split(text).length - 1;
}

/** Starts `hub-webhooks` with these arguments, in a process of its own; it is ended when the test is over. */
export function startCommand(argv: readonly string[], env: Readonly<Record<string, string>> = {}): CommandProcess {
  return new CommandProcess(process.execPath, [binPath, ...argv], env);
}

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
