import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { announce } from "../announce.js";
import { type Payload, secret } from "../delivery.ts";
import { logDelivery, openLog } from "../subject-log.ts";

const log = openLog();
const app = new Hono();

app.post("/webhooks/bench", async (context) => {
  const startedAt = performance.now();
  if (context.req.header("x-webhook-secret") !== secret) return context.body(null, 403);
  const payload = await context.req.json<Payload>();
  logDelivery(log, { deliveryId: context.req.header("webhook-id"), payload, startedAt });
  return context.json({ received: true });
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
