/** The entry of the child process that runs a server file. `server-process-handle.ts` starts and controls it. */
import { deliveryOnlyUrl } from "../receiver/launch-options.ts";
import { type ServerControl, serverControl } from "../receiver/server-control.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { type Command, parseCommand, type SentReport, type SessionSecret } from "./messages.ts";
import { ServerFileLoader } from "./server-file-loader.ts";

/** Long enough for a handler that is almost done, short enough for a reload after saving a file. */
const shutdownGrace = "3s";

/** A developer who has changed a handler wants to see the next attempt within seconds. */
const maxRetryWaitMs = 5_000;

const loader = new ServerFileLoader();
let publicUrl = "";
let served: WebhooksServer | undefined;

// Without its parent the server is not reachable.
process.once("disconnect", () => process.exit());
if (!process.connected) process.exit();

process.on("message", (message) => {
  const command = parseCommand(message);
  if (command) void run(command);
});

async function run(command: Command): Promise<void> {
  if (command.command === "publicUrl") {
    publicUrl = command.publicUrl;
    return;
  }
  if (command.command === "stop") {
    await served?.close();
    return exit(0);
  }
  process.once("uncaughtException", fail);
  try {
    publicUrl = command.launchResult.publicUrl;
    const inbox = command.command === "serve" ? command.inbox : undefined;
    // Also for the user's own code, and for the redaction of secrets in the URL.
    if (inbox !== undefined) process.env.INBOX_URL = inbox;
    const { path, launchResult } = command;
    const server = await loader.load({
      path,
      launchResult,
      onLoad: (file) => send({ report: "loading", path: file }),
    });
    const control = server[serverControl];
    if (command.command === "describe") {
      return sendAndExit({ report: "described", description: describe(control) });
    }
    applySecret(command.secret, control);
    if (inbox !== undefined) control.useInbox(inbox);
    control.limitRetryWaits(maxRetryWaitMs);
    const description = describe(control);
    const { port } = await server.launch({
      port: 0,
      host: "127.0.0.1",
      tunnel: false,
      publicUrl: deliveryOnlyUrl(() => publicUrl),
      announce: false,
      shutdownGrace,
    });
    // From here on the server handles uncaught errors.
    process.off("uncaughtException", fail);
    served = server;
    send({ report: "serving", port, description });
  } catch (error) {
    fail(error);
  }
}

function describe(control: ServerControl) {
  const { endpoints, secret } = control.describe();
  return { endpoints: [...endpoints], secret };
}

function applySecret(session: SessionSecret | undefined, control: ServerControl): void {
  if (session === undefined) return;
  const isOpen = control.describe().secret === undefined && !control.isOpenOnPurpose;
  if (session.use === "where-open" && !isOpen) return;
  control.useSecret(session.text, { isOnly: session.use !== "besides" });
}

/** Reports why the file does not load: an error of its import, or one that it throws while the import waits. */
function fail(error: unknown): void {
  sendAndExit({ report: "failed", ...loader.explain(error) });
}

function send(report: SentReport): void {
  process.send?.(report);
}

/** Exits once the report is sent, whatever the file has left open. */
function sendAndExit(report: SentReport): void {
  process.send?.(report, () => void exit(report.report === "failed" ? 1 : 0));
}

/** Exits once all output is flushed: `process.exit()` alone loses what waits in the pipe. */
async function exit(code: number): Promise<never> {
  const flushed = (stream: NodeJS.WriteStream) => new Promise<unknown>((resolve) => stream.write("", resolve));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
}
