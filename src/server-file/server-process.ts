/** The child process in which a server file runs, started by `server-process-handle.ts`. */
import { deliveryOnlyUrl } from "../receiver/launch-options.ts";
import { type ServerDetails, serverDetails } from "../receiver/server-details.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { ServerFileLoader } from "./load.ts";
import { type Command, parseCommand, type Report } from "./protocol.ts";
import type { SessionSecret } from "./server-process-handle.ts";

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

async function run(received: Command): Promise<void> {
  if (received.command === "publicUrl") {
    publicUrl = received.publicUrl;
    return;
  }
  if (received.command === "stop") {
    await served?.close();
    return exit(0);
  }
  process.once("uncaughtException", fail);
  try {
    publicUrl = received.launched.publicUrl;
    const inbox = received.command === "serve" ? received.inbox : undefined;
    // Also for the user's own code, and for the redaction of secrets in the URL.
    if (inbox !== undefined) process.env.INBOX_URL = inbox;
    const { path, launched } = received;
    const server = await loader.load({ path, launched, onLoad: (file) => send({ report: "loading", path: file }) });
    const details = server[serverDetails]();
    if (received.command === "describe") {
      return sendAndExit({ report: "described", description: describe(details) });
    }
    applySecret(received.secret, details);
    if (inbox !== undefined) details.useInbox(inbox);
    details.limitRetryWaits(maxRetryWaitMs);
    const description = describe(server[serverDetails]());
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

function describe({ endpoints, secret }: ServerDetails) {
  return { endpoints: [...endpoints], secret };
}

function applySecret(session: SessionSecret | undefined, { secret, isOpenOnPurpose, useSecret }: ServerDetails): void {
  if (session === undefined) return;
  if (session.use === "where-open" && (secret !== undefined || isOpenOnPurpose)) return;
  useSecret(session.text, { isOnly: session.use !== "besides" });
}

/** Reports why the file does not load: an error of its import, or one that it throws while the import waits. */
function fail(error: unknown): void {
  sendAndExit({ report: "failed", ...loader.explain(error) });
}

function send(report: Report): void {
  process.send?.(report);
}

/** Exits once the report is sent, whatever the file has left open. */
function sendAndExit(report: Report): void {
  process.send?.(report, () => void exit(report.report === "failed" ? 1 : 0));
}

/** Exits once all output is flushed: `process.exit()` alone loses what waits in the pipe. */
async function exit(code: number): Promise<never> {
  const flushed = (stream: NodeJS.WriteStream) => new Promise<unknown>((resolve) => stream.write("", resolve));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
}
