import { describe, expect, test, vi } from "vitest";
import { createHubApp } from "../../../src/local-hub/app.ts";
import { createHubConsole } from "../../../src/local-hub/console/hub-console.ts";
import { FaultyDelivery } from "../../../src/local-hub/delivery/faults.ts";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { createRepository } from "../../../src/local-hub/resources/repositories/repository-changes.ts";
import { DeliveryStore } from "../../../src/local-hub/store/delivery-store.ts";
import { JobStore } from "../../../src/local-hub/store/job-store.ts";
import type { DeliveryFaults } from "../../../src/local-hub.ts";
import { createMemoryLogger, type LogLine } from "../../support/memory-logger.ts";
import { watchTimers } from "../../support/timers.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openContext } from "../support/context.ts";
import { data, openLocalHub, pushed, secret, type TestHub } from "../support/hub.ts";
import { neverRespond, openTarget, openWebhook, type TargetAnswer } from "../support/target.ts";

describe("A delivery", () => {
  test("is a JSON POST request with its id and the secret", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    await hub.create({ url: `${target.url}/a%20b?page=1&x=%C3%BC#top`, secret });
    const [delivery] = await hub.trigger({ ...pushed, note: "größer als gedacht" });
    const [request] = target.requests;
    expect(request?.line).toBe("POST /hook/a%20b?page=1&x=%C3%BC");
    expect(request?.headers).toEqual({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(request?.body ?? "")),
      "user-agent": expect.stringMatching(/\w/),
      "webhook-id": delivery?.deliveryId,
      "x-webhook-secret": secret,
      host: new URL(target.url).host,
      connection: "keep-alive",
    });
    expect(request?.body).toContain("größer als gedacht");
  });

  test("contains the secret unchanged", async () => {
    const { hub, target, id } = await openWebhook();
    for (const unusual of ["~!@#$%^&*()_+ {}|:\"<>?`-=[]\\;',./", "a", "x".repeat(4_000), "a  b"]) {
      await hub.update(id, { url: target.url, secret: unusual });
      expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
      expect(target.requests.at(-1)?.headers["x-webhook-secret"]).toBe(unusual);
    }
  });
});

test("The duration of an attempt is not negative if the clock is set back", async () => {
  const clock = { now: Date.UTC(2026, 0, 31) };
  const setBack: TargetAnswer = (_request, response) => {
    clock.now -= 1_000;
    response.end();
  };
  const { hub } = await openWebhook([setBack], { now: () => clock.now });
  expect(await hub.trigger()).toMatchObject([{ durationMs: 0 }]);
});

test("An event whose change is rolled back is not delivered", async () => {
  const { hub, target } = await openWebhook();
  const context = contextOf(hub.hub);
  context.store.transaction((rollBack) => {
    createRepository(context, { ...data, user: "local-user" });
    rollBack();
  });
  await hub.trigger();
  expect(target.payloads).toMatchObject([{ event: pushed.event }]);
});

test("A secret that is invalid in an HTTP header is logged as a failed delivery without a request", async () => {
  const { hub, target, id } = await openWebhook();
  for (const invalid of ["a\x7fb", "\x7f", " a", "a ", " "]) {
    expect(await hub.update(id, { url: target.url, secret: invalid })).toMatchObject({ secret: invalid });
    expect(await hub.trigger(), invalid).toMatchObject([{ webhookId: id, status: null }]);
    const failure = { attempt: 1, status: null, response: null, error: expect.stringContaining("secret") };
    expect((await hub.entries(id))[0]).toMatchObject(failure);
  }
  expect(target.requests).toEqual([]);
  expect(await hub.entries(id)).toHaveLength(5);
});

/** Returns the lines of a log that are warnings or errors. */
function alarms({ log }: TestHub): LogLine[] {
  return log.lines.filter(({ level }) => level === "warn" || level === "error");
}

