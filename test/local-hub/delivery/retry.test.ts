import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openLocalHub, secret } from "../support/hub.ts";
import { neverRespond, openTarget, openWebhook } from "../support/target.ts";

describe("A failed delivery", () => {
  test("is retried with the same id and body, and each attempt is logged", async () => {
    const { hub, target, id } = await openWebhook([500, 503, 200]);
    const [delivery] = await hub.trigger();
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId, delivery?.deliveryId]);
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1);
    const entries = await hub.entries(id);
    expect(entries.map(({ attempt, status }) => [attempt, status])).toEqual([
      [3, 200],
      [2, 503],
      [1, 500],
    ]);
    expect(new Set(entries.map(({ deliveryId }) => deliveryId))).toEqual(new Set([delivery?.deliveryId]));
    expect(new Set(entries.map(({ logId }) => logId)).size).toBe(3);
    expect(await hub.get(id)).toMatchObject({ disabled: false });
  });

  test.each([
    [{}, 3],
    [{ attempts: 1 }, 1],
    [{ attempts: 2 }, 2],
    [{ attempts: 5 }, 5],
  ])("fails permanently after its last attempt: %j allows %d", async (options, attempts) => {
    const { hub, target, id } = await openWebhook([500], options);
    expect(await hub.trigger()).toMatchObject([{ status: 500 }]);
    const entries = await hub.entries(id);
    expect(entries.map(({ attempt }) => attempt)).toEqual(
      Array.from({ length: attempts }, (_, index) => attempts - index),
    );
    // Another attempt would arrive before the next event is delivered.
    target.answerWith(200);
    await hub.trigger();
    expect(target.requests).toHaveLength(attempts + 1);
  });

  test("waits twice as long before each later attempt", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    onTestFinished(() => timers.mockRestore());
    const { hub, target } = await openWebhook([500], { attempts: 4, backoff: 13, now: () => 0 });
    await hub.trigger();
    expect(target.requests).toHaveLength(4);
    const spans = timers.mock.calls.map(([, span]) => span);
    expect(spans.filter((span) => span !== undefined && span > 0 && span % 13 === 0 && span < 1_000)).toEqual([
      13, 26, 52,
    ]);
  });

  test("is retried with the current URL and secret of the webhook", async () => {
    const elsewhere = await openTarget();
    const hub = await openLocalHub();
    const target = await openTarget((_request, response) => {
      hub.update(id, { url: elsewhere.url, secret }).then(() => response.writeHead(500).end());
    });
    const { id } = await hub.create({ url: target.url, secret: "the one of before" });
    const [delivery] = await hub.trigger();
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe("the one of before");
    expect(elsewhere.requests[0]?.headers).toMatchObject({
      "x-webhook-secret": secret,
      "webhook-id": delivery?.deliveryId,
    });
    expect((await hub.entries(id)).map(({ url }) => url)).toEqual([elsewhere.url, target.url]);
  });

  test.each(["disable", "delete"] as const)("is not retried after a %s", async (action) => {
    const hub = await openLocalHub({ attempts: 10 });
    const target = await openTarget((_request, response) => {
      const done = action === "delete" ? hub.delete(id) : hub.setState(id, action);
      done.then(() => response.writeHead(500).end());
    });
    const { id } = await hub.create({ url: target.url });
    await hub.trigger();
    expect(target.requests).toHaveLength(1);
    if (action === "delete") return;
    // Enabling the webhook again does not restore dropped deliveries.
    await hub.setState(id, "enable");
    target.answerWith(200);
    await hub.trigger();
    expect(target.requests).toHaveLength(2);
    expect(new Set(target.ids).size).toBe(2);
  });

  test("is retried after a timeout", async () => {
    const { hub, target, id } = await openWebhook([neverRespond, 200], { timeout: 50 });
    const [delivery] = await hub.trigger();
    expect(delivery?.status).toBe(200);
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId]);
    expect((await hub.entries(id))[1]).toMatchObject({ status: null, error: expect.stringContaining("0.05 s") });
  });

  test("does not block other deliveries", async () => {
    const failing = await openTarget(500);
    const target = await openTarget();
    const hub = await openLocalHub({ backoff: "1h" });
    const stuck = await hub.create({ url: failing.url });
    await hub.create({ url: target.url });
    for (let push = 0; push < 3; push += 1) await hub.trigger(undefined, { wait: false });
    await target.hasReceived(3);
    await failing.hasReceived(3);
    expect(await hub.get(stuck.id)).toMatchObject({ disabled: false });
  });
});
