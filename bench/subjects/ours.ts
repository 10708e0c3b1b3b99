import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";
import { secret } from "../delivery.ts";
import { openLog } from "../subject-log.ts";

const server = new WebhooksServer({ secret, logger: openLog() });

// Asynchronous, as a real handler is: only then does the time limit come into it.
server.webhook("bench", async () => ({ received: true }));

// The load generator sends everything on 64 connections, and no peer has this limit.
const maxRequestsPerSocket = Number.MAX_SAFE_INTEGER;
const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false, maxRequestsPerSocket });
announce(Number(new URL(url).port));
