import { type ChildProcess, fork } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { readOwnField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { programUrl } from "../core/files.ts";
import { readJson } from "../core/text.ts";
import {
  otherTunnels,
  type Provider,
  type ProviderName,
  type ProviderTunnel,
  tunnelFailure,
  waitForExit,
} from "./provider.ts";

export interface TunnelProgram {
  name: Exclude<ProviderName, "localtunnel">;
  /** The page with the installation instructions. */
  installUrl: string;
  argumentsFor(port: number): readonly string[];
  /** Creates a parser for the lines that one run of the program prints. */
  createLineParser(): (line: string) => ProgramOutput;
}

/**
 * The information in a line of output. `url`: the public URL, when deliveries can arrive at it. `hint`: a sentence that
 * describes a problem or a pending step. It must not contain unchecked text of the line, because the text can contain
 * tokens and escape codes.
 */
interface ProgramOutput {
  url?: string | undefined;
  hint?: string | undefined;
}

/** The rest of a longer line is dropped, because it is not a log line. */
const maxLineLength = 16_384;

/** The time for `program-process.ts` to stop the program. Longer than the second after which it sends SIGKILL. */
const stopTimeoutMs = 3_000;

/** Variables to pass to the program: paths, proxies, and its settings. Other variables can contain secrets. */
const allowedVariables =
  /^(PATH|HOME|TMPDIR|TEMP|TMP|SYSTEMROOT|USERPROFILE|APPDATA|LOCALAPPDATA|SSL_CERT_(FILE|DIR)|((HTTPS?|ALL|NO)_PROXY)|(XDG|NGROK|TUNNEL)_.+)$/i;

/**
 * Creates a provider that runs a program that the user has installed. When the tunnel is closed or this process exits, the
 * program receives SIGTERM, and SIGKILL one second later.
 */
function createProgramProvider(program: TunnelProgram): Provider {
  const { name } = program;
  const remedy = `Check the network, run ${name} manually to see its output, ${otherTunnels(name)}.`;

  return async ({ port, signal }) => {
    const file = findProgram(name);
    if (file === undefined) throw notInstalled(program);
    const child = startProcess([file, ...program.argumentsFor(port)]);
    const exited = waitForExit(child);
    const lost = new AbortController();
    let hint: string | undefined;
    let closing: Promise<void> | undefined;

    const close = (): Promise<void> => {
      closing ??= stopProcess(child, exited);
      return closing;
    };
    const failure = (reason: string) => tunnelFailure(hint === undefined ? reason : `${reason} ${hint}`, remedy);

    return new Promise<ProviderTunnel>((resolve, reject) => {
      let isOpening = true;
      const fail = (reason: string) => {
        if (!isOpening) return;
        isOpening = false;
        close().then(() => reject(failure(reason)));
      };
      const parseLine = program.createLineParser();
      for (const stream of [child.stdout, child.stderr]) {
        readLines(stream, (line) => {
          const output = parseLine(line);
          hint = output.hint ?? hint;
          if (output.url === undefined || !isOpening) return;
          isOpening = false;
          hint = undefined;
          resolve({ url: output.url, name: undefined, lost: lost.signal, close });
        });
      }
      exited.then((code) => {
        fail(`${name} exited${code === null ? "" : ` with code ${code}`} before it printed a URL.`);
        if (closing === undefined) lost.abort(failure(`${name} exited.`));
      });
      signal.addEventListener("abort", () => fail(`${name} did not print a URL in time.`), { once: true });
    });
  };
}

/** Finds a program on `PATH`, then in `node_modules/.bin` of the working directory and its parent folders. */
function findProgram(name: string): string | undefined {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const onPath = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const installed = withParents(process.cwd()).map((folder) => join(folder, "node_modules", ".bin"));
  return [...onPath, ...installed].map((folder) => resolve(folder, file)).find(isExecutable);
}

function withParents(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...withParents(parent)];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function startProcess(programArguments: readonly string[]): ChildProcess {
  const file = programUrl("program-process", import.meta.url);
  return fork(file, programArguments, {
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => allowedVariables.test(name))),
    execArgv: [],
    // Do not show the program's output on the terminal. `detached` prevents Ctrl+C from stopping the program.
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
    windowsHide: true,
  });
}

