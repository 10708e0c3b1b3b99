import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** How long a process may take to end after it was asked to, before it is made to. */
const killAfterMs = 5_000;
/** Longer than this, a timer of JavaScript fires at once. */
const longestTimerMs = 2_147_483_647;
/** What a process gets of this one's environment: not all of it, since a developer's holds tokens. */
const inherited = ["PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/** One run of the command of a job. */
export interface JobProcessOptions {
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** `null`: no limit. */
  timeoutSeconds: number | null;
  /** Ends the process and all that it has started. */
  signal: AbortSignal;
  /** Told of each line that it writes. */
  onOutput: (line: string) => void;
}

/** Runs the command of a job as a local process. Resolves with `undefined` when it ended with 0, else with why not. */
export function runJobProcess({
  command: [program = "", ...values],
  environment,
  timeoutSeconds,
  signal,
  onOutput,
}: JobProcessOptions): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve("canceled");
    let child: ChildProcess;
    try {
      child = spawn(program, values, {
        env: { ...inheritedEnvironment(), ...environment },
        stdio: ["ignore", "pipe", "pipe"],
        // A group of its own, so that what it starts ends with it.
        detached: true,
      });
    } catch (error) {
      return resolve(describe(error));
    }
    let reason: string | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const end = (because: string) => {
      reason ??= because;
      signalGroup(child, "SIGTERM");
      killTimer ??= setTimeout(() => signalGroup(child, "SIGKILL"), killAfterMs);
    };
    const cancel = () => end("canceled");
    signal.addEventListener("abort", cancel, { once: true });
    const limit =
      timeoutSeconds === null
        ? undefined
        : setTimeout(() => end(`not done within ${timeoutSeconds} s`), Math.min(timeoutSeconds * 1000, longestTimerMs));
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on("line", onOutput);
    }
    const finish = (outcome: string | undefined) => {
      clearTimeout(limit);
      clearTimeout(killTimer);
      signal.removeEventListener("abort", cancel);
      resolve(reason ?? outcome);
    };
    child.on("error", (error) => finish(describe(error)));
    child.on("close", (code, killedBy) => {
      finish(code === 0 ? undefined : killedBy ? `ended by ${killedBy}` : `exit code ${code}`);
    });
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

function describe(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "the program is not installed on this machine";
  if (code === "E2BIG") return "the payload is too large for an environment variable";
  return error instanceof Error ? error.message : String(error);
}
