import { createServer } from "node:http";
import { H3, HTTPError, toNodeHandler } from "h3";
import { announce, portOf } from "../announce.js";
import { type Payload, secret } from "../delivery.ts";
import { logDelivery, openLog } from "../subject-log.ts";

const log = openLog();
const app = new H3();

app.post("/webhooks/bench", async (event) => {
  const startedAt = performance.now();
  if (event.req.headers.get("x-webhook-secret") !== secret) throw new HTTPError({ status: 403 });
  const payload = (await event.req.json()) as Payload;
  logDelivery(log, { deliveryId: event.req.headers.get("webhook-id"), payload, startedAt });
  return { received: true };
});

const server = createServer(toNodeHandler(app));
server.listen(0, "127.0.0.1", () => announce(portOf(server)));
