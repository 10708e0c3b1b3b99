import { fastify } from "fastify";
import { announce, portOf } from "../announce.js";
import { type Payload, secret } from "../delivery.ts";
import { logDelivery, openLog } from "../subject-log.ts";

const log = openLog();
const app = fastify();

app.post<{ Body: Payload }>("/webhooks/bench", async (request, reply) => {
  const startedAt = performance.now();
  if (request.headers["x-webhook-secret"] !== secret) return reply.code(403).send();
  const payload = request.body;
  logDelivery(log, { deliveryId: request.headers["webhook-id"], payload, startedAt });
  return { received: true };
});

await app.listen({ host: "127.0.0.1", port: 0 });
announce(portOf(app.server));
