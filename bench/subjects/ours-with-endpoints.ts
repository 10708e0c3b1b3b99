import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";
import { secret } from "../delivery.ts";
import { openLog } from "../subject-log.ts";

const count = Number(process.argv[3]);
const server = new WebhooksServer({ secret, logger: openLog() });

// All names have the same length, so that the load generator can write any name into an existing request.
for (let number = 0; number < count; number += 1) {
  server.webhook(`bench-${String(number).padStart(5, "0")}`, async () => ({ received: true }));
}

// The load generator uses 64 connections, and the other subjects have no such limit.
const maxRequestsPerSocket = Number.MAX_SAFE_INTEGER;
const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false, maxRequestsPerSocket });
announce(Number(new URL(url).port));
