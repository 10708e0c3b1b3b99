import { createServer } from "node:http";
import { announce, portOf } from "../announce.js";
import { type Payload, secret } from "../delivery.ts";
import { readIncoming } from "../incoming-text.ts";
import { logDelivery, openLog } from "../subject-log.ts";

const log = openLog();

const server = createServer(async (request, response) => {
  const startedAt = performance.now();
  if (request.method !== "POST" || request.url !== "/webhooks/bench") return response.writeHead(404).end();
  if (request.headers["x-webhook-secret"] !== secret) return response.writeHead(403).end();
  const payload: Payload = JSON.parse(await readIncoming(request));
  logDelivery(log, { deliveryId: request.headers["webhook-id"], payload, startedAt });
  const answer = JSON.stringify({ received: true });
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(answer) });
  return response.end(answer);
});

server.listen(0, "127.0.0.1", () => announce(portOf(server)));
