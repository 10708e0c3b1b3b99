import { createServer } from "node:http";
import { expect, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { listen } from "../../support/listen.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

const payload = webhookPayload("repo");

describeOverBothTransports("The Response of a handler", (send) => {
  test("has no body and no length from a HEAD request", async () => {
    const upstream = createServer((_request, response) => response.setHeader("content-length", "1234").end());
    const { url } = await listen(upstream);
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("head", () => fetch(url, { method: "HEAD" }));
    const response = await send(server, deliveryRequest({ endpoint: "head", payload }));
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("counts as a failure if its status is not 2xx", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    server.webhook("busy", () => new Response("later", { status: 503 }));
    expect((await send(server, deliveryRequest({ endpoint: "busy", payload }))).status).toBe(503);
    expect(logger.lines.find(({ status }) => status === 503)).toMatchObject({
      level: "error",
      outcome: "failed",
      endpoint: "busy",
    });
    expect(await (await server.request("/")).text()).toContain("failed");
  });
});

test("A Response that the handler returns after the timeout is cancelled", async () => {
  const [work, cancelled] = [Promise.withResolvers<Response>(), Promise.withResolvers<void>()];
  const server = new WebhooksServer({ logger: createMemoryLogger() });
  server.webhook("late", { timeout: 1 }, () => work.promise);
  expect((await server.fetch(deliveryRequest({ endpoint: "late", payload }))).status).toBe(504);
  const pull = vi.fn();
  const cancel = () => cancelled.resolve();
  work.resolve(new Response(new ReadableStream({ pull, cancel }, { highWaterMark: 0 })));
  await cancelled.promise;
  expect(pull).not.toHaveBeenCalled();
});
