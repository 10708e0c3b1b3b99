import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";
import { secret } from "../delivery.ts";
import { openLog } from "../subject-log.ts";

const server = new WebhooksServer({ secret, logger: openLog() });

// The handler is asynchronous, like real handlers, because a synchronous handler needs no timeout.
server.webhook("bench", async () => ({ received: true }));

// The load generator uses 64 connections, and the other subjects have no such limit.
const maxRequestsPerSocket = Number.MAX_SAFE_INTEGER;
const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false, maxRequestsPerSocket });
announce(Number(new URL(url).port));
