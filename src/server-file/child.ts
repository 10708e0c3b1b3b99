/** The process in which a server's file runs, started by `server-process.ts`. */
import { throughDoor } from "../receiver/owner.ts";
import { type ServerDetails, serverDetails } from "../receiver/server-details.ts";
import type { WebhooksServer } from "../receiver/webhooks-server.ts";
import { explainFailure } from "./failure.ts";
import { loadServer } from "./load.ts";
import { type Order, order, type Report } from "./messages.ts";
import type { SessionSecret } from "./server-process.ts";
import { loadTypeScript } from "./typescript.ts";

/** Enough for a handler that is almost done; whoever saves a file does not want to wait for longer. */
const shutdownGrace = "3s";

/** A developer who has changed a handler wants to see the next attempt within seconds. */
const maxRetryWaitMs = 5_000;

let publicUrl = "";
let served: WebhooksServer | undefined;
/** The latest file of the user's own that was loaded. */
let loading: string | undefined;

// Without whoever started it, nothing leads here any more.
process.once("disconnect", () => process.exit());
if (!process.connected) process.exit();

process.on("message", (message) => {
  const parsed = order.safeParse(message);
  if (parsed.success) void obey(parsed.data);
});

async function obey(given: Order): Promise<void> {
  if (given.order === "reachedAt") {
    publicUrl = given.publicUrl;
    return;
  }
  if (given.order === "stop") {
    await served?.close();
    return exit(0);
  }
  process.once("uncaughtException", fail);
  try {
    publicUrl = given.reachedAt.publicUrl;
    const inbox = given.order === "serve" ? given.inbox : undefined;
    // Also for the user's own code, and for the redaction of what the URL holds.
    if (inbox !== undefined) process.env.INBOX_URL = inbox;
    loadTypeScript({ onLoad: noteLoading });
    const server = await loadServer(given);
    const details = server[serverDetails]();
    if (given.order === "describe") return end({ report: "described", description: describe(details) });
    applySecret(given.secret, details);
    if (inbox !== undefined) details.useInbox(inbox);
    details.limitRetryWaits(maxRetryWaitMs);
    const description = describe(server[serverDetails]());
    const { port } = await server.launch({
      port: 0,
      host: "127.0.0.1",
      tunnel: false,
      publicUrl: throughDoor(() => publicUrl),
      announce: false,
      shutdownGrace,
    });
    // From here on it is the server that decides what becomes of an error that nobody handles.
    process.off("uncaughtException", fail);
    served = server;
    tell({ report: "serving", port, description });
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

function noteLoading(path: string): void {
  loading = path;
  tell({ report: "loading", path });
}

/** Tells why the file does not load: what it throws, or what is thrown later on while it is waited for. */
function fail(error: unknown): void {
  end({ report: "failed", ...explainFailure(error, { loading }) });
}

function tell(report: Report): void {
  process.send?.(report);
}

/** Ends the process, whatever the file has left open, once this has been told. */
function end(report: Report): void {
  process.send?.(report, () => void exit(report.report === "failed" ? 1 : 0));
}

/** Ends the process once what it has printed is out: `process.exit()` alone loses what waits in the pipe. */
async function exit(code: number): Promise<never> {
  const printed = (stream: NodeJS.WriteStream) => new Promise<unknown>((resolve) => stream.write("", resolve));
  await Promise.all([printed(process.stdout), printed(process.stderr)]);
  process.exit(code);
}
