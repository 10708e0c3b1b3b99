/**
 * The main module of the child process that runs a server file. `server-process.ts` starts the process and sends
 * commands to it.
 */
import { type ServerControl, serverControl } from "../receiver/control.ts";
import { deliveryOnlyUrl } from "../receiver/owner.ts";
import type { WebhooksServer } from "../receiver/server.ts";
import { type Command, parseCommand, type SentReport, type SessionSecret } from "./messages.ts";
import { ServerFileLoader } from "./server-file-loader.ts";

/** How long running handlers have to finish when the process is stopped, such as for a reload. */
const shutdownGrace = "3s";

/**
 * The maximum wait before a retry. It is short so that developers who change a handler see the next attempt within
 * seconds.
 */
const maxRetryWaitMs = 5_000;

const loader = new ServerFileLoader();
let publicUrl = "";
let served: WebhooksServer | undefined;

// Exit with the parent process, because the server is not reachable without the parent. If the parent exits while this file is
// loading, the first report cannot be sent, which also ends this process.
process.once("disconnect", () => process.exit());

process.on("message", (message) => {
  const command = parseCommand(message);
  if (command) void run(command);
});

async function run(command: Command): Promise<void> {
  if (command.type === "publicUrl") {
    publicUrl = command.publicUrl;
    return;
  }
  if (command.type === "compare") {
    compareNow(served?.[serverControl]);
    return;
  }
  if (command.type === "stop") {
    await served?.close();
    if (served) await reportConsole(served[serverControl]);
    return exit();
  }
  process.once("uncaughtException", fail);
  try {
    publicUrl = command.launchResult.publicUrl;
    const inbox = command.type === "serve" ? command.inbox : undefined;
    // For the user's code, and because the server redacts the secrets in this variable. `useInbox` sets the server's inbox.
    if (inbox !== undefined) process.env.INBOX_URL = inbox;
    const { path, launchResult } = command;
    const server = await loader.load({
      path,
      launchResult,
      onLoad: (file) => send({ type: "loading", path: file }),
    });
    const control = server[serverControl];
    if (command.type === "describe") {
      return sendAndExit({ type: "described", description: describe(control) });
    }
    applySecret(command.secret, control);
    if (inbox !== undefined) control.useInbox(inbox);
    control.limitRetryWaits(maxRetryWaitMs);
    if (command.consoleToken !== undefined) await prepareConsole(control, command);
    const description = describe(control);
    const { port } = await control.launch({
      port: 0,
      host: "127.0.0.1",
      tunnel: false,
      publicUrl: deliveryOnlyUrl(() => publicUrl),
      announce: false,
      shutdownGrace,
    });
    // From now on, an uncaught error ends the process with its stack trace, as in production.
    process.off("uncaughtException", fail);
    served = server;
    send({ type: "serving", port, description });
  } catch (error) {
    fail(error);
  }
}

/** Gives the server the console token of the session, and what the console of the previous process showed. */
async function prepareConsole(
  control: Partial<ServerControl>,
  { consoleToken = "", consoleSnapshot }: { consoleToken?: string; consoleSnapshot?: unknown },
): Promise<void> {
  // An older copy of this package in the user's project has no console.
  control.useConsoleToken?.(consoleToken);
  if (consoleSnapshot !== undefined) await control.console?.restore(consoleSnapshot);
}

/** Never rejects, because an error of the start is reported by the server. */
function compareNow(control: Partial<ServerControl> = {}): void {
  control.compareNow?.().catch(() => {});
}

async function reportConsole({ console }: Partial<ServerControl>): Promise<void> {
  if (!console) return;
  const report: SentReport = { type: "consoleSnapshot", snapshot: await console.takeSnapshot() };
  // The process exits next, which would drop a message that is still in the channel.
  await new Promise<void>((resolve) => {
    if (process.send) process.send(report, () => resolve());
    else resolve();
  });
}

function describe(control: ServerControl) {
  const { endpoints, secret } = control.describe();
  return { endpoints: [...endpoints], secret };
}

function applySecret(session: SessionSecret | undefined, control: ServerControl): void {
  if (session === undefined) return;
  const isOpen = control.describe().secret === undefined && !control.isSecretDisabled;
  if (session.mode === "fallback" && !isOpen) return;
  control.useSecret(session.text, session.mode === "add" ? "add" : "replace");
}

/**
 * Reports why the server did not start: an error of the file or of `launch()`, or an uncaught error during the start.
 */
function fail(error: unknown): void {
  sendAndExit({ type: "failed", ...loader.explain(error) });
}

function send(report: SentReport): void {
  process.send?.(report);
}

/** Sends a report, then exits even if the file left timers or connections open. */
function sendAndExit(report: SentReport): void {
  process.send?.(report, () => void exit());
}

/** Flushes all output, then exits. Without flushing, `process.exit()` would lose output that is still in the pipe. */
async function exit(): Promise<never> {
  const flushed = (stream: NodeJS.WriteStream) => new Promise<unknown>((resolve) => stream.write("", resolve));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(0);
}
