import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { maxTimerMs } from "../../core/duration.ts";

/** How long a process may take to end after it was asked to, before it is made to. */
const killAfterMs = 5_000;
/** How long its output is waited for once it has ended: what it started may still hold the pipes. */
const outputAfterMs = 500;
/** Of a line that it writes, this many characters are told. */
const longestLine = 2_000;
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
  /** Told of each line that it writes, a long one cut. */
  onOutput: (line: string) => void;
}

const running = new Set<ChildProcess>();

function killRunning(): void {
  for (const child of running) signalGroup(child, "SIGKILL");
}

/** Whatever ends this process ends what its jobs have started. One listener for all of them: Node warns above ten. */
function addRunning(child: ChildProcess): void {
  if (running.size === 0) process.on("exit", killRunning);
  running.add(child);
}

function removeRunning(child: ChildProcess): void {
  running.delete(child);
  if (running.size === 0) process.off("exit", killRunning);
}

/** Runs the command of a job as a local process. Resolves with `undefined` when it ended with 0, else with why not. */
export function runJobProcess(options: JobProcessOptions): Promise<string | undefined> {
  const { signal, timeoutSeconds, onOutput } = options;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve("canceled");
    const child = start(options);
    if (typeof child === "string") return resolve(child);
    let reason: string | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const end = (because: string) => {
      reason ??= because;
      signalGroup(child, "SIGTERM");
      killTimer ??= setTimeout(kill, killAfterMs);
    };
    const kill = () => signalGroup(child, "SIGKILL");
    const cancel = () => end("canceled");
    const limit =
      timeoutSeconds === null
        ? undefined
        : setTimeout(() => end(`not done within ${timeoutSeconds} s`), Math.min(timeoutSeconds * 1000, maxTimerMs));
    signal.addEventListener("abort", cancel, { once: true });
    addRunning(child);
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    for (const stream of streams) tellLines(stream, onOutput);
    const finish = (outcome: string | undefined) => {
      clearTimeout(limit);
      clearTimeout(killTimer);
      signal.removeEventListener("abort", cancel);
      removeRunning(child);
      resolve(reason ?? outcome);
    };
    child.on("error", (error) => finish(describe(error)));
    child.on("exit", () => {
      setTimeout(() => {
        for (const stream of streams) stream.destroy();
      }, outputAfterMs).unref();
    });
    child.on("close", (code, killedBy) => {
      // Its group may have outlived it.
      kill();
      finish(code === 0 ? undefined : killedBy ? `ended by ${killedBy}` : `exit code ${code}`);
    });
  });
}

function start({ command: [program = "", ...values], environment }: JobProcessOptions): ChildProcess | string {
  try {
    return spawn(program, values, {
      env: { ...inheritedEnvironment(), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      // A group of its own, so that what it starts ends with it.
      detached: true,
    });
  } catch (error) {
    return describe(error);
  }
}

/** Splits an output into lines and keeps no more of one than is told: a line without an end must not fill the memory. */
function tellLines(stream: Readable, tell: (line: string) => void): void {
  let line = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const [first = "", ...further] = text.split("\n");
    line += first.slice(0, longestLine - line.length);
    for (const next of further) {
      tell(line);
      line = next.slice(0, longestLine);
    }
  });
  stream.on("close", () => {
    if (line !== "") tell(line);
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
  // Node's own words would quote the value, and it may be a secret.
  if (code === "ERR_INVALID_ARG_VALUE") return "the command, an argument or a variable holds a NUL character";
  return `the program could not be started (${String(code ?? "unknown error")})`;
}
