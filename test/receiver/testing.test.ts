import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { NonRetriableError, WebhooksServer } from "../../src/index.ts";
import { deliveryRequest, settled, webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { waitFor } from "../support/wait-for.ts";

const payload = webhookPayload("repo.content");
const background = { background: true, backoff: { first: 1 } } as const;

let server: WebhooksServer;

beforeEach(() => {
  server = new WebhooksServer({ secret: "s3cret", inbox: "sqlite::memory:", logger: createMemoryLogger() });
  onTestFinished(() => server.close());
});

async function deliver(endpoint: string, id: string): Promise<void> {
  const response = await server.fetch(deliveryRequest({ endpoint, payload, secret: "s3cret", id }));
  expect(response.status).toBe(202);
}

describe("settled(server)", () => {
  test("resolves when every delivery has succeeded or is dead, retries included", async () => {
    const retrain = vi.fn(async () => {}).mockRejectedValueOnce(new Error("no GPU is free"));
    server.webhook("retrain", background, retrain);
    server.webhook("review", background, async () => {
      throw new NonRetriableError("There is no card.");
    });
    await deliver("retrain", "first");
    await deliver("review", "second");
    await settled(server);
    expect(retrain).toHaveBeenCalledTimes(2);
    expect(await server.inbox.get("first")).toMatchObject({ status: "succeeded" });
    expect(await server.inbox.get("second")).toMatchObject({ status: "dead" });
  });

  test("resolves immediately without deliveries", async () => {
    server.webhook("retrain", background, () => {});
    expect(await settled(server, { timeout: 1 })).toBeUndefined();
  });

  test("rejects after the timeout with the queued and running deliveries", async () => {
    const end = Promise.withResolvers<void>();
    server.webhook("retrain", { ...background, concurrency: 1 }, () => end.promise);
    server.webhook("review", background, () => {});
    for (const [id, queued] of [
      ["first", 0],
      ["second", 1],
    ] as const) {
      await deliver("retrain", id);
      await waitFor(async () => expect((await server.inbox.counts()).retrain).toMatchObject({ queued, running: 1 }));
      await expect(settled(server, { timeout: 10 })).rejects.toMatchObject({
        code: "NOT_SETTLED",
        message: expect.stringContaining(`retrain (${queued} queued, 1 running)`),
      });
    }
    await settled(server, { endpoint: "review" });
    end.resolve();
    await settled(server, { endpoint: "retrain" });
  });

  test("rejects an unknown endpoint", async () => {
    server.webhook("retrain", background, () => {});
    await expect(settled(server, { endpoint: "retrian" })).rejects.toMatchObject({ code: "ENDPOINT_UNKNOWN" });
  });

  test("rejects with the reason of its signal", async () => {
    const end = Promise.withResolvers<void>();
    server.webhook("retrain", background, () => end.promise);
    await deliver("retrain", "first");
    const controller = new AbortController();
    const reason = new Error("the test is over");
    const waiting = expect(settled(server, { signal: controller.signal })).rejects.toBe(reason);
    controller.abort(reason);
    await waiting;
    end.resolve();
  });
});
