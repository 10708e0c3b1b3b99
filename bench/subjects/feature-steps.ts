import { type HttpBindings, serve } from "@hono/node-server";
import { Hono } from "hono";
import { announce } from "../announce.js";
import type { Payload } from "../delivery.ts";
import { steps } from "../feature-steps.ts";
import { readIncoming } from "../incoming-text.ts";

const step = steps[process.argv[3] ?? ""];
if (!step) throw new Error(`Unknown step: ${process.argv[3]}.`);
const app = new Hono<{ Bindings: HttpBindings }>();

app.post("/webhooks/bench", async (context) => {
  const payload: Payload = JSON.parse(await readIncoming(context.env.incoming));
  const result = step(context, payload);
  if (result instanceof Promise) await result;
  return context.json({ received: true });
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
