import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { processEnvironment } from "../support/program.ts";

/** The source of the script that package.json names as `hub-webhooks`. */
export const binPath = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url));

/** The exit and the complete output of a process. */
export interface ProcessResult {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process of the command line. */
export class CommandProcess {
  /** Resolves when the process has exited and its output has been read. */
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
    // With this home folder, the process finds no token file of the developer.
    this.#child = spawn(command, argv, { cwd, env: { ...processEnvironment, HOME: "/dev/null", ...env } });
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
   * Waits until either stream contains this text.
   *
   * @throws {Error} If the process exits first.
   */
  async says(text: string | RegExp): Promise<void> {
    for (;;) {
      const said = this.#stdout + this.#stderr;
      if (typeof text === "string" ? said.includes(text) : text.test(said)) return;
      if (this.#hasEnded) throw new Error(`The process exited before it printed ${text}:\n${said}`);
      await this.#changed.promise;
    }
  }

  /** The text written to standard error so far. */
  get stderr(): string {
    return this.#stderr;
  }

  /** The text written to standard output so far. */
  get stdout(): string {
    return this.#stdout;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Closes the standard output of the process, like `head` after its last line. */
  closeStdout(): void {
    this.#child.stdout.destroy();
  }

  pauseStdout(): void {
    this.#child.stdout.pause();
  }

  resumeStdout(): void {
    this.#child.stdout.resume();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

/** Starts `hub-webhooks` with these arguments in a separate process and kills it after the test. */
export function startCommand(argv: readonly string[], env: Readonly<Record<string, string>> = {}): CommandProcess {
  return new CommandProcess(process.execPath, [binPath, ...argv], env);
}

/** A program of util-linux that runs a command on a terminal. */
const terminalMaker = "script";

/** Whether this machine can run tests on a terminal. */
export const canMakeTerminal = spawnSync(terminalMaker, ["--version"]).stdout?.includes("util-linux") ?? false;
if (!canMakeTerminal)
  console.log(`Skipped tests on a terminal: the program "${terminalMaker}" of util-linux is missing.`);

/** Runs `hub-webhooks` with these shell words on a terminal, with this Hub. */
export function startOnTerminal(
  words: string,
  hub: { url: string },
  { cwd, env }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): CommandProcess {
  // Such a terminal has no width until it is set.
  const command = `stty cols 200 rows 24; "${process.execPath}" "${binPath}" ${words}`;
  const variables = { HF_ENDPOINT: hub.url, HF_TOKEN: "hf_local", TERM: "xterm", SHELL: "/bin/sh", ...env };
  return new CommandProcess(terminalMaker, ["-qec", command, "/dev/null"], variables, cwd === undefined ? {} : { cwd });
}

/** Starts `full-process.ts`, which may open few files. */
export function startFullProcess(...argv: readonly string[]): CommandProcess {
  const script = fileURLToPath(new URL("../support/full-process.ts", import.meta.url));
  return new CommandProcess("sh", ["-c", 'ulimit -n 200 && exec "$0" "$@"', process.execPath, script, ...argv]);
}
