import { describe, expect, test } from "vitest";
import { FaultyDelivery } from "../../../src/local-hub/delivery/faults.ts";
import type { DeliveryFaults } from "../../../src/local-hub.ts";
import { data, openLocalHub } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

/** Opens a local Hub with faults and a target, and pushes. */
async function pushWith(faults: DeliveryFaults, status = 200) {
  const hub = await openLocalHub({ deliveryFaults: faults });
  const target = await openTarget(status);
  const { id } = await hub.create({ url: target.url });
  const [delivery] = await hub.hub.push(data);
  return { hub, target, id, delivery };
}

describe("The deliveries of a local Hub", () => {
  test("are lost with drop: neither sent nor retried, and not counted as failures", async () => {
    const { hub, target, id, delivery } = await pushWith({ drop: 1 });
    expect(delivery).toMatchObject({ status: null, attempts: 1, error: expect.stringContaining("lost on purpose") });
    expect(target.requests).toEqual([]);
    expect(hub.hub.deliveries(id)).toHaveLength(1);
    for (let count = 0; count < 5; count += 1) await hub.hub.push(data);
    hub.hub.setDeliveryFaults({});
    expect(await hub.hub.push(data)).toMatchObject([{ status: 200 }]);
  });

  test("are sent twice with duplicate, with the same ID", async () => {
    const { hub, target, id } = await pushWith({ duplicate: 1 });
    const ids = target.requests.map(({ headers }) => headers["webhook-id"]);
    expect(ids).toEqual([ids[0], ids[0]]);
    expect(hub.hub.deliveries(id)).toMatchObject([{ attempt: 2 }, { attempt: 1 }]);
  });

  test("are retried after a duplicate that failed, and count as one failure", async () => {
    const { hub, target, id } = await pushWith({ duplicate: 1 }, 500);
    expect(target.requests).toHaveLength(4);
    expect(hub.hub.deliveries(id).map(({ attempt }) => attempt)).toEqual([4, 3, 2, 1]);
  });

  test("wait with delay", async () => {
    const startedAt = performance.now();
    const { target } = await pushWith({ delay: "80ms" });
    expect(target.requests).toHaveLength(1);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(79);
  });

  test("have the faults of PUT /_local/delivery-faults until they are reset", async () => {
    const { hub, target } = await pushWith({});
    const control = (method: string, path: string, body: object) =>
      fetch(`${hub.url}/_local/${path}`, {
        method,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    expect((await control("PUT", "delivery-faults", { drop: 2 })).status).toBe(400);
    expect((await control("PUT", "delivery-faults", { drop: 1 })).status).toBe(200);
    await hub.hub.push(data);
    expect(target.requests).toHaveLength(1);
    await control("POST", "reset", {});
    await hub.create({ url: target.url });
    await hub.hub.push(data);
    expect(target.requests).toHaveLength(2);
  });

  test.each<[string, unknown]>([
    ["a share above 1", { drop: 1.1 }],
    ["a share below 0", { duplicate: -0.1 }],
    ["no duration", { delay: "soon" }],
    ["an unknown fault", { lose: 1 }],
    ["nothing", undefined],
  ])("refuse faults with %s", (_what, faults) => {
    const refuse = () => new FaultyDelivery(Math.random).set(faults);
    expect(refuse).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID" }));
  });
});

test("The shares of faults are exact at their borders, and reorder waits for a part of the delay", () => {
  let random = 0.25;
  const faulty = new FaultyDelivery(() => random);
  faulty.set({ drop: 0.25, duplicate: 0.26, delay: "8s", reorder: true });
  expect([faulty.isDropped(), faulty.isDuplicated(), faulty.delayMs()]).toEqual([false, true, 2_000]);
  faulty.set({ reorder: true });
  expect([faulty.isDropped(), faulty.isDuplicated(), faulty.delayMs()]).toEqual([false, false, 250]);
  random = 0;
  faulty.set({});
  expect([faulty.isDropped(), faulty.isDuplicated(), faulty.delayMs()]).toEqual([false, false, 0]);
});
