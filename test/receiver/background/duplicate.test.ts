import { setImmediate } from "node:timers/promises";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { expect, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

/** Returns a schema that accepts any value and resolves `reached` when this number of deliveries has arrived. */
function countArrivals(expected: number) {
  const reached = Promise.withResolvers<void>();
  let arrivals = 0;
  const schema: StandardSchemaV1 = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate(value) {
        arrivals += 1;
        if (arrivals === expected) reached.resolve();
        return { value };
      },
    },
  };
  return {
    schema,
    async reached() {
      await reached.promise;
      await setImmediate();
    },
  };
}

describeOverBothTransports("A delivery that arrives again while it is running", (send) => {
  const again = () => deliveryRequest({ endpoint: "train", payload: {}, id: "d-1" });

  async function arriveTwice(end: (work: PromiseWithResolvers<unknown>) => void) {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger });
    const arrivals = countArrivals(2);
    const work = Promise.withResolvers<unknown>();
    const handler = vi.fn(() => work.promise);
    server.webhook("train", { schema: arrivals.schema }, handler);
    const answers = Promise.all([send(server, again()), send(server, again())]);
    await arrivals.reached();
    end(work);
    const responses = await answers;
    // Over a socket, the responses can arrive in either order.
    responses.sort((left, right) => left.status - right.status);
    return { responses, handler, server, logger };
  }

  test("is not run again, and is answered with 202 after the run succeeds", async () => {
    const { responses, handler, logger } = await arriveTwice((work) => work.resolve({ trained: true }));
    expect(responses.map(({ status }) => status)).toEqual([200, 202]);
    expect(await Promise.all(responses.map((response) => response.json()))).toEqual([
      { trained: true },
      { deliveryId: "d-1", duplicate: true },
    ]);
    expect(handler).toHaveBeenCalledOnce();
    const lines = logger.lines.filter(({ msg }) => msg === "delivery succeeded");
    expect(lines.map(({ status, duplicate }) => ({ status, duplicate }))).toEqual(
      expect.arrayContaining([
        { status: 200, duplicate: undefined },
        { status: 202, duplicate: true },
      ]),
    );
  });

  test("is answered with the error response of the handler to both senders", async () => {
    const refusal = new Response("no GPU is free", { status: 409 });
    const { responses } = await arriveTwice((work) => work.resolve(refusal));
    expect(responses.map(({ status }) => status)).toEqual([409, 409]);
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(texts.sort()).toEqual(["", "no GPU is free"]);
  });

  test.each([
    ["throws", (work: PromiseWithResolvers<unknown>) => work.reject(new Error("no GPU is free"))],
    ["ends with something that is not JSON", (work: PromiseWithResolvers<unknown>) => work.resolve({ steps: 10n })],
    [
      "returns an error response",
      (work: PromiseWithResolvers<unknown>) => work.resolve(new Response("no GPU is free", { status: 500 })),
    ],
  ])("is answered with the failure where the handler %s, so that the Hub sends it once more", async (_how, end) => {
    const { responses, handler } = await arriveTwice(end);
    expect(responses.map(({ status }) => status)).toEqual([500, 500]);
    expect(handler).toHaveBeenCalledOnce();
  });

  test("is run again if the first run has ended", async () => {
    const { handler, server } = await arriveTwice((work) => work.resolve("trained"));
    expect((await send(server, again())).status).toBe(200);
    expect(handler).toHaveBeenCalledTimes(2);
  });
});

describeOverBothTransports("Two deliveries at the same time", (send) => {
  async function runs(first: { endpoint: string; id: string }, second: { endpoint: string; id: string }) {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    const arrivals = countArrivals(2);
    const work = Promise.withResolvers<string>();
    const handler = vi.fn(() => work.promise);
    server.webhook("train", { schema: arrivals.schema }, handler);
    server.webhook("test", { schema: arrivals.schema }, handler);
    const answers = [first, second].map((one) => send(server, deliveryRequest({ ...one, payload: {} })));
    await arrivals.reached();
    work.resolve("done");
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
    return handler.mock.calls.length;
  }

  test("are both run if their IDs differ", async () => {
    expect(await runs({ endpoint: "train", id: "d-1" }, { endpoint: "train", id: "d-2" })).toBe(2);
  });

  test("are both run if they have the same ID and different endpoints", async () => {
    expect(await runs({ endpoint: "train", id: "d-1" }, { endpoint: "test", id: "d-1" })).toBe(2);
  });
});
