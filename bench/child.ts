import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** Options of a {@link Child}. */
export interface ChildOptions {
  /** A file in this folder, or an absolute path. */
  file: string;
  arguments?: readonly string[];
  /** Options of Node. */
  nodeOptions?: readonly string[];
  /** The only CPU core that the process may use. */
  core?: number | undefined;
}

/** The maximum time for an answer, in addition to the time that the question announces. */
const patienceMs = 15_000;

/** A child process of the benchmark. It reports when it is ready, and then sends one answer to each question. */
export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;

  constructor({ file, arguments: fileArguments = [], nodeOptions = [], core }: ChildOptions) {
    this.#name = [file, ...fileArguments].join(" ");
    // taskset replaces itself with the program, so this is the process ID of the server.
    const prefix = core === undefined ? [] : ["taskset", "-c", String(core)];
    const [command = process.execPath, ...before] = [...prefix, process.execPath];
    this.#process = fork(fileURLToPath(new URL(file, import.meta.url)), [...fileArguments], {
      execPath: command,
      execArgv: [...before, ...nodeOptions],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
  }

  /** Returns the next message of the process. */
  async next<Answer>(withinMs = 0): Promise<Answer> {
    const given = new AbortController();
    const ended = once(this.#process, "exit", { signal: given.signal }).then(([code]) => {
      throw new Error(`${this.#name} exited with code ${code}.`);
    });
    const late = setTimeout(() => given.abort(), patienceMs + withinMs);
    try {
      const answered = once(this.#process, "message", { signal: given.signal });
      const [answer] = await Promise.race([answered, ended]);
      return answer;
    } catch (error) {
      throw given.signal.aborted ? new Error(`${this.#name} did not answer in time.`) : error;
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

  /** Kills the process, because the benchmark does not measure a shutdown. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }
}
