// Plain JavaScript: see announce.js.
import { devNull } from "node:os";
import { pino } from "pino";
import { WebhooksServer } from "../../dist/index.js";
import { announce } from "../announce.js";

// The secret comes from WEBHOOK_SECRET.
const server = new WebhooksServer({ logger: pino(pino.destination({ dest: devNull, sync: false })) });
server.webhook("bench", async () => ({ received: true }));

const { url } = await server.launch({ host: "127.0.0.1", port: 0, tunnel: false });
announce(Number(new URL(url).port));
