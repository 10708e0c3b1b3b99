import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { EndpointQueue, Inbox } from "../../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

test("Logs that a delivery is accepted before its handler runs, even if the inbox runs it earlier", async () => {
  const logger = createMemoryLogger();
  const stored: Inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  let queue: EndpointQueue | undefined;
  const early: Inbox = Object.assign(Object.create(stored), {
    startWorker: (options: EndpointQueue) => {
      queue = options;
    },
    close: (graceMs: number) => stored.close(graceMs),
    counts: () => stored.counts(),
    async accept(delivery: Parameters<Inbox["accept"]>[0]) {
      const claimed = { ...delivery, attempt: 1, isLastAttempt: false, retryDelayMs: 1 };
      void queue
        ?.run(claimed, new AbortController().signal)
        .then(({ onStored }) => onStored?.({ status: "succeeded" }));
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      return { duplicate: false };
    },
  });
  const server = new WebhooksServer({ secret: false, inbox: early, logger });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  await server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), id: "first" }));
  const messages = () => logger.lines.map(({ msg }) => msg).filter((message) => message.startsWith("delivery "));
  await waitFor(() => expect(messages()).toEqual(["delivery accepted", "delivery succeeded"]));
});

test("Logs and counts an attempt only after the inbox has stored it, with the step that the inbox has decided", async () => {
  const logger = createMemoryLogger();
  const stored: Inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  let queue: EndpointQueue | undefined;
  const inbox: Inbox = Object.assign(Object.create(stored), {
    startWorker: (options: EndpointQueue) => {
      queue = options;
    },
    close: (graceMs: number) => stored.close(graceMs),
    counts: () => stored.counts(),
  });
  const server = new WebhooksServer({ secret: false, inbox, logger });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {
    throw new Error("No GPU is free.");
  });
  await server.ready();
  const body = JSON.stringify(webhookPayload("repo"));
  const claimed = { id: "a", endpoint: "retrain", body, receivedAt: new Date(), attempt: 1 };
  const outcomes = () => logger.lines.flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome]));
  const run = await queue?.run({ ...claimed, isLastAttempt: false, retryDelayMs: 1 }, new AbortController().signal);
  await nextTurn();
  expect(outcomes()).toEqual([]);
  run?.onStored?.({ status: "dead" });
  expect(outcomes()).toEqual(["dead"]);
});

test("Answers a delivery before its handler runs, which can block the event loop", async () => {
  const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
  onTestFinished(() => server.close());
  const order: string[] = [];
  server.webhook("retrain", { background: true }, ({ repo }) => void order.push(`ran ${repo.name}`));
  const deliver = async (name: string) => {
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo", { repo: { name } }) }));
    order.push(`answered ${name}`);
  };
  await server.ready();
  await Promise.all(["me/a", "me/b", "me/c"].map(deliver));
  await waitFor(() => expect(order).toHaveLength(6));
  expect(order.slice(0, 3).sort()).toEqual(["answered me/a", "answered me/b", "answered me/c"]);
});

test("Ordering log lines uses no memory after a delivery is stored", async () => {
  const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  const deleted = vi.spyOn(Map.prototype, "delete");
  onTestFinished(() => deleted.mockRestore());
  await server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), id: "only-once" }));
  expect(deleted.mock.calls).toContainEqual(["retrain only-once"]);
});
