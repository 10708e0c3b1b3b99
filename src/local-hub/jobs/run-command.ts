import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { Readable } from "node:stream";
import { maxTimerMs } from "../../core/options.ts";

const killAfterMs = 5_000;
/** The timeout for reading the remaining output after the process exits. Child processes can keep the pipes open. */
const outputTimeoutMs = 500;
/** The number of timeouts after which a process that still prints loses its output. */
const maxOutputTimeouts = 10;
/** The minimum length of the parts of a secret that are masked. Shorter parts are also in other output. */
export const minMaskedLength = 4;
/** The maximum length of a line of output. Longer lines are truncated. */
const maxLineLength = 2_000;
/** The maximum number of characters to read at once. Many short lines would otherwise block the local Hub. */
const maxReadLength = 4_096;
/** Other variables are not passed on, because they can contain tokens of the developer. */
const inheritedVariables = ["PATH", "HOME", "USER", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"];

interface CommandOptions {
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  /** The working directory. Default: the one of this process. */
  folder?: string;
  /** The timeout of the command, or `null` for no timeout. */
  timeoutSeconds: number | null;
  /** Aborting this signal stops the process and its child processes. */
  signal: AbortSignal;
  onOutput: (line: string) => void;
}

const running = new Set<ChildProcess>();

function killRunning(): void {
  for (const child of running) signalGroup(child, "SIGKILL");
}

/**
 * Adds or removes the process groups that it reads, and kills those that remain at the end of its input. Its input ends when this
 * process is killed, which no listener notices.
 */
const watchdogScript = `
groups=" "
while read -r group; do
  case $groups in
    *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
    *) groups="$groups$group " ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group"; done`;

let watchdog: ChildProcess | undefined;

/** A POSIX shell starts fast and uses little memory. Its own process group keeps it running after a signal of the terminal. */
function startWatchdog(): ChildProcess {
  const stdio: StdioOptions = ["pipe", "ignore", "ignore"];
  // Has no standard input if there are too many open files.
  const started: ChildProcess = spawn("/bin/sh", ["-c", watchdogScript], { stdio, detached: true });
  // Without a shell, jobs only end if this process exits by itself.
  started.on("error", () => {});
  started.stdin?.on("error", () => {});
  started.unref();
  return started;
}

/** Kills the job when this process exits. All jobs share one listener, because Node warns about more than ten listeners. */
function addRunning(child: ChildProcess): void {
  if (running.size === 0) process.on("exit", killRunning);
  watchdog ??= startWatchdog();
  running.add(child);
  watchdog.stdin?.write(`${child.pid}\n`);
}

function removeRunning(child: ChildProcess): void {
  running.delete(child);
  watchdog?.stdin?.write(`${child.pid}\n`);
  if (running.size > 0) return;
  process.off("exit", killRunning);
  watchdog?.stdin?.end();
  watchdog = undefined;
}

/** Resolves with the reason for a failure, or with `undefined` if the process exited with code 0. */
export function runCommand(options: CommandOptions): Promise<string | undefined> {
  const { signal, timeoutSeconds, onOutput } = options;
  return new Promise((resolve) => {
    if (signal.aborted) return resolve("canceled");
    const child = start(options);
    if (typeof child === "string") return resolve(child);
    let reason: string | undefined;
    let killTimer: NodeJS.Timeout | undefined;
    const stop = (why: string) => {
      reason ??= why;
      signalGroup(child, "SIGTERM");
      killTimer ??= setTimeout(kill, killAfterMs);
    };
    const kill = () => signalGroup(child, "SIGKILL");
    const cancel = () => stop("canceled");
    const timeout =
      timeoutSeconds === null
        ? undefined
        : setTimeout(() => stop(`timed out after ${timeoutSeconds} s`), Math.min(timeoutSeconds * 1000, maxTimerMs));
    signal.addEventListener("abort", cancel, { once: true });
    addRunning(child);
    // They are missing if there are too many open files.
    const streams = [child.stdout, child.stderr].filter((stream) => stream instanceof Readable);
    for (const stream of streams) readLines(stream, onOutput);
    const finish = (outcome: string | undefined) => {
      clearTimeout(timeout);
      clearTimeout(killTimer);
      signal.removeEventListener("abort", cancel);
      removeRunning(child);
      resolve(reason ?? outcome);
    };
    child.on("error", (error) => finish(describeStartError(error)));
    const endOutput = (timeouts: number) => {
      const isReading = streams.some(({ readableLength }) => readableLength > 0);
      if (isReading && timeouts < maxOutputTimeouts) return waitForOutput(timeouts + 1);
      for (const stream of streams) stream.destroy();
    };
    const waitForOutput = (timeouts: number) => void setTimeout(endOutput, outputTimeoutMs, timeouts).unref();
    child.on("exit", () => waitForOutput(1));
    child.on("close", (code, killedBy) => {
      // Kill child processes that are still running.
      kill();
      finish(code === 0 ? undefined : killedBy ? `killed by ${killedBy}` : `exit code ${code}`);
    });
  });
}

/** Returns a function that masks secrets in a text. A text with the maximum length was truncated, and can end with the start of a secret. */
export function createMask(secrets: readonly string[], maxLength = maxLineLength): (text: string) => string {
  const texts = secrets
    // A secret with several lines is printed in several lines.
    .flatMap((secret) => [secret, ...secret.split(/[\r\n]+/).filter(({ length }) => length >= minMaskedLength)])
    .filter((text) => text !== "")
    // A secret that contains another one must be masked as a whole.
    .sort((one, other) => other.length - one.length);
  return (text) => {
    const printed = text.length < maxLength ? text : maskEnd(text, texts);
    return texts.reduce((masked, secret) => masked.replaceAll(secret, "***"), printed);
  };
}

function maskEnd(text: string, secrets: readonly string[]): string {
  const starts = secrets.map((secret) => {
    let { length } = secret;
    while (length >= minMaskedLength && !text.endsWith(secret.slice(0, length))) length -= 1;
    return length;
  });
  const longest = Math.max(0, ...starts);
  return longest < minMaskedLength ? text : `${text.slice(0, -longest)}***`;
}

function start({ command: [program = "", ...values], environment, folder }: CommandOptions): ChildProcess | string {
  try {
    return spawn(program, values, {
      ...(folder !== undefined && { cwd: folder }),
      env: { ...inheritedEnvironment(), ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      // With its own process group, the process can be killed together with its child processes.
      detached: true,
    });
  } catch (error) {
    return describeStartError(error);
  }
}

/** Splits the output into lines. Keeps only the start of long lines, which could otherwise fill the memory. */
function readLines(stream: Readable, onLine: (line: string) => void): void {
  let line = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    if (text.length > maxReadLength) {
      stream.pause();
      stream.unshift(text.slice(maxReadLength));
      setImmediate(() => stream.resume());
    }
    const [first = "", ...further] = text.slice(0, maxReadLength).split("\n");
    line += first.slice(0, maxLineLength - line.length);
    for (const next of further) {
      onLine(line);
      line = next.slice(0, maxLineLength);
    }
  });
  stream.on("close", () => {
    if (line !== "") onLine(line);
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The process has already exited.
  }
}

function inheritedEnvironment(): Record<string, string> {
  return Object.fromEntries(
    inheritedVariables.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
}

function describeStartError(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "the program is not installed on this machine";
  if (code === "E2BIG") return "the payload is too large for an environment variable";
  // Node's message is not used, because it quotes the value, which can be a secret.
  if (code === "ERR_INVALID_ARG_VALUE") return "the command, an argument, or a variable contains a NUL character";
  return `cannot start the program (${String(code ?? "unknown error")})`;
}
