import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Runs a receiver whose background handler never finishes. */
const inbox = await openInbox({ url: "sqlite::memory:", log: createMemoryLogger(), now: Date.now });
const server = new WebhooksServer({ secret: false, inbox });
server.webhook("retrain", { background: true }, (_payload, { log }) => {
  log.info("handler started");
  return new Promise(() => {});
});
await server.launch({ port: 0, host: "127.0.0.1", shutdownGrace: "50ms" });
await server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo.content") }));
