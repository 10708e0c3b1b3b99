import { describe, expect, test } from "vitest";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { data, openLocalHub } from "../support/hub.ts";
import { openTarget, openWebhook, type TargetAnswer } from "../support/target.ts";

const suspended = "suspended-after-failure";

describe("A webhook whose deliveries fail", () => {
  test("is suspended after exactly five failed deliveries in a row, each with all its attempts", async () => {
    const { hub, target, id } = await openWebhook([500]);
    for (let delivery = 1; delivery <= 5; delivery += 1) {
      expect(await hub.get(id)).toMatchObject({ disabled: false });
      await hub.trigger();
      expect(target.requests).toHaveLength(3 * delivery);
    }
    expect(await hub.get(id)).toMatchObject({ disabled: suspended });
    expect((await hub.request("GET /api/settings/webhooks")).body).toMatchObject([{ disabled: suspended }]);
  });

  test.each([1, 2, 7, Number.POSITIVE_INFINITY])("is suspended after %d failures", async (suspendAfter) => {
    const { hub, id } = await openWebhook([404], { suspendAfter, attempts: 1 });
    for (let delivery = 1; delivery < Math.min(suspendAfter, 9); delivery += 1) await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: false });
    if (suspendAfter === Number.POSITIVE_INFINITY) return;
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: suspended });
  });

  test("starts counting again after a success", async () => {
    const { hub, target, id } = await openWebhook([], { suspendAfter: 3, attempts: 1 });
    for (const status of [500, 500, 200, 500, 500]) {
      target.answerWith(status);
      await hub.trigger();
    }
    expect(await hub.get(id)).toMatchObject({ disabled: false });
    target.answerWith(500);
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: suspended });
  });

  test("is not suspended if it was disabled during the attempt", async () => {
    const hub = await openLocalHub({ suspendAfter: 1, attempts: 1 });
    const target = await openTarget((_request, response) => {
      hub.setState(id, "disable").then(() => response.writeHead(500).end());
    });
    const { id } = await hub.create({ url: target.url });
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: true });
  });

  test("is also suspended for timeouts, closed connections and refused connections", async () => {
    const hangUp: TargetAnswer = (_request, response) => void response.destroy();
    const { hub, id } = await openWebhook([() => {}, hangUp], { suspendAfter: 3, attempts: 1, timeout: 50 });
    await hub.trigger();
    await hub.trigger();
    await hub.update(id, { url: "http://127.0.0.1:1/" });
    expect(await hub.get(id)).toMatchObject({ disabled: false });
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: suspended });
  });
});

describe("A suspended webhook", () => {
  test("does not fire, and drops the retries of earlier deliveries", async () => {
    const hub = await openLocalHub({ suspendAfter: 1, attempts: 2, backoff: 300 });
    const target = await openTarget(500);
    const { id } = await hub.create({ url: target.url });
    const first = hub.trigger();
    await target.hasReceived(1);
    // A secret that is not valid in a header is not retried, so this delivery fails immediately and suspends the
    // webhook.
    await hub.update(id, { url: target.url, secret: "\x7f" });
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: suspended });
    expect(await first).toMatchObject([{ webhookId: id }]);
    expect(await hub.trigger()).toEqual([]);
    expect(target.requests).toHaveLength(1);
    await hub.update(id, { url: target.url });
    await hub.setState(id, "enable");
    await hub.trigger();
    expect(target.requests.map(({ line }) => line)).toHaveLength(3);
  });

  test("is enabled with its failure count reset to 0", async () => {
    const { hub, id } = await openWebhook([500], { suspendAfter: 2, attempts: 1 });
    await hub.trigger();
    await hub.trigger();
    expect(await hub.setState(id, "enable")).toMatchObject({ disabled: false });
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: false });
    await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: suspended });
  });
});

describe("The daily limit of triggers", () => {
  const hour = 3_600_000;

  test("stops a webhook until a day after its first trigger", async () => {
    const clock = { now: Date.UTC(2026, 0, 31, 9) };
    const { hub, target, id } = await openWebhook([], { triggersPerDay: 3, now: () => clock.now });
    for (const fires of [1, 1, 1, 0, 0]) {
      expect(await hub.trigger()).toHaveLength(fires);
      clock.now += hour;
    }
    expect(await hub.get(id)).toMatchObject({ disabled: false, lastTriggerAt: "2026-01-31T11:00:00.000Z" });
    clock.now = Date.UTC(2026, 1, 1, 9) - 1;
    expect(await hub.trigger()).toEqual([]);
    clock.now += 1;
    for (const fires of [1, 1, 1, 0]) expect(await hub.trigger()).toHaveLength(fires);
    expect(target.requests).toHaveLength(6);
  });

  test("does not apply to a day in the future, from which the clock was set back", async () => {
    const clock = { now: Date.UTC(2030, 0, 31) };
    const { hub } = await openWebhook([], { triggersPerDay: 1, now: () => clock.now });
    await hub.trigger();
    clock.now = Date.UTC(2026, 0, 31);
    expect(await hub.trigger()).toHaveLength(1);
    expect(await hub.trigger()).toEqual([]);
  });

  test("applies to each webhook separately, and does not count retries and replays", async () => {
    const { hub, target, id } = await openWebhook([500, 500, 200], { triggersPerDay: 1 });
    const [delivery] = await hub.trigger();
    const other = await hub.create({ url: target.url });
    expect(await hub.trigger()).toMatchObject([{ webhookId: other.id }]);
    expect(await hub.replay(id, delivery?.logId)).toEqual({ status: 200 });
  });

  test("is 1,000 by default", async () => {
    const hub = await openLocalHub({ now: () => 0 });
    const { id } = await hub.create({ job: { flavor: "cpu-basic" } });
    await hub.hub.push(data);
    const { webhooks } = contextOf(hub.hub).store;
    const stored = webhooks.get(id);
    if (stored) webhooks.put({ ...stored, triggersToday: stored.triggersToday + 998 });
    expect(await hub.hub.push(data)).toHaveLength(1);
    expect(await hub.hub.push(data)).toEqual([]);
  });
});
