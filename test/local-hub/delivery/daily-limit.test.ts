import { describe, expect, test } from "vitest";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { data, openLocalHub } from "../support/hub.ts";
import { openWebhook } from "../support/target.ts";

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
