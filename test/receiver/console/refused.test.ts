import { expect, onTestFinished, test, vi } from "vitest";
import type { EndpointList } from "../../../src/console/protocol/deliveries.ts";
import { ConsoleEvents } from "../../../src/console/server/events.ts";
import { probeAgent } from "../../../src/receiver/request.ts";
import { deliveryRequest } from "../../../src/testing.ts";
import { openReceiverConsole, payloadOf, secret, startedAt } from "./open-receiver-console.ts";

async function openServer() {
  const opened = await openReceiverConsole(
    (server) => {
      server.webhook("inline", () => {});
      server.webhook("background", { background: true }, () => {});
    },
    { bodyLimit: 4_096 },
  );
  const refused = async () => ((await opened.client.read("endpoints")) as EndpointList).refused;
  const refuse = (given: Partial<Parameters<typeof deliveryRequest>[0]>) =>
    opened.server.fetch(deliveryRequest({ endpoint: "inline", secret, payload: payloadOf("acme/data"), ...given }));
  return { ...opened, refused, refuse };
}

test.for([
  ["a wrong secret", { secret: "Wrong-5ecret-71" }, "inline", 403, "SECRET_INVALID"],
  ["no secret", { secret: undefined }, "inline", 401, "SECRET_MISSING"],
  ["an invalid payload", { payload: { repo: 7 } }, "inline", 422, "PAYLOAD_INVALID"],
  [
    "an invalid payload of a background endpoint",
    { endpoint: "background", payload: {} },
    "background",
    422,
    "PAYLOAD_INVALID",
  ],
  ["a large body", { payload: payloadOf("a".repeat(9_000)) }, "inline", 413, "BODY_TOO_LARGE"],
  ["an unknown endpoint", { endpoint: "retrian" }, "retrian", 404, "ENDPOINT_UNKNOWN"],
] as const)("A delivery with %s is listed with its reason", async ([, request, endpoint, status, code], { expect }) => {
  const { refuse, refused, list } = await openServer();
  expect((await refuse(request)).status).toBe(status);
  expect(await refused()).toEqual([
    { endpoint, status, code, message: expect.any(String), count: 1, lastAt: startedAt },
  ]);
  expect(await list()).toEqual([]);
});

test("Accepted deliveries and requests of browsers are not listed", async () => {
  const { server, deliver, refused } = await openServer();
  await deliver("inline", "a");
  expect((await server.request("/webhooks/inline")).status).toBe(405);
  expect(await refused()).toEqual([]);
});

test.for([
  ["with the secret", {}, 0],
  ["with a wrong secret", { secret: "Wrong-5ecret-71" }, 1],
  ["without a secret", { secret: undefined }, 1],
] as const)(
  "A test delivery %s is listed as refused if it could be of an attacker",
  async ([, request, listed], { expect }) => {
    const { server, refused } = await openServer();
    const delivery = deliveryRequest({ endpoint: "inline", secret, payload: {}, ...request });
    delivery.headers.set("user-agent", probeAgent);
    await server.fetch(delivery);
    expect(await refused()).toHaveLength(listed);
  },
);

test("A server without a secret lists what any client calls a test delivery", async () => {
  const { server, client } = await openReceiverConsole((one) => one.webhook("open", () => {}), { secret: false });
  const delivery = deliveryRequest({ endpoint: "open", payload: {} });
  delivery.headers.set("user-agent", probeAgent);
  await server.fetch(delivery);
  expect((await client.read("endpoints")).refused).toHaveLength(1);
});

test("Deliveries that were refused for the same reason are one entry, and the latest entry is first", async () => {
  const { clock, refuse, refused } = await openServer();
  await refuse({ secret: "Wrong-5ecret-71" });
  await refuse({ endpoint: "one" });
  clock.now += 1_000;
  await refuse({ secret: "Wrong-5ecret-72" });
  expect(await refused()).toMatchObject([
    { code: "SECRET_INVALID", count: 2, lastAt: startedAt + 1_000 },
    { code: "ENDPOINT_UNKNOWN", count: 1 },
  ]);
  await refuse({ endpoint: "two" });
  expect((await refused())[0]).toMatchObject({ endpoint: "two", code: "ENDPOINT_UNKNOWN", count: 2 });
  clock.now += 86_400_000;
  expect(await refused()).toEqual([]);
});

test("A sender can fill neither the memory nor the page, and no entry contains a secret", async () => {
  let sent = 0;
  const echo = (): { issues: { message: string }[] } => {
    sent += 1;
    return { issues: [{ message: `${sent} ${secret.repeat(500)}` }] };
  };
  const { client, deliver } = await openReceiverConsole((server) => {
    server.webhook("strict", { schema: { "~standard": { version: 1, vendor: "test", validate: echo } } }, () => {});
  });
  for (let id = 0; id < 30; id += 1) await deliver("strict", `${id}`);
  await deliver(secret.repeat(100), "unknown");
  const { refused }: EndpointList = await client.read("endpoints");
  expect(refused).toHaveLength(20);
  expect(refused.map(({ endpoint }) => endpoint.length)).toEqual([200, ...Array(19).fill("strict".length)]);
  for (const { message } of refused) expect(message.length).toBeLessThanOrEqual(500);
  expect(JSON.stringify(refused)).not.toContain(secret.slice(0, 6));
});

test("An open page loads the reasons again after a refused delivery", async () => {
  const changed = vi.spyOn(ConsoleEvents.prototype, "changed");
  onTestFinished(() => changed.mockRestore());
  const { refuse, client } = await openServer();
  await client.get("stream");
  await refuse({ secret: "Wrong-5ecret-71" });
  expect(changed).toHaveBeenCalledExactlyOnceWith("endpoints");
});