describe("The log of a local Hub", () => {
  test("contains a line for each attempt, with its status, duration, ids and the reason of a failure", async () => {
    const { hub, id } = await openWebhook([500, 200], { now: () => 0 });
    const [delivery] = await hub.trigger();
    const logIds = (await hub.entries(id)).map(({ logId }) => logId).reverse();
    const shared = { webhook: id, deliveryId: delivery?.deliveryId, ms: 0 };
    expect(hub.log.lines).toEqual([
      {
        ...{ ...shared, level: "warn", status: 500, attempt: 1, logId: logIds[0] },
        ...{ msg: expect.any(String), reason: expect.stringContaining("200 to 299") },
      },
      { ...shared, level: "info", status: 200, attempt: 2, logId: logIds[1], msg: expect.any(String) },
    ]);
  });

  test("contains one warning when a webhook is suspended, and one for the dropped deliveries", async () => {
    const { hub, target, id } = await openWebhook([neverRespond, 500], { attempts: 1, suspendAfter: 1 });
    const waiting = hub.trigger();
    await target.hasReceived(1);
    await hub.trigger();
    await waiting;
    expect(alarms(hub)).toEqual([
      expect.objectContaining({ level: "warn", webhook: id, status: 500 }),
      { level: "warn", webhook: id, failures: 1, msg: expect.stringContaining("suspended") },
      { level: "warn", webhook: id, deliveries: 1, msg: expect.any(String) },
    ]);
    expect(await hub.get(id)).toMatchObject({ disabled: "suspended-after-failure" });
  });

  test("contains a warning when a webhook has used its daily triggers", async () => {
    const { hub, id } = await openWebhook([], { triggersPerDay: 1 });
    await hub.trigger();
    expect(alarms(hub)).toEqual([]);
    await hub.trigger();
    expect(alarms(hub)).toEqual([{ level: "warn", webhook: id, triggersPerDay: 1, msg: expect.any(String) }]);
  });

  test("contains a line for an event that no webhook watches, and a warning for an unknown scope", async () => {
    const hub = await openLocalHub();
    await hub.trigger(pushed);
    const fields = { repo: "dataset:me/data", scope: "repo.content", action: "update" };
    expect(hub.log.lines).toEqual([{ level: "info", ...fields, msg: expect.any(String) }]);
    for (const event of [
      { scope: "repo.moon", action: "update" },
      { scope: "repo.content", action: "wax" },
    ]) {
      await hub.trigger({ repo: data, event });
      expect(alarms(hub).at(-1)).toEqual({ level: "warn", ...fields, ...event, msg: expect.any(String) });
    }
    expect(alarms(hub)).toHaveLength(2);
  });

  test("contains the error of a delivery whose result could not be stored, which is sent again", async () => {
    const failure = new Error("The disk is full.");
    const { hub, target } = await openWebhook([], { timeout: "500ms" });
    using _addAttempt = vi.spyOn(DeliveryStore.prototype, "addAttempt").mockImplementationOnce(() => {
      throw failure;
    });
    const [delivery] = await hub.trigger();
    expect(delivery).toMatchObject({ status: 200, attempts: 1 });
    expect(alarms(hub)).toMatchObject([{ level: "error", err: failure, deliveryId: delivery?.deliveryId }]);
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId]);
  });

  test("contains the error of a job that could not be run, and the next one is run", async () => {
    const failure = new Error("The disk is full.");
    using _update = vi.spyOn(JobStore.prototype, "update").mockImplementationOnce(() => {
      throw failure;
    });
    const hub = await openLocalHub({ runJobs: true });
    await hub.create({ job: { flavor: "cpu-basic", command: ["true"] } });
    await hub.trigger();
    await expect.poll(() => alarms(hub)).toMatchObject([{ level: "error", err: failure }]);
    await hub.trigger();
    await expect.poll(() => hub.hub.jobs().map(({ status }) => status.stage)).toContain("COMPLETED");
  });

  test("contains the error behind a 500, and the response does not", async () => {
    const failure = new Error("The disk is full.");
    const log = createMemoryLogger();
    const reset = () => {
      throw failure;
    };
    const context = { ...openContext().context, log, reset };
    const app = createHubApp(context, { console: createHubConsole(context) });
    const headers = { "content-type": "application/json", host: "127.0.0.1:5050" };
    const response = await app.request("/_local/reset", { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("disk");
    expect(log.lines).toEqual([{ level: "error", err: failure, msg: expect.any(String) }]);
  });
});

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
    const { hub: local, target } = await openWebhook([neverRespond]);
    // More than may run at the same time: the others stay in the queue.
    for (let event = 0; event < 20; event += 1) await local.trigger(pushed, { wait: false });
    await target.hasReceived(16);
    using getPending = vi.spyOn(DeliveryStore.prototype, "getPending");
    await local.hub.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(getPending).not.toHaveBeenCalled();
    expect(local.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("a receiver that does not respond does not block other webhooks", async () => {
    const { hub, target: silent } = await openWebhook([neverRespond]);
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
  test.each<[string, (local: TestHub, id: string) => unknown]>([
    ["disabling its webhook", (local, id) => local.setState(id, "disable")],
    ["deleting its webhook", (local, id) => local.delete(id)],
    ["a reset", (local) => local.hub.reset()],
    ["a close", (local) => local.hub.close()],
  ])("leaves no timer after %s, and waiting callers get its last result", async (_what, end) => {
    const { hub: local, id } = await openWebhook([500], { backoff: "1h", now: () => 0 });
    const timers = watchTimers();
    const waiting = local.hub.push(data);
    await waitFor(() => expect(local.hub.deliveries(id)).toHaveLength(1));
    const [entry] = local.hub.deliveries(id);
    expect(timers.of(3_600_000)).toMatchObject([{ cleared: 0 }]);
    await end(local, id);
    expect(timers.of(3_600_000)).toMatchObject([{ cleared: 1 }]);
    expect(await waiting).toMatchObject([{ webhookId: id, logId: entry?.logId, status: 500 }]);
    await local.hub.close();
    expect(timers.of(3_600_000)).toMatchObject([{ cleared: 1 }]);
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
  using latestAttempt = vi.spyOn(DeliveryStore.prototype, "latestAttempt");
  const timers = watchTimers();
  const { hub: local } = await openWebhook([500, 200], { backoff: 13, timeout: "19s", now: () => 0 });
  expect(await local.hub.push(data)).toMatchObject([{ status: 200, attempts: 2 }]);
  expect(timers.of(19_000)).toMatchObject([{ cleared: 1 }, { cleared: 1 }]);
  latestAttempt.mockClear();
  await local.hub.close();
  expect(timers.of(13)).toMatchObject([{ cleared: 0 }]);
  expect(latestAttempt).not.toHaveBeenCalled();
});

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
    const set = (faults: object) => hub.request("PUT /_local/delivery-faults", { token: null, body: faults });
    expect(await set({ drop: 2 })).toMatchObject({ status: 400 });
    expect(await set({ drop: 1 })).toMatchObject({ status: 200 });
    await hub.hub.push(data);
    expect(target.requests).toHaveLength(1);
    hub.hub.reset();
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
