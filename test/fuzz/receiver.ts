import { WebhooksServer } from "hub-webhooks";

/* A receiver of the built package with endpoints of every kind. The process answers each message with its memory use. */

const server = new WebhooksServer({ metrics: true, bodyLimit: 64 * 1024, secretInQuery: true });

server.webhook("inline", (_payload, { delivery: { id } }) => ({ id }));
server.webhook("echo", (payload, { request }) => ({ payload, url: request?.url }));
server.webhook("fails", (payload) => {
  throw new Error(`Cannot process ${payload.repo.name}.`);
});
server.webhook("filtered", { scope: "repo.content", repo: "dataset:acme/*", ref: "refs/heads/*" }, () => "wanted");
server.webhook("comments", { scope: "discussion.comment" }, ({ comment }) => comment.author.id);
server.webhook("anything", { schema: null }, (_payload, { delivery: { body } }) => ({ length: body.length }));
server.webhook("background", { background: true, attempts: 2, backoff: { first: 10, max: 10 } }, (payload) => {
  if (payload.repo.private) throw new Error(payload.repo.name);
});

process.on("message", () => {
  globalThis.gc?.();
  process.send?.(process.memoryUsage());
});
process.on("disconnect", () => process.exit(1));

await server.launch({ host: "127.0.0.1", timeouts: { headers: "2s", request: "3s", keepAlive: "1s" } });
