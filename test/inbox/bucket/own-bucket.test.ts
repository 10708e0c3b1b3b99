import { expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { webhookPayload } from "../../../src/payload/samples.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { MemoryObjectStore } from "./memory-object-store.ts";
import { openMemoryInbox } from "./open-memory-inbox.ts";

test.each([
  ["ignores events of the bucket that stores its inbox", "me/inbox", 200],
  ["stores events of other buckets", "me/data", 202],
])("a server %s", async (_what, bucket, status) => {
  const store = new MemoryObjectStore("hf://buckets/me/inbox/receiver");
  const { inbox } = await openMemoryInbox(store);
  const server = new WebhooksServer({ inbox, secret: "s", logger: createMemoryLogger() });
  server.webhook("sync", { background: true }, () => {});
  await server.ready();
  const before = store.requests.length;
  const response = await server.fetch(
    new Request("http://localhost/webhooks/sync", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Webhook-Secret": "s" },
      body: JSON.stringify(webhookPayload("repo.content", { repo: { type: "bucket", name: bucket } })),
    }),
  );
  expect(response.status).toBe(status);
  // An ignored event must not change the bucket, because the change would cause the next event.
  expect(store.requests.length === before).toBe(status === 200);
});
