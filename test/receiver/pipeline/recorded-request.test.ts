import { expect, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

/* What docs/guides/security.md documents about a recorded request. */

const weekMs = 7 * 24 * 3_600_000;
const baseUrl = "http://localhost";
const secret = "s3cret";
const payload = webhookPayload("repo");

async function openServer() {
  const clock = { now: 1_800_000_000_000 };
  const options = { secret, inbox: "sqlite::memory:", logger: createMemoryLogger(), now: () => clock.now };
  const server = new WebhooksServer(options);
  const handler = vi.fn();
  server.webhook("inline", handler);
  server.webhook("kept", { background: true, retention: "1h" }, handler);
  await server.ready();
  const send = async (endpoint: string, id: string) => {
    const response = await server.request(deliveryRequest({ endpoint, payload, id, baseUrl, secret }));
    await waitFor(async () => expect((await server.inbox.counts()).kept?.queued ?? 0).toBe(0));
    return (await response.text()).includes('"duplicate":true');
  };
  return { server, handler, clock, send };
}

test("A repeated request runs an inline endpoint again", async () => {
  const { server, handler, send } = await openServer();
  expect([await send("inline", "one"), await send("inline", "one")]).toEqual([false, false]);
  expect(handler).toHaveBeenCalledTimes(2);
  await server.close();
});

test("A repeated request is a duplicate for a background endpoint for 7 days, unless its id differs", async () => {
  const { server, handler, clock, send } = await openServer();
  expect(await send("kept", "one")).toBe(false);
  await waitFor(async () => expect(await server.inbox.get("one")).toMatchObject({ status: "succeeded" }));
  clock.now += weekMs - 1;
  await server.inbox.prune();
  expect([await send("kept", "one"), await send("kept", "another")]).toEqual([true, false]);
  clock.now += 2;
  await server.inbox.prune();
  expect(await send("kept", "one")).toBe(false);
  await waitFor(() => expect(handler).toHaveBeenCalledTimes(3));
  await server.close();
});
