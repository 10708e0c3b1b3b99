import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** How to start a {@link Child}. */
export interface ChildOptions {
  /** A file of this folder, or an absolute path. */
  file: string;
  arguments?: readonly string[];
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
  /** The one core it may run on. */
  core?: number | undefined;
}

/** Longer than any question takes to answer, beyond the time that it says it needs. */
const patienceMs = 15_000;

/** A process of this benchmark: it speaks first, and then gives one answer to each question. */
export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;

  constructor({ file, arguments: fileArguments = [], nodeOptions = [], core }: ChildOptions) {
    this.#name = [file, ...fileArguments].join(" ");
    // taskset turns into the program that it starts, so the process id is the server's own.
    const prefix = core === undefined ? [] : ["taskset", "-c", String(core)];
    const [command = process.execPath, ...before] = [...prefix, process.execPath];
    this.#process = fork(fileURLToPath(new URL(file, import.meta.url)), [...fileArguments], {
      execPath: command,
      execArgv: [...before, ...nodeOptions],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  /** What the process says next. */
  async next<Answer>(withinMs = 0): Promise<Answer> {
    const given = new AbortController();
    const ended = once(this.#process, "exit", { signal: given.signal }).then(([code]) => {
      throw new Error(`${this.#name} ended with code ${code}.`);
    });
    const late = setTimeout(() => given.abort(), patienceMs + withinMs);
    try {
      const answered = once(this.#process, "message", { signal: given.signal });
      const [answer] = await Promise.race([answered, ended]);
      return answer;
    } catch (error) {
      throw given.signal.aborted ? new Error(`${this.#name} does not answer.`) : error;
    } finally {
      clearTimeout(late);
      given.abort();
    }
  }

  ask<Answer>(question: object | string, withinMs = 0): Promise<Answer> {
    const answer = this.next<Answer>(withinMs);
    this.#process.send(question);
    return answer;
  }

  /** Not a polite end: what a server does at its close is not measured here. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}
