import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createHubApp } from "../../../src/local-hub/app.ts";
import { BucketFaults } from "../../../src/local-hub/buckets/faults.ts";
import { createHubConsole } from "../../../src/local-hub/console/hub-console.ts";
import { Dispatcher } from "../../../src/local-hub/delivery/dispatcher.ts";
import { HttpSender } from "../../../src/local-hub/delivery/http-sender.ts";
import type { HubContext } from "../../../src/local-hub/hub-context.ts";
import { createId, createSha } from "../../../src/local-hub/ids.ts";
import { JobRunner } from "../../../src/local-hub/jobs/job-runner.ts";
import { AuditLog } from "../../../src/local-hub/resources/organizations/audit-log.ts";
import { JobStore } from "../../../src/local-hub/store/job-store.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import { createMemoryLogger, type LogLine } from "../../support/memory-logger.ts";
import { data, openLocalHub, pushed, type TestHub } from "../support/hub.ts";
import { neverRespond, openTarget, openWebhook } from "../support/target.ts";

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

  test("contains the error of a delivery that could not be processed, and the next one is delivered", async () => {
    const failure = new Error("The clock is broken.");
    const clock = { isBroken: false };
    const target = await openTarget((_request, response) => {
      clock.isBroken = target.requests.length === 1;
      response.end();
    });
    const hub = await openLocalHub({
      now() {
        if (clock.isBroken) throw failure;
        return 0;
      },
    });
    await hub.create({ url: target.url });
    const [delivery] = await hub.trigger(pushed, { wait: false });
    await expect.poll(() => alarms(hub)).toHaveLength(1);
    expect(alarms(hub)).toMatchObject([{ level: "error", err: failure, deliveryId: delivery?.deliveryId }]);
    clock.isBroken = false;
    expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
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
    const store = openStore({});
    onTestFinished(() => store.close());
    const log = createMemoryLogger();
    const failure = new Error("The disk is full.");
    const hubUrl = "http://127.0.0.1:5050";
    const now = () => 0;
    const parts = { store, hubUrl, now, createId, log };
    const jobs = new JobRunner({ ...parts, store: store.jobs, runJobs: false });
    const sender = new HttpSender({ allowRemote: false });
    const limits = { attempts: 1, backoffMs: 1, timeoutMs: 1, suspendAfter: 1, triggersPerDay: 1 };
    const context: HubContext = {
      ...{ ...parts, createSha, runJobs: false, allowRemote: false, startedAt: new Date(0) },
      jobs,
      bucketFaults: new BucketFaults(),
      dispatcher: new Dispatcher({ ...parts, sender, jobs, limits }),
      auditLog: new AuditLog({ ...parts, store: store.auditLog }),
      reset() {
        throw failure;
      },
    };
    const app = createHubApp(context, { console: createHubConsole(context) });
    const response = await app.request(`${hubUrl}/_local/reset`, {
      method: "POST",
      headers: { "content-type": "application/json", host: "127.0.0.1:5050" },
      body: "{}",
    });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("disk");
    expect(log.lines).toEqual([{ level: "error", err: failure, msg: expect.any(String) }]);
  });
});
