// Plain JavaScript: see announce.js. Hono with what one would add by hand: a schema of the payload and pino.
import { devNull } from "node:os";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { pino } from "pino";
import { announce } from "../announce.js";
import { payloadSchema } from "../payload-schema.js";

const secret = process.env.WEBHOOK_SECRET;
const log = pino(pino.destination({ dest: devNull, sync: false }));
const app = new Hono();

app.post("/webhooks/bench", async (context) => {
  const startedAt = performance.now();
  if (context.req.header("x-webhook-secret") !== secret) return context.body(null, 403);
  const { repo } = payloadSchema.parse(await context.req.json());
  log.info({
    endpoint: "bench",
    deliveryId: context.req.header("webhook-id"),
    repo: `${repo.type}:${repo.name}`,
    outcome: "succeeded",
    ms: performance.now() - startedAt,
  });
  return context.json({ received: true });
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
