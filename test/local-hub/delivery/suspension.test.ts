import { describe, expect, test } from "vitest";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { waitFor } from "../../support/wait-for.ts";
import { data, openLocalHub, pushed, secret, type TestHub } from "../support/hub.ts";
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

  test("is never suspended without a limit", async () => {
    const { hub, id } = await openWebhook([404], { suspendAfter: Number.POSITIVE_INFINITY, attempts: 1 });
    for (let delivery = 1; delivery < 9; delivery += 1) await hub.trigger();
    expect(await hub.get(id)).toMatchObject({ disabled: false });
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
    const { hub, target, id } = await openWebhook([500], { suspendAfter: 1, attempts: 2, backoff: 300 });
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

describe("A replay", () => {
  test("sends the delivery again with its id, and adds an entry to the log", async () => {
    const { hub, target, id } = await openWebhook([500, 500, 200, 202]);
    const [delivery] = await hub.trigger();
    const before = await hub.entries(id);
    for (const logId of [before[2]?.logId, before[0]?.logId])
      expect(await hub.replay(id, logId)).toEqual({ status: 202 });
    expect(new Set(target.ids)).toEqual(new Set([delivery?.deliveryId]));
    expect(new Set(target.requests.map(({ body }) => body)).size).toBe(1);
    const after = await hub.entries(id);
    expect(after.map(({ attempt, status }) => [attempt, status])).toEqual([
      [5, 202],
      [4, 202],
      [3, 200],
      [2, 500],
      [1, 500],
    ]);
    expect(after.slice(2)).toEqual(before);
    expect(new Set(after.map(({ logId }) => logId)).size).toBe(5);
    expect(after[0]?.deliveryId).toBe(delivery?.deliveryId);
  });

  test("is sent to the current URL with the current secret", async () => {
    const before = await openTarget();
    const now = await openTarget();
    const hub = await openLocalHub();
    const { id } = await hub.create({ url: before.url, secret: "the one of before" });
    const [delivery] = await hub.trigger();
    await hub.update(id, { url: now.url, secret });
    await hub.replay(id, delivery?.logId);
    expect(before.requests).toHaveLength(1);
    expect(now.requests).toMatchObject([
      { body: before.requests[0]?.body, headers: { "webhook-id": delivery?.deliveryId, "x-webhook-secret": secret } },
    ]);
    await hub.update(id, { url: now.url });
    await hub.replay(id, delivery?.logId);
    expect(now.requests[1]?.headers).not.toHaveProperty("x-webhook-secret");
  });

  test("sends the original payload, regardless of later changes", async () => {
    const { hub, target, id } = await openWebhook();
    const [delivery] = await hub.trigger();
    await hub.trigger();
    await hub.trigger({ repo: pushed.repo, event: { scope: "repo", action: "delete" } });
    await hub.replay(id, delivery?.logId);
    expect(target.requests.at(-1)?.body).toBe(target.requests[0]?.body);
  });

  test("returns 502 if the receiver is unreachable, and the log entry has the status null", async () => {
    const { hub, target, id } = await openWebhook();
    const [delivery] = await hub.trigger();
    await hub.update(id, { url: "http://127.0.0.1:1/" });
    expect(await hub.replay(id, delivery?.logId)).toEqual({ status: 502 });
    expect((await hub.entries(id))[0]).toMatchObject({ status: null, attempt: 2, url: "http://127.0.0.1:1/" });
    await hub.update(id, { url: target.url, secret: "\x7f" });
    expect(await hub.replay(id, delivery?.logId)).toEqual({ status: 502 });
  });

  test("is attempted once, and does not change the state of the webhook", async () => {
    const { hub, target, id } = await openWebhook([200, 500], { suspendAfter: 1 });
    const [delivery] = await hub.trigger();
    const before = await hub.get(id);
    expect(await hub.replay(id, delivery?.logId)).toEqual({ status: 500 });
    expect(target.requests).toHaveLength(2);
    expect(await hub.get(id)).toEqual(before);
  });

  test.each(["suspended", "disabled"])("works while the webhook is %s", async (state) => {
    const { hub, target, id } = await openWebhook([500], { suspendAfter: 1, attempts: 1 });
    const [delivery] = await hub.trigger();
    if (state === "disabled") await hub.setState(id, "disable");
    const { disabled } = await hub.get(id);
    target.answerWith(200);
    expect(await hub.replay(id, delivery?.logId)).toEqual({ status: 200 });
    expect(await hub.get(id)).toMatchObject({ disabled });
  });

  test("during a retry gets its own attempt number", async () => {
    const { hub, target, id } = await openWebhook([500, 202, 200], { backoff: 150 });
    const fired = hub.trigger();
    await target.hasReceived(1);
    const [first] = await logged(hub, id, 1);
    await hub.replay(id, first?.logId);
    await fired;
    expect((await hub.entries(id)).map(({ attempt }) => attempt)).toEqual([3, 2, 1]);
  });

  test("of a webhook that is deleted in the meantime leaves no log entry", async () => {
    const hub = await openLocalHub();
    const target = await openTarget(200, (_request, response) => {
      hub.delete(id).then(() => response.end());
    });
    const { id } = await hub.create({ url: target.url });
    const [delivery] = await hub.trigger();
    expect(await hub.replay(id, delivery?.logId)).toEqual({ status: 200 });
    expect(hub.hub.deliveries(id)).toEqual([]);
  });
});

async function logged(hub: TestHub, id: string, count: number) {
  return waitFor(async () => {
    const entries = await hub.entries(id);
    expect(entries).toHaveLength(count);
    return entries;
  });
}
