import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import type { LogLine } from "./memory-logger.ts";
import { processEnvironment } from "./program.ts";

const levels: Readonly<Record<number, LogLine["level"]>> = { 20: "debug", 30: "info", 40: "warn", 50: "error" };

/** How a process exited. */
export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** A receiver in a separate process, with its log and its exit. */
export class ReceiverProcess {
  /** Resolves when the process has exited and its output has been read. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #output = "";
  /** The number of characters of the output that are in `#lines`. */
  #parsed = 0;
  readonly #lines: LogLine[] = [];
  #errorOutput = "";
  #hasExited = false;
  #changed = Promise.withResolvers<void>();

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.#output += text;
      this.#wake();
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errorOutput += text;
    });
    this.exited = once(child, "close").then(() => {
      this.#hasExited = true;
      this.#wake();
      return { code: child.exitCode, signal: child.signalCode };
    });
  }

  get pid(): number {
    return this.#child.pid ?? Number.NaN;
  }

  /** The lines logged so far. */
  get lines(): readonly LogLine[] {
    const end = this.#output.lastIndexOf("\n") + 1;
    for (const text of this.#output.slice(this.#parsed, end).split("\n")) {
      if (text !== "") this.#lines.push(parseLine(text));
    }
    this.#parsed = end;
    return this.#lines;
  }

  /** The text written to standard error. A healthy process writes nothing. */
  get errorOutput(): string {
    return this.#errorOutput;
  }

  /**
   * Waits until `count` lines have this message and returns the last of them.
   *
   * @throws {Error} If the process exits first.
   */
  async says(msg: string | RegExp, count = 1): Promise<LogLine> {
    for (;;) {
      const line = this.lines.filter((said) => (typeof msg === "string" ? said.msg === msg : msg.test(said.msg)))[
        count - 1
      ];
      if (line) return line;
      if (this.#hasExited)
        throw new Error(`The process exited before it logged ${msg}:\n${this.#output}${this.#errorOutput}`);
      await this.#changed.promise;
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

function parseLine(text: string): LogLine {
  const { level, ...line } = JSON.parse(text);
  return { ...line, level: levels[level] ?? "debug" };
}

/** Resource limits of a process. */
export interface ProcessLimits {
  maxOpenFiles?: number;
}

/**
 * Runs a script that launches a receiver and kills it after the test. Its environment contains only these variables
 * and {@link processEnvironment}.
 */
export function startReceiverProcess(
  script: string | URL,
  environment: Readonly<Record<string, string>>,
  { maxOpenFiles }: ProcessLimits = {},
): ReceiverProcess {
  const path = script instanceof URL ? script.pathname : script;
  const env = { ...processEnvironment, ...environment };
  const limited = ["-c", `ulimit -n ${maxOpenFiles} && exec "$0" "$1"`, process.execPath, path];
  const child = maxOpenFiles === undefined ? spawn(process.execPath, [path], { env }) : spawn("sh", limited, { env });
  const receiver = new ReceiverProcess(child);
  onTestFinished(async () => {
    receiver.signal("SIGKILL");
    await receiver.exited;
  });
  return receiver;
}

/** Returns the URL that a receiver logs when it is ready. */
export async function addressOf(receiver: ReceiverProcess): Promise<string> {
  const { endpoints } = await receiver.says(/^The server is ready/);
  const [first] = Array.isArray(endpoints) ? endpoints : [];
  return new URL(String(first).replace("POST ", "")).origin;
}
