import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** Runs a receiver whose inbox cannot be closed. */
const inbox = await openInbox({ url: "sqlite::memory:", log: createMemoryLogger(), now: Date.now });
inbox.close = () => Promise.reject(new Error("The disk is gone."));
const server = new WebhooksServer({ secret: false, inbox });
server.webhook("retrain", { background: true }, () => {});
await server.launch({ port: 0, host: "127.0.0.1" });
