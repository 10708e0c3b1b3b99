import { createServer } from "node:http";
import { createNodeMiddleware, Webhooks } from "@octokit/webhooks";
import { announce, portOf } from "../announce.js";
import { secret } from "../delivery.ts";
import { openLog } from "../subject-log.ts";

const log = openLog();
const webhooks = new Webhooks({ secret });
const startedAtById = new Map<string, number>();

webhooks.on("push", async ({ id, payload }) => {
  const repo: { type?: unknown; name?: unknown } = "repo" in payload && payload.repo ? payload.repo : {};
  log.info({
    endpoint: "bench",
    deliveryId: id,
    repo: `${repo.type}:${repo.name}`,
    outcome: "succeeded",
    ms: performance.now() - (startedAtById.get(id) ?? Number.NaN),
  });
  startedAtById.delete(id);
});

const middleware = createNodeMiddleware(webhooks, { path: "/webhooks/bench" });
const server = createServer((request, response) => {
  startedAtById.set(String(request.headers["x-github-delivery"]), performance.now());
  void middleware(request, response);
});
server.listen(0, "127.0.0.1", () => announce(portOf(server)));
