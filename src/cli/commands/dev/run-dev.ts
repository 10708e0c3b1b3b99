import { existsSync } from "node:fs";
import { constants, copyFile } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { WebhookError } from "../../../core/errors.ts";
import { plainJson } from "../../../core/terminal.ts";
import { defaultLocalHubUrl } from "../../../core/urls.ts";
import type { DevEvent } from "../../../dev/dev-event.ts";
import type { StartDevOptions } from "../../../dev/dev-options.ts";
import type { DevSession } from "../../../dev/dev-session.ts";
import { startDev } from "../../../dev/dev-session.ts";
import type { WatchedItem } from "../../../payload/watch.ts";
import { findServerFile } from "../../../server-file/find-server-file.ts";
import type { ProviderName } from "../../../tunnel/provider.ts";
import type { Invocation } from "../../invocation.ts";
import { canPrompt, confirm } from "../../prompts.ts";
import { templateFolder } from "../../shipped-files.ts";
import { readPort, usageError } from "../../usage.ts";
import { DevLines } from "./dev-lines.ts";
import { listenToKeys, runKeyAction } from "./keyboard.ts";

/** The options of `hub-webhooks dev`, as commander parses them. */
export interface DevCommandOptions {
  hub: "local" | "real";
  port?: number;
  hubPort?: number;
  tunnel?: ProviderName;
  tunnelHost?: string;
  subdomain?: string;
  publicUrl?: string;
  watch?: readonly WatchedItem[];
  state?: string;
  inbox?: string;
  create?: boolean;
}

/** One run of `hub-webhooks dev`. */
export interface DevRun {
  /** The `[file]` argument, before it is resolved. */
  file: string | undefined;
  options: DevCommandOptions;
  invocation: Invocation;
}

/** Runs a session until it is stopped, and prints its events. */
export async function runDev(run: DevRun): Promise<void> {
  const { output, shell } = run.invocation;
  const startedAt = performance.now();
  const options = sessionOptions(run);
  const file = await findOrCreateFile(run);
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
  const stopped = shell.untilStopped().then(() => {
    // From here on, Ctrl+C sends a signal again, which exits the process immediately.
    stopListening();
    if (output.isText)
      output.log("Stopping: deleting the webhooks of this session. Press Ctrl+C again to exit immediately.");
    stopping.abort();
  });
  try {
    session = await startDev({
      ...options,
      file,
      waitForFile: hasKeys,
      signal: stopping.signal,
      onEvent: (event) => show(event, { run, lines }),
    });
    if (output.isText) {
      const seconds = (performance.now() - startedAt) / 1000;
      output.print(
        lines
          .ready(session.state, {
            file: run.file ?? relative(process.cwd(), file),
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
    if (!stopping.signal.aborted) throw error;
  } finally {
    stopListening();
    await session?.close();
  }
}

function sessionOptions({ options, invocation }: DevRun): StartDevOptions {
  const { hub, port = environmentPort(invocation), hubPort, publicUrl, watch, state, inbox } = options;
  const { tunnel: provider, tunnelHost: host, subdomain } = options;
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
    hub,
    ...(port !== undefined && { port }),
    ...(hubPort !== undefined && { hubPort }),
    ...(wantsTunnel && { tunnel }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(watch && { watch: watch.map(({ type, name }) => `${type}:${name}` as const) }),
    ...(state !== undefined && { state }),
    ...(inbox !== undefined && { inbox }),
  };
}

function environmentPort({ shell }: Invocation): number | undefined {
  const text = shell.env.PORT;
  if (!text) return undefined;
  const port = readPort(text);
  if (port !== undefined) return port;
  throw usageError(`Invalid PORT "${text}". Use a number from 0 to 65535.`);
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

/**
 * Creates a starter server. Never overwrites a file.
 *
 * @throws `SERVER_FILE_INVALID` if the file cannot be written.
 */
export async function copyStarterFile(path: string): Promise<void> {
  try {
    await copyFile(new URL("server.ts", templateFolder("starter")), path, constants.COPYFILE_EXCL);
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return;
    throw new WebhookError(`Cannot create ${path}. Choose another folder, or create the file manually.`, {
      code: "SERVER_FILE_INVALID",
      cause,
    });
  }
}
