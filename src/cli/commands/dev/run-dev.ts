import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { constants, copyFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { messageOf } from "../../../core/describe.ts";
import { WebhookError } from "../../../core/errors.ts";
import { packageRoot } from "../../../core/files.ts";
import { plainJson } from "../../../core/terminal.ts";
import { defaultLocalHubUrl } from "../../../core/urls.ts";
import type { DevEvent } from "../../../dev/dev-event.ts";
import type { StartDevOptions } from "../../../dev/dev-options.ts";
import { type DevSession, startDev } from "../../../dev/dev-session.ts";
import type { WatchedItem } from "../../../payload/watch.ts";
import { findServerFile } from "../../../server-file/find-server-file.ts";
import type { ProviderName } from "../../../tunnel/provider.ts";
import { canPrompt, confirm } from "../../input.ts";
import type { InputStream, Invocation, Output } from "../../invocation.ts";
import { readPort, usageError } from "../../usage.ts";
import { DevLines, describeKeys } from "./dev-lines.ts";

/** The options of `hub-webhooks dev`, as commander parses them. */
export interface DevCommandOptions
  extends Pick<StartDevOptions, "port" | "hubPort" | "poll" | "publicUrl" | "state" | "inbox" | "forward"> {
  hub: "local" | "real";
  tunnel?: ProviderName;
  tunnelHost?: string;
  subdomain?: string;
  watch?: readonly WatchedItem[];
  create?: boolean;
}

interface DevRun {
  /** The `[file]` argument, before it is resolved. */
  file: string | undefined;
  options: DevCommandOptions;
  invocation: Invocation;
}

/** Runs a session until it is stopped, and prints its events. If no tunnel can be opened, offers to poll the Hub. */
export async function runDev(run: DevRun): Promise<void> {
  try {
    await runSession(run);
  } catch (error) {
    // Where tunnels are forbidden, requests to the Hub can still be allowed.
    if (!WebhookError.isInstance(error) || error.code !== "TUNNEL_FAILED" || !(await canPoll(run))) throw error;
    const { message, code } = error;
    const { output, shell } = run.invocation;
    if (!output.isText || !canPrompt(shell))
      throw new WebhookError(`${message} Or poll the Hub, without a tunnel: add --poll 1m.`, { code });
    output.log(`error: ${message}`);
    if (!(await confirm(shell, "Poll the Hub every minute instead (--poll 1m)?"))) {
      run.invocation.exitCode = 1;
      return;
    }
    const { tunnel: _tunnel, tunnelHost: _host, subdomain: _subdomain, ...options } = run.options;
    await runSession({ ...run, options: { ...options, poll: "1m" } });
  }
}

/** Whether `--poll` can replace the tunnel of a session. */
async function canPoll({ file, options: { forward, watch } }: DevRun): Promise<boolean> {
  if (forward !== undefined || watch) return false;
  const { describeServerFile } = await import("../../../server-file/server-process.ts");
  const { endpoints } = await describeServerFile(findServerFile({ file })).catch(() => ({ endpoints: [] }));
  const watching = endpoints.filter(({ watch }) => watch.length > 0);
  return watching.length > 0 && watching.every(({ background }) => background);
}

async function runSession(run: DevRun): Promise<void> {
  const { output, shell } = run.invocation;
  const startedAt = performance.now();
  const options = sessionOptions(run);
  const { forward } = run.options;
  if (forward !== undefined && (run.file !== undefined || run.options.create)) {
    throw usageError("--forward replaces the server file. Remove the file and --create, or --forward.");
  }
  const file = forward === undefined ? await findOrCreateFile(run) : undefined;
  const defaultTriggerHub = shell.env.HF_ENDPOINT ? undefined : defaultLocalHubUrl;
  const lines = new DevLines({ hasColors: output.hasColors, now: Date.now, defaultTriggerHub });
  const hasKeys = output.isText && shell.stdin.isTTY === true;
  let session: DevSession | undefined;
  const stopListening = hasKeys
    ? listenToKeys(shell.stdin, (action) => {
        if (action === "quit") shell.stop();
        else if (session) void runKeyAction(action, { session, output });
      })
    : () => {};
  const stopping = new AbortController();
  let isEnded = false;
  const stopped = shell.untilStopped().then(() => {
    if (isEnded) return;
    // From here on, Ctrl+C sends a signal again, which exits the process immediately.
    stopListening();
    if (output.isText)
      output.log("Stopping: deleting the webhooks of this session. Press Ctrl+C again to exit immediately.");
    stopping.abort();
  });
  try {
    session = await startDev({
      ...options,
      ...(file !== undefined && { file }),
      waitForFile: hasKeys,
      signal: stopping.signal,
      onEvent: (event) => show(event, { run, lines }),
    });
    if (output.isText) {
      const seconds = (performance.now() - startedAt) / 1000;
      output.print(
        lines
          .ready(session.state, {
            file: file === undefined ? `forwards to ${forward}` : (run.file ?? relative(process.cwd(), file)),
            seconds,
            hasKeys,
            consoleLink: session.createConsoleLink(),
            secret: session.secret,
          })
          .join("\n"),
      );
    }
    await stopped;
  } catch (error) {
    // If the session was stopped while it started, the error is a result of the stop.
    if (stopping.signal.aborted) return;
    throw error;
  } finally {
    isEnded = true;
    stopListening();
    await session?.close();
  }
}

function sessionOptions({ options, invocation }: DevRun): StartDevOptions {
  const { tunnel: provider, tunnelHost: host, subdomain, watch, create: _create, ...passed } = options;
  const { hub, port = environmentPort(invocation), hubPort, publicUrl } = passed;
  if (hub === "local" && invocation.hubOptions.hubUrl !== undefined) {
    throw usageError(
      "--hub local starts its own Hub, so it cannot be combined with --hub-url. Add --hub real, or remove --hub-url.",
    );
  }
  if (hub === "real" && hubPort !== undefined) {
    throw usageError(
      "--hub-port sets the port of the local Hub, so it cannot be combined with --hub real. Remove --hub-port or --hub real.",
    );
  }
  const tunnel = { ...(provider && { provider }), ...(host && { host }), ...(subdomain && { subdomain }) };
  const wantsTunnel = Object.keys(tunnel).length > 0;
  if (wantsTunnel && publicUrl !== undefined) {
    throw usageError(
      "--public-url replaces the tunnel, so it cannot be combined with --tunnel, --tunnel-host, or --subdomain. Remove --public-url or the tunnel options.",
    );
  }
  return {
    ...invocation.hubOptions,
    ...passed,
    ...(port !== undefined && { port }),
    ...(wantsTunnel && { tunnel }),
    ...(watch && { watch: watch.map(({ type, name }) => `${type}:${name}` as const) }),
  };
}

function environmentPort({ shell }: Invocation): number | undefined {
  const text = shell.env.PORT;
  if (!text) return undefined;
  const port = readPort(text);
  if (typeof port === "number") return port;
  throw usageError(`Invalid PORT "${text}". ${port}`);
}

/** Finds the server file, or creates it if `--create` is given or the user confirms it. */
async function findOrCreateFile({ file, options, invocation }: DevRun): Promise<string> {
  try {
    return findServerFile({ file });
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "SERVER_FILE_INVALID") throw error;
    const name = file ?? "server.ts";
    const path = resolve(name);
    // The path exists but is not a file, for example a folder.
    if (existsSync(path)) throw error;
    const { shell } = invocation;
    const problem = file === undefined ? "There is no server file." : `File "${file}" does not exist.`;
    const isWanted =
      options.create || (canPrompt(shell) && (await confirm(shell, `${problem} Create a starter ${name}?`)));
    if (!isWanted) throw error;
    await copyStarterFile(path);
    return path;
  }
}

