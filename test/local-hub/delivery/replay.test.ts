import { describe, expect, test } from "vitest";
import { waitFor } from "../../support/wait-for.ts";
import { openLocalHub, pushed, secret, type TestHub } from "../support/hub.ts";
import { openTarget, openWebhook } from "../support/target.ts";

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
    const target = await openTarget(200, 500);
    const hub = await openLocalHub({ suspendAfter: 1 });
    const made = await hub.create({ url: target.url });
    const [delivery] = await hub.trigger();
    const before = await hub.get(made.id);
    expect(await hub.replay(made.id, delivery?.logId)).toEqual({ status: 500 });
    expect(target.requests).toHaveLength(2);
    expect(await hub.get(made.id)).toEqual(before);
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
