import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createHubApp } from "../../../src/local-hub/app.ts";
import { createHubConsole } from "../../../src/local-hub/console/hub-console.ts";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { createRepository } from "../../../src/local-hub/resources/repositories/repository-changes.ts";
import { DeliveryStore } from "../../../src/local-hub/store/delivery-store.ts";
import { JobStore } from "../../../src/local-hub/store/job-store.ts";
import { createMemoryLogger, type LogLine } from "../../support/memory-logger.ts";
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
    const addAttempt = vi.spyOn(DeliveryStore.prototype, "addAttempt").mockImplementationOnce(() => {
      throw failure;
    });
    onTestFinished(() => void addAttempt.mockRestore());
    const [delivery] = await hub.trigger();
    expect(delivery).toMatchObject({ status: 200, attempts: 1 });
    expect(alarms(hub)).toMatchObject([{ level: "error", err: failure, deliveryId: delivery?.deliveryId }]);
    expect(target.ids).toEqual([delivery?.deliveryId, delivery?.deliveryId]);
  });

  test("contains the error of a job that could not be run, and the next one is run", async () => {
    const failure = new Error("The disk is full.");
    const update = vi.spyOn(JobStore.prototype, "update").mockImplementationOnce(() => {
      throw failure;
    });
    onTestFinished(() => void update.mockRestore());
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
