import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Runs a queued delivery, whose handler never finishes, while a tunnel opens. */
const inbox = await openInbox({ url: `sqlite:${process.env.INBOX_FILE}`, log: createMemoryLogger(), now: Date.now });
await inbox.accept({ id: "a", endpoint: "retrain", body: "{}", receivedAt: new Date() });
const server = new WebhooksServer({ secret: false, inbox });
server.webhook("retrain", { background: true, schema: null }, (_payload, { log }) => {
  log.info("handler started");
  return new Promise(() => {});
});
await server.launch({
  port: 0,
  host: "127.0.0.1",
  tunnel: { host: process.env.TUNNEL_HOST ?? "" },
  shutdownGrace: "50ms",
});
process.stdout.write(`${JSON.stringify({ level: 30, msg: "launched" })}\n`);
