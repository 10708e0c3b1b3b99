import { setTimeout as sleep } from "node:timers/promises";
import { WebhooksServer } from "../../src/index.ts";
import { hostileValues } from "../support/hostile-values.ts";
import { errorsWithSecret } from "../support/secrets.ts";

/* Runs a receiver for tests that need a separate process. */

const server = new WebhooksServer();

server.webhook("target", (_payload, { delivery, log }) => {
  log.info("target ran");
  return { received: delivery.id };
});

server.webhook("slow", async (_payload, { delivery, log }) => {
  log.info("work started");
  await sleep(Number(process.env.WORK_MS ?? "300"));
  log.info("work finished");
  return { received: delivery.id };
});

server.webhook("stuck", (_payload, { log }) => {
  log.info("work started");
  return new Promise(() => {});
});

server.webhook("leaves-rejection", () => {
  void Promise.reject(new Error("left behind"));
  return { left: "behind" };
});

server.webhook("leaves-late-rejection", () => {
  void sleep(20).then(() => Promise.reject(new Error("left behind")));
  return { left: "behind" };
});

server.webhook("leaves-rejection-of-nothing", () => {
  void Promise.reject();
  return { left: "behind" };
});

server.webhook("rejects", { schema: null }, async (_payload, { delivery }) => {
  throw hostileValues()[delivery.body];
});

server.webhook("resolves", { schema: null }, async (_payload, { delivery }) => {
  return hostileValues()[delivery.body];
});

server.webhook("leaves-behind", { schema: null }, (_payload, { delivery }) => {
  void Promise.reject(hostileValues()[delivery.body]);
  return { left: "behind" };
});

const errors = errorsWithSecret(process.env.WEBHOOK_SECRET ?? "");

server.webhook("leaks-secret", { schema: null }, async (_payload, { delivery, log }) => {
  log.info({ thrown: errors[delivery.body] }, `The secret is ${process.env.WEBHOOK_SECRET}.`);
  throw errors[delivery.body];
});

if (process.env.INBOX_URL !== undefined) {
  const options = { background: true, attempts: 3, backoff: { first: 1 }, schema: null } as const;
  server.webhook("leaks-secret-later", { ...options, attempts: 1 }, async (_payload, { delivery }) => {
    throw errors[delivery.body];
  });
  server.webhook("background", options, async (_payload, { delivery }) => {
    throw hostileValues()[delivery.body];
  });
}

await server.launch({ shutdownGrace: Number(process.env.GRACE_MS ?? "30000") });
