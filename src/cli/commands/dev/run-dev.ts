import { relative, resolve } from "node:path";
import { messageOf } from "../../../core/describe-error.ts";
import { WebhookError } from "../../../core/errors.ts";
import { plainJson } from "../../../core/terminal-text.ts";
import type { DevEvent } from "../../../dev/dev-event.ts";
import type { StartDevOptions } from "../../../dev/dev-options.ts";
import { type DevSession, startDev } from "../../../dev/dev-session.ts";
import type { KnownWatched } from "../../../payload/watch.ts";
import { findServerFile } from "../../../server-file/find.ts";
import type { ProviderName } from "../../../tunnel/tunnel.ts";
import { canAsk, confirm } from "../../confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { readPort } from "../../port.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import { DevLines, keyList } from "./dev-lines.ts";
import { type KeyAction, listenToKeys } from "./keyboard.ts";
import { openPage } from "./open-page.ts";
import { writeStarterFile } from "./starter-file.ts";

/** The options of `hub-webhooks dev`, as commander reads them. */
export interface DevCommandOptions {
  hub: "local" | "real";
  port?: number;
  hubPort?: number;
  tunnel?: ProviderName;
  tunnelHost?: string;
  subdomain?: string;
  publicUrl?: string;
  watch?: readonly KnownWatched[];
  state?: string;
  inbox?: string;
  create?: boolean;
}

/** One run of `hub-webhooks dev`. */
export interface DevRun {
  /** As the user gave it. */
  file: string | undefined;
  options: DevCommandOptions;
  invocation: Invocation;
}

/** Runs a session until it is to end, and tells what happens in it. */
export async function runDev(run: DevRun): Promise<void> {
  const { output, shell } = run.invocation;
  const startedAt = performance.now();
  const options = sessionOptions(run);
  const file = await findOrWriteFile(run);
  const usualHub = shell.env.HF_ENDPOINT ? undefined : "http://127.0.0.1:5050";
  const lines = new DevLines({ hasColors: output.hasColors, now: Date.now, usualHub });
  const hasKeys = output.isText && shell.stdin.isTTY === true;
  let session: DevSession | undefined;
  const stopListening = hasKeys
    ? listenToKeys(shell.stdin, (action) => {
        if (action === "quit") shell.stop();
        else if (session) void act(action, { session, run });
      })
    : () => {};
  const ending = new AbortController();
  const stopped = shell.untilStopped().then(() => {
    // From here on Ctrl+C is a signal again, which ends it at once.
    stopListening();
    if (output.isText) output.say("Ending: the webhooks of this session are deleted. Ctrl+C ends it at once.");
    ending.abort();
  });
  try {
    session = await startDev({
      ...options,
      file,
      waitsForFile: hasKeys,
      signal: ending.signal,
      onEvent: (event) => show(event, { run, lines }),
    });
    if (output.isText) {
      const seconds = (performance.now() - startedAt) / 1000;
      output.write(
        lines
          .ready(session.state, {
            ...{ file: run.file ?? relative(process.cwd(), file), seconds, hasKeys },
            secret: session.secret,
          })
          .join("\n"),
      );
    }
    await stopped;
  } catch (error) {
    // Asked to end while it started.
    if (!ending.signal.aborted) throw error;
  } finally {
    stopListening();
    await session?.close();
  }
}

function sessionOptions({ options, invocation }: DevRun): StartDevOptions {
  const { hub, port = environmentPort(invocation), hubPort, publicUrl, watch, state, inbox } = options;
  const { tunnel: provider, tunnelHost: host, subdomain } = options;
  if (hub === "local" && invocation.hub.endpoint !== undefined) {
    throw wrongUsage("--endpoint names a Hub, and --hub local starts one: add --hub real, or leave --endpoint out.");
  }
  if (hub === "real" && hubPort !== undefined) {
    throw wrongUsage("--hub-port is for the local Hub: leave it out, or --hub real.");
  }
  const tunnel = { ...(provider && { provider }), ...(host && { host }), ...(subdomain && { subdomain }) };
  const wantsTunnel = Object.keys(tunnel).length > 0;
  if (wantsTunnel && publicUrl !== undefined) {
    throw wrongUsage("--public-url takes the place of a tunnel: leave it out, or the options of the tunnel.");
  }
  return {
    ...invocation.hub,
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
  throw wrongUsage(`PORT is ${JSON.stringify(text)}. Use a number from 0 to 65535.`);
}

/** Where there is none yet, one is written if that is wished for, or said so to the question on a terminal. */
async function findOrWriteFile({ file, options, invocation }: DevRun): Promise<string> {
  try {
    return findServerFile({ file });
  } catch (error) {
    if (!WebhookError.isInstance(error) || error.code !== "SERVER_FILE_INVALID") throw error;
    const path = resolve(file ?? "server.ts");
    const question = `${error.message.split(":")[0]}. Write ${file ?? "server.ts"} to begin with?`;
    const isWished =
      options.create || (canAsk(invocation.shell) && (await confirm({ shell: invocation.shell, question })));
    if (!isWished) throw error;
    await writeStarterFile(path);
    return path;
  }
}

async function act(
  action: Exclude<KeyAction, "quit">,
  { session, run }: { session: DevSession; run: DevRun },
): Promise<void> {
  const { output } = run.invocation;
  if (action === "help") {
    output.say(keyList(session.state));
    return;
  }
  if (action === "open") {
    const { url: page, console: url = page } = session.state;
    if (!(await openPage(url))) output.say(`No program to open a page was found. Open ${url} in a browser.`);
    return;
  }
  try {
    const replayed = await session.replay();
    if (replayed) output.say(`Replayed the latest delivery of ${replayed.endpoint}: ${replayed.status}`);
    else output.say("There was no delivery yet to replay.");
  } catch (error) {
    output.say(messageOf(error));
  }
}

function show(event: DevEvent, { run, lines }: { run: DevRun; lines: DevLines }): void {
  const { output } = run.invocation;
  if (output.format === "quiet") {
    if (event.event === "ready") output.write(event.publicUrl);
    return;
  }
  if (output.format !== "json") {
    for (const line of lines.of(event)) output.write(line);
  } else if (event.event === "output") output.say(event.text);
  else output.write(plainJson(event));
}
