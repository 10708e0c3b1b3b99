import { createServer } from "node:http";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import { announce, portOf } from "../announce.js";
import { isPayload, secret } from "../delivery.ts";
import { logDelivery, openLog } from "../subject-log.ts";

const log = openLog();
const webhooks = new Webhooks({ secret });
const startedAtById = new Map<string, number>();

webhooks.on("push", async ({ id, payload }) => {
  if (!isPayload(payload)) throw new Error("The delivery is not from this benchmark.");
  logDelivery(log, { deliveryId: id, payload, startedAt: startedAtById.get(id) ?? Number.NaN });
  startedAtById.delete(id);
});

const middleware = createNodeMiddleware(webhooks, { path: "/webhooks/bench" });
const server = createServer((request, response) => {
  startedAtById.set(String(request.headers["x-github-delivery"]), performance.now());
  void middleware(request, response);
});
server.listen(0, "127.0.0.1", () => announce(portOf(server)));
