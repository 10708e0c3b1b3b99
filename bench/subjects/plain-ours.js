// Plain JavaScript: see announce.js.
import { devNull } from "node:os";
import { pino } from "pino";
import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";

// The secret comes from WEBHOOK_SECRET.
const server = new WebhooksServer({ logger: pino(pino.destination({ dest: devNull, sync: false })) });
server.webhook("bench", async () => ({ received: true }));

// The load generator sends everything on 64 connections, and no peer has this limit.
const maxRequestsPerSocket = Number.MAX_SAFE_INTEGER;
const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false, maxRequestsPerSocket });
announce(Number(new URL(url).port));
