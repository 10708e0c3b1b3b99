import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import { WebhookError } from "../core/errors.ts";
import { programUrl } from "../core/package-files.ts";
import { findProgram } from "./find-program.ts";
import { otherTunnels, type Provider, type ProviderTunnel, tunnelFailure } from "./provider.ts";

/** What is known of a program that carries tunnels. */
export interface TunnelProgram {
  name: string;
  /** Where it says how to install it. */
  installation: string;
  argumentsFor(port: number): readonly string[];
  /** Makes a reader of the lines that one run of it prints. */
  createReader(): (line: string) => ProgramNews;
}

/**
 * What a line says. Nothing of the line itself may get into a hint but what has been checked: it may hold tokens and
 * escape codes.
 */
export interface ProgramNews {
  /** The public URL, told once deliveries can arrive there. */
  url?: string | undefined;
  /** What is wrong, or what it waits for, as a sentence of our own. */
  hint?: string | undefined;
}

/** Longer lines are no log lines: the rest of one is dropped. */
const longestLine = 16_384;

/** How many milliseconds the process that runs the program may take to end it. It gives the program one second. */
const longestEnd = 3_000;

/** What a program needs to know: where things are, how to reach the internet, and its own settings. No other secret. */
const neededVariables =
  /^(PATH|HOME|TMPDIR|TEMP|TMP|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA|SSL_CERT_(FILE|DIR)|((HTTPS?|ALL|NO)_PROXY)|(XDG|NGROK|TUNNEL)_.+)$/i;

/**
 * Makes a provider of a program that the user has installed.
 *
 * Its process ends with the tunnel, and with ours: by SIGTERM, and a second later by SIGKILL.
 */
export function providerOf(program: TunnelProgram): Provider {
  const { name } = program;
  const failure = (reason: string) => tunnelFailure(reason, remedyOf(program));

  return async ({ port, signal }) => {
    const file = findProgram(name);
    if (file === undefined) throw notInstalled(program);
    const child = startChild([file, ...program.argumentsFor(port)]);
    const ended = untilEnd(child);
    const lost = new AbortController();
    let hint: string | undefined;
    let closing: Promise<void> | undefined;

    const close = (): Promise<void> => {
      closing ??= endChild(child, ended);
      return closing;
    };
    const withHint = (reason: string) => failure(hint === undefined ? reason : `${reason} ${hint}`);

    return new Promise<ProviderTunnel>((resolve, reject) => {
      let opening = true;
      const giveUp = (reason: string) => {
        if (!opening) return;
        opening = false;
        close().then(() => reject(withHint(reason)));
      };
      const read = program.createReader();
      for (const stream of [child.stdout, child.stderr]) {
        readLines(stream, (line) => {
          const news = read(line);
          hint = news.hint ?? hint;
          if (news.url === undefined || !opening) return;
          opening = false;
          hint = undefined;
          resolve({ url: news.url, name: undefined, lost: lost.signal, close });
        });
      }
      ended.then((code) => {
        giveUp(`${name} has ended${code === null ? "" : ` with code ${code}`} before it gave a URL.`);
        if (closing === undefined) lost.abort(withHint(`${name} has ended.`));
      });
      signal.addEventListener("abort", () => giveUp(`${name} gives no URL in time.`), { once: true });
    });
  };
}

function startChild(programArguments: readonly string[]): ChildProcess {
  return fork(programUrl("program-worker", import.meta.url), programArguments, {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => neededVariables.test(name))),
    execArgv: [],
    // Nothing that it prints gets to the terminal, and Ctrl-C there does not get to it.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
    windowsHide: true,
  });
}

/** Resolves with the exit code when the process and all its output have ended. */
async function untilEnd(child: ChildProcess): Promise<number | null> {
  const exited = new Promise<number | null>((resolve) => {
    child.once("exit", (code) => resolve(code));
    child.on("error", () => {
      if (child.pid === undefined) resolve(null); // It could not even start.
    });
  });
  // Not the child's own "close": Node leaves that out after disconnect().
  const silent = [child.stdout, child.stderr].map(
    (stream) => new Promise((resolve) => (stream ? stream.once("close", resolve) : resolve(undefined))),
  );
  const [code] = await Promise.all([exited, ...silent]);
  return code;
}

async function endChild(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.connected) child.disconnect();
  const patience = setTimeout(() => killGroup(child), longestEnd);
  await ended;
  clearTimeout(patience);
}

/** Being detached, the child leads a group of processes, to which the program belongs. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // It is gone already.
  }
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  let line = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    const [first = "", ...others] = text.split("\n");
    line = (line + first).slice(0, longestLine);
    for (const next of others) {
      onLine(line);
      line = next.slice(0, longestLine);
    }
  });
  stream?.once("end", () => onLine(line));
}

function notInstalled({ name, installation }: TunnelProgram): WebhookError {
  return new WebhookError(
    `${name} is found neither on PATH nor in node_modules/.bin: install it (${installation}), ${otherTunnels}.`,
    { code: "TUNNEL_FAILED" },
  );
}

function remedyOf({ name }: TunnelProgram): string {
  return `Check the network and what ${name} says when you run it yourself, ${otherTunnels}.`;
}
