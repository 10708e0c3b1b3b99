import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { type LaunchOptions, WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Runs a queued delivery whose handler never finishes, with an inbox that cannot be closed, or while a tunnel opens. */
const { INBOX_FILE = ":memory:", TUNNEL_HOST, UNCLOSABLE } = process.env;
const inbox = await openInbox({ url: `sqlite:${INBOX_FILE}`, log: createMemoryLogger(), now: Date.now });
if (UNCLOSABLE) inbox.close = () => Promise.reject(new Error("The disk is gone."));
await inbox.accept({ id: "a", endpoint: "retrain", body: "{}", receivedAt: new Date() });
const server = new WebhooksServer({ secret: false, inbox });
server.webhook("retrain", { background: true, schema: null }, (_payload, { log }) => {
  log.info("handler started");
  return new Promise(() => {});
});
const local: LaunchOptions = { port: 0, host: "127.0.0.1", shutdownGrace: "50ms" };
await server.launch({ ...local, ...(TUNNEL_HOST && { tunnel: { host: TUNNEL_HOST } }) });
process.stdout.write(`${JSON.stringify({ level: 30, msg: "launched" })}\n`);