async function stopProcess(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  if (child.connected) child.disconnect();
  const timer = setTimeout(() => {
    killGroup(child);
    // A process that has left the group can keep the output open.
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  }, stopTimeoutMs);
  await exited;
  clearTimeout(timer);
}

/** Kills a process and its program. A detached process is the leader of a process group that includes the program. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // The process has already exited.
  }
}

function readLines(stream: Readable | null, onLine: (line: string) => void): void {
  let line = "";
  stream?.setEncoding("utf8").on("data", (text: string) => {
    const [first = "", ...others] = text.split("\n");
    line = (line + first).slice(0, maxLineLength);
    for (const next of others) {
      onLine(line);
      line = next.slice(0, maxLineLength);
    }
  });
  stream?.once("end", () => onLine(line));
}

function notInstalled({ name, installUrl }: TunnelProgram): WebhookError {
  const message = `${name} was not found on PATH or in node_modules/.bin. Install ${name} (${installUrl}), ${otherTunnels(name)}.`;
  return new WebhookError(message, { code: "TUNNEL_FAILED" });
}

/** The program of trycloudflare.com. The service requires no account and assigns random names. */
export const cloudflared: TunnelProgram = {
  name: "cloudflared",
  installUrl: "https://developers.cloudflare.com/cloudflare-one/connections/connect-networks/downloads/",
  argumentsFor: (port) => ["tunnel", "--no-autoupdate", "--url", `http://127.0.0.1:${port}`],
  createLineParser() {
    let url: string | undefined;
    let isConnected = false;
    return (line) => {
      // Skip the API's URL, which error lines contain.
      url ??= /https:\/\/(?!api\.)[a-z0-9-]+\.trycloudflare\.com(?![\w.-])/.exec(line)?.[0];
      // Wait for the connection: the name is printed before it exists in DNS, and a resolver that is queried too early
      // caches the failure.
      isConnected ||= /\bregistered\b.*\bconnIndex=/i.test(line);
      if (isConnected) return { url };
      return { hint: url === undefined ? findHint(line) : notConnected };
    };
  },
};

export const openCloudflared: Provider = createProgramProvider(cloudflared);

const notConnected =
  "The tunnel has a name but is not connected to Cloudflare yet. Check that no firewall blocks port 7844.";

function findHint(line: string): string | undefined {
  if (/429 Too Many Requests|error code: 1015/.test(line)) {
    return "trycloudflare.com rejected the tunnel because of too many requests (429). Wait a few minutes.";
  }
  if (/failed to request quick Tunnel/i.test(line)) {
    return "trycloudflare.com did not provide a tunnel. The service may be down or unreachable.";
  }
  return undefined;
}

/** The program of ngrok, which requires an account. Set its token in ngrok's configuration or in `NGROK_AUTHTOKEN`. */
export const ngrok: TunnelProgram = {
  name: "ngrok",
  installUrl: "https://ngrok.com/download",
  argumentsFor: (port) => ["http", `127.0.0.1:${port}`, "--log", "stdout", "--log-format", "json"],
  createLineParser: () => (line) => {
    const [code] = /ERR_NGROK_\d{1,6}\b/.exec(line) ?? [];
    const hint = code && `ngrok reported ${code}. See https://ngrok.com/docs/errors/${code.toLowerCase()}.`;
    return { url: findPublicUrl(line), hint };
  },
};

export const openNgrok: Provider = createProgramProvider(ngrok);

/** Returns the public URL from the line "started tunnel". Other lines contain URLs of ngrok's own services. */
function findPublicUrl(line: string): string | undefined {
  if (!line.includes("started tunnel")) return undefined;
  const address = readOwnField(readJson(line), "url");
  const url = typeof address === "string" ? URL.parse(address) : null;
  return url?.protocol === "https:" ? url.origin : undefined;
}