function show(event: DevEvent, { run, lines }: { run: DevRun; lines: DevLines }): void {
  const { output } = run.invocation;
  if (output.format === "quiet") {
    if (event.event === "ready") output.print(event.publicUrl);
    return;
  }
  if (output.format !== "json") {
    for (const line of lines.format(event)) output.print(line);
  } else if (event.event === "output") output.log(event.text);
  else output.print(plainJson(event));
}

/** Creates a starter server. Never overwrites a file. @throws `SERVER_FILE_INVALID` if the file cannot be written. */
export async function copyStarterFile(path: string): Promise<void> {
  try {
    await copyFile(new URL("templates/starter/server.ts", packageRoot), path, constants.COPYFILE_EXCL);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return;
    throw new WebhookError(`Cannot create ${path}. Choose another folder, or create the file manually.`, {
      code: "SERVER_FILE_INVALID",
      cause,
    });
  }
}

/** An action that a key starts. */
export type KeyAction = "replay" | "open" | "quit" | "help";

const actions: Readonly<Record<string, KeyAction>> = {
  r: "replay",
  o: "open",
  q: "quit",
  // In raw mode, Ctrl+C and Ctrl+D arrive as keys.
  "\u0003": "quit",
  "\u0004": "quit",
};

/**
 * Listens for single keys on a terminal, and returns a function that restores the terminal. A key without an action
 * counts as `help`. If `stdin` is not a terminal, no keys are read.
 */
export function listenToKeys(stdin: InputStream, onAction: (action: KeyAction) => void): () => void {
  if (!stdin.isTTY || !stdin.setRawMode) return () => {};
  const onData = (typed: Buffer | string) => {
    const text = String(typed);
    // An arrow key or function key arrives as one escape sequence.
    const keys = text.startsWith("\u001b") ? [text] : [...text];
    for (const key of keys) {
      const action = actions[key.toLowerCase()] ?? "help";
      // Enter has no action, because users press Enter to insert a blank line.
      if (key !== "\r" && key !== "\n") onAction(action);
    }
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdin.resume();
  return () => {
    stdin.off("data", onData);
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  // `start` uses its first quoted argument as the window title.
  win32: ["cmd", "/c", "start", '""'],
};

/** Opens a URL in the user's browser. Resolves with `true` if the program that opens URLs was started. */
export function openPage(url: string): Promise<boolean> {
  const [program, ...words] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const opener = spawn(program, [...words, url], { stdio: "ignore", detached: true });
    opener.once("error", () => resolve(false));
    opener.once("spawn", () => {
      opener.unref();
      resolve(true);
    });
  });
}

/** Runs the action of a key. Never rejects. */
async function runKeyAction(
  action: Exclude<KeyAction, "quit">,
  { session, output }: { session: DevSession; output: Output },
): Promise<void> {
  if (action === "help") {
    output.log(describeKeys());
    return;
  }
  if (action === "open") {
    const url = session.createConsoleLink();
    if (!(await openPage(url))) output.log(`Could not open a browser. Go to ${url}.`);
    return;
  }
  try {
    const replayed = await session.replay();
    if (replayed) output.log(`Replayed the latest delivery of ${replayed.endpoint}: ${replayed.status}`);
    else output.log("No delivery to replay yet.");
  } catch (error) {
    output.log(messageOf(error));
  }
}
