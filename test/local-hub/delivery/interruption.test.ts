import { describe, expect, onTestFinished, test, vi } from "vitest";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { DeliveryStore } from "../../../src/local-hub/store/delivery-store.ts";
import { watchTimers } from "../../support/timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { data, openLocalHub, pushed } from "../support/hub.ts";
import { neverRespond, openTarget, openWebhook } from "../support/target.ts";

describe("While an attempt is in progress,", () => {
  test.each(["delete", "disable", "reset"])("a %s ends its retries, and returns to waiting callers", async (how) => {
    const release = Promise.withResolvers<void>();
    const target = await openTarget((_request, response) => {
      release.promise.then(() => response.writeHead(500).end());
    });
    const hub = await openLocalHub();
    const { id } = await hub.create({ url: target.url });
    const fired = hub.trigger();
    await target.hasReceived(1);
    if (how === "delete") await hub.delete(id);
    else if (how === "disable") await hub.setState(id, "disable");
    else await hub.request("POST /_local/reset", { text: "{}" });
    // The trigger returns without waiting for the attempt, because no other one follows.
    expect(await fired).toMatchObject([{ status: null }]);
    release.resolve();
    // The log of a deleted webhook is deleted.
    const entries = how === "disable" ? [{ status: 500 }] : [];
    await waitFor(() => expect(hub.hub.deliveries(id)).toMatchObject(entries));
    await hub.create({ url: (await openTarget()).url });
    expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
    expect(target.requests).toHaveLength(1);
  });

  test("closing the local Hub aborts the attempt immediately and returns to waiting callers", async () => {
    const { hub, target } = await openWebhook([neverRespond], { overSocket: true });
    const inCode = hub.hub.push(data);
    const overHttp = hub.trigger();
    await target.hasReceived(2);
    const startedAt = performance.now();
    await hub.hub.close();
    // Without it, the attempt ends after 30 s.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(await inCode).toMatchObject([{ status: null }]);
    expect(await overHttp).toMatchObject([{ status: null }]);
  });

  test("closing the local Hub waits for the attempts before it closes the store", async () => {
    const target = await openTarget(neverRespond);
    const local = await openLocalHub();
    await local.create({ url: target.url });
    // More than may run at the same time: the others stay in the queue.
    for (let event = 0; event < 20; event += 1) await local.trigger(pushed, { wait: false });
    await target.hasReceived(16);
    const getPending = vi.spyOn(DeliveryStore.prototype, "getPending");
    onTestFinished(() => void getPending.mockRestore());
    await local.hub.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(getPending).not.toHaveBeenCalled();
    expect(local.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a receiver that does not respond does not block other webhooks", async () => {
    const silent = await openTarget(neverRespond);
    const hub = await openLocalHub();
    await hub.create({ url: silent.url });
    for (let event = 0; event < 40; event += 1) await hub.trigger(pushed, { wait: false });
    await silent.hasReceived(16);
    const other = await openTarget();
    await hub.create({ url: other.url, watched: [{ type: "dataset", name: "me/other" }] });
    const event = { ...pushed, repo: { ...data, name: "me/other" } };
    expect(await hub.trigger(event)).toMatchObject([{ status: 200 }]);
    expect(silent.requests).toHaveLength(16);
  });
});

describe("A delivery that waits for its next attempt", () => {
  test.each(["disable", "delete", "reset"])(
    "is dropped immediately by %s, and waiting callers get its last result",
    async (how) => {
      const { hub, target, id } = await openWebhook([500], { backoff: "1h" });
      const waiting = hub.trigger();
      await waitFor(async () => expect(await hub.entries(id)).toHaveLength(1));
      const [entry] = await hub.entries(id);
      if (how === "disable") await hub.request(`POST /api/settings/webhooks/${id}/disable`);
      else if (how === "delete") await hub.delete(id);
      else await hub.request("POST /_local/reset", { text: "{}" });
      expect(await waiting).toMatchObject([{ webhookId: id, logId: entry?.logId, status: 500 }]);
      expect(target.requests).toHaveLength(1);
    },
  );

  test.each(["reset", "close"] as const)("leaves no timer after a %s", async (how) => {
    const target = await openTarget(500);
    const local = await openLocalHub({ backoff: "1h", now: () => 0 });
    const { id } = await local.create({ url: target.url });
    const timers = watchTimers();
    const waiting = local.hub.push(data);
    await waitFor(() => expect(local.hub.deliveries(id)).toHaveLength(1));
    expect(timers.of(3_600_000)).toMatchObject([{ cleared: 0 }]);
    await local.hub[how]();
    await local.hub.close();
    expect(timers.of(3_600_000)).toMatchObject([{ cleared: 1 }]);
    expect(await waiting).toMatchObject([{ status: 500 }]);
  });
});

test("An event during the close of a local Hub leaves no timer", async () => {
  const { hub } = await openWebhook([], { deliveryFaults: { delay: "1h" }, now: () => 0 });
  const { dispatcher, store } = contextOf(hub.hub);
  const timers = watchTimers();
  const closed = hub.hub.close();
  const [delivery] = dispatcher.fire(store.webhooks.all(), () => "{}");
  expect(store.deliveries.getPending(delivery?.deliveryId ?? "")).toBeDefined();
  await closed;
  expect(timers.of(3_600_000)).toEqual([]);
});

test("A completed delivery leaves nothing to clean up when the local Hub closes", async () => {
  const latestAttempt = vi.spyOn(DeliveryStore.prototype, "latestAttempt");
  onTestFinished(() => void latestAttempt.mockRestore());
  const timers = watchTimers();
  const target = await openTarget(500, 200);
  const local = await openLocalHub({ backoff: 13, timeout: "19s", now: () => 0 });
  await local.create({ url: target.url });
  expect(await local.hub.push(data)).toMatchObject([{ status: 200, attempts: 2 }]);
  expect(timers.of(19_000)).toMatchObject([{ cleared: 1 }, { cleared: 1 }]);
  latestAttempt.mockClear();
  await local.hub.close();
  expect(timers.of(13)).toMatchObject([{ cleared: 0 }]);
  expect(latestAttempt).not.toHaveBeenCalled();
});
