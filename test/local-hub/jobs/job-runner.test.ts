import { setTimeout } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createId } from "../../../src/local-hub/accounts.ts";
import { JobRunner } from "../../../src/local-hub/jobs/job-runner.ts";
import { streamJobEvents } from "../../../src/local-hub/jobs/job-streams.ts";
import type { StoredJob } from "../../../src/local-hub/store/job-store.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { jobs, openLocalHub, output, pushed, secret, waitForJobs } from "../support/hub.ts";

const id = expect.stringMatching(/^[0-9a-f]{24}$/);
const account = { id, name: "local-user" };

describe("A webhook with a job", () => {
  test("records a job, but runs nothing unless runJobs is set", async () => {
    const hub = await openLocalHub({ now: () => Date.UTC(2026, 0, 31) });
    const owner = { ...account, type: "user", avatarUrl: `${hub.url}/avatars/local-user.svg` };
    const definition = {
      ...{ flavor: "a10g-small", dockerImage: "python:3.13", spaceId: "acme/demo", arch: "arm64" },
      ...{ command: ["false"], arguments: ["", "--fast"], labels: { team: "data", empty: "" } },
      volumes: [{ type: "bucket", source: "acme/files", mountPath: "/files", readOnly: true, path: "a" }],
    };
    const { id: webhookId } = await hub.create({
      secret,
      job: {
        ...{ ...definition, environment: { LOG_LEVEL: "debug" }, secrets: { HF_TOKEN: secret } },
        ...{ timeoutSeconds: 60, attempts: 3 },
      },
    });
    const [delivery] = await hub.trigger();
    expect(delivery).toMatchObject({ webhookId, status: 200 });
    const [entry] = await hub.entries(webhookId);
    const body = entry?.request.body ?? "";
    const { body: answer } = await hub.request("GET /_local/jobs", { token: null });
    expect(answer).toEqual([
      {
        type: "job",
        id,
        createdAt: "2026-01-31T00:00:00.000Z",
        durations: { totalSecs: 0 },
        initiator: { type: "webhook", id: webhookId },
        owner,
        createdBy: account,
        ...definition,
        environment: {
          LOG_LEVEL: "debug",
          WEBHOOK_PAYLOAD: body,
          WEBHOOK_REPO_ID: "me/data",
          WEBHOOK_REPO_TYPE: "dataset",
          WEBHOOK_ID: delivery?.deliveryId,
        },
        secrets: ["HF_TOKEN", "WEBHOOK_SECRET"],
        timeout: 60,
        retry: 2,
        status: { stage: "SCHEDULING", message: expect.stringContaining("--run-jobs") },
      },
    ]);
    const [made] = await jobs(hub);
    expect(made).toEqual(hub.hub.jobs()[0]);
    expect(JSON.parse(body)).toMatchObject({
      event: pushed.event,
      repo: { name: "me/data" },
      webhook: { id: webhookId },
    });
    expect(entry).toMatchObject({ status: 200, attempt: 1, error: null, request: { headers: {} } });
    expect(entry?.response?.body).toContain(made?.id);
    expect(JSON.stringify([answer, hub.log.lines, entry])).not.toContain(secret);
  });

  test("records a new job for a replay, and jobs of the user of the webhook", async () => {
    const hub = await openLocalHub();
    const made = await hub.create({ job: { flavor: "cpu-basic" } });
    const [delivery] = await hub.trigger();
    expect(await hub.replay(made.id, delivery?.logId)).toEqual({ status: 200 });
    const [second, first] = await jobs(hub);
    expect(second?.id).not.toBe(first?.id);
    expect(second?.environment).toEqual(first?.environment);
    const repo = { type: "model", name: "me/other" } as const;
    await hub.create({ job: { flavor: "cpu-basic" }, watched: [repo] }, { token: "hf_other" });
    await hub.trigger({ ...pushed, repo });
    expect((await jobs(hub))[0]).toMatchObject({ owner: { name: "other-user" }, createdBy: { name: "other-user" } });
  });
});

/** Opens a runner, and returns a function that runs a command as a job. */
function openRunner(now: () => number = () => 1) {
  const store = openStore({});
  const log = createMemoryLogger();
  const runner = new JobRunner({ store: store.jobs, runJobs: true, createId, log, now });
  onTestFinished(async () => {
    await runner.close();
    store.close();
  });
  const run = (command: string[], attempts = 1) => {
    const definition = { flavor: "cpu-basic", command, environment: {}, timeoutSeconds: null, attempts } as const;
    return runner.run({ owner: "me", createdBy: "me", definition, secrets: {} }).id;
  };
  return { store, log, runner, run };
}

test("A job keeps the time of its first start when it is started again", async () => {
  let now = 0;
  const { store, run } = openRunner(() => ++now);
  const id = run(["false"], 3);
  await waitFor(() => expect(store.jobs.get(id)).toMatchObject({ stage: "ERROR", failureCount: 3 }));
  expect(store.jobs.get(id)).toMatchObject({ createdAt: 1, startedAt: 2, finishedAt: now });
});

test("The last line of a job is stored before the end of the job", async () => {
  const { store, run } = openRunner();
  const changed: string[] = [];
  store.watch((table) => changed.push(table));
  const id = run(["printf", "last"]);
  await waitFor(() => expect(store.jobs.get(id)).toMatchObject({ stage: "COMPLETED" }), { interval: 5 });
  await setTimeout(0);
  expect(store.jobs.lines(id, { after: 1, limit: 10 })).toMatchObject([{ data: "last" }]);
  expect(changed.at(-1)).toBe("jobs");
});

test("A job whose output cannot be stored runs to its end, and does not end the local Hub", async () => {
  const { store, log, run } = openRunner();
  vi.spyOn(store.jobs, "addLines").mockImplementation(() => {
    throw new Error("database or disk is full");
  });
  const id = run(["printf", "one\ntwo"]);
  await waitFor(() => expect(store.jobs.get(id)).toMatchObject({ stage: "COMPLETED" }), { interval: 5 });
  expect(log.lines).toContainEqual(expect.objectContaining({ level: "error", job: id }));
});

test("The stream of a job has an event for each change of its status, and then ends", async () => {
  const status = fc.record({
    stage: fc.constantFrom("SCHEDULING" as const, "RUNNING" as const),
    message: fc.constantFrom(null, "waiting"),
    failureCount: fc.nat(2),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(status, { maxLength: 12, size: "max" }), async (statuses) => {
      const store = openStore({});
      const log = createMemoryLogger();
      const runner = new JobRunner({ store: store.jobs, runJobs: false, createId, log, now: () => 1 });
      const process = { command: ["true"], environment: {}, timeoutSeconds: null, attempts: 3 };
      const definition = { flavor: "cpu-basic" as const, ...process };
      const job = { id: "job", owner: "me", createdBy: "me", createdAt: 1, definition };
      const first = { stage: "SCHEDULING", message: null, failureCount: 0 } as const;
      store.jobs.add({ ...job, ...first, secretNames: [] }, {});
      const describeStatus = ({ stage, message, failureCount }: StoredJob) => ({ stage, message, failureCount });
      const source = { store: store.jobs, runner };
      const reader = streamJobEvents(source, { jobId: "job", describe: describeStatus }).getReader();
      const read = async () => new TextDecoder().decode((await reader.read()).value);
      const eventOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`;
      await read();
      expect(await read()).toBe(eventOf(first));
      let latest: object = first;
      for (const next of [...statuses, { stage: "COMPLETED" as const, message: null, failureCount: 0 }]) {
        store.jobs.update({ ...job, ...next, secretNames: [] });
        runner.changes.notify("job");
        if (eventOf(next) === eventOf(latest)) continue;
        latest = next;
        expect(await Promise.race([read(), setTimeout(1_000, "no event")])).toBe(eventOf(next));
      }
      expect(await reader.read()).toMatchObject({ done: true });
      store.close();
    }),
    { numRuns: 30 },
  );
});

describe("A webhook with the id of an earlier job", () => {
  test("runs that job again with the new payload", async () => {
    const hub = await openLocalHub({ runJobs: true });
    const source = await hub.create({
      job: {
        flavor: "t4-small",
        command: ["sh", "-c"],
        // Prints the lengths, because printed secrets are masked.
        arguments: [
          'echo "$KIND $WEBHOOK_REPO_ID $(printf %s "$API_KEY" | wc -c) $(printf %s "$WEBHOOK_SECRET" | wc -c)"',
        ],
        environment: { KIND: "x" },
        secrets: { API_KEY: "of the job" },
      },
      secret,
    });
    await hub.trigger();
    const [earlier] = await waitForJobs(hub);
    await hub.delete(source.id);
    await hub.create({ jobSourceId: earlier?.id, watched: [{ type: "model", name: "me/net" }] });
    const [delivery] = await hub.trigger({ ...pushed, repo: { type: "model", name: "me/net" } });
    const [made] = await waitForJobs(hub, 2);
    expect(made).toMatchObject({
      flavor: "t4-small",
      command: ["sh", "-c"],
      environment: {
        KIND: "x",
        WEBHOOK_REPO_ID: "me/net",
        WEBHOOK_REPO_TYPE: "model",
        WEBHOOK_ID: delivery?.deliveryId,
      },
      status: { stage: "COMPLETED" },
    });
    expect(made?.id).not.toBe(earlier?.id);
    expect(earlier?.secrets).toEqual(["API_KEY", "WEBHOOK_SECRET"]);
    expect(made?.secrets).toEqual(["API_KEY"]);
    expect(output(hub)).toEqual([`x me/data 10 ${secret.length}`, "x me/net 10 0"]);
  });

  test("records a failed job with the reason if there is no such job", async () => {
    const hub = await openLocalHub({ runJobs: true });
    await hub.create({ jobSourceId: "no-such-job" });
    expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
    const status = { stage: "ERROR", message: expect.stringContaining("no-such-job") };
    expect(await jobs(hub)).toMatchObject([{ status }]);
  });

  test("does not run the job of another user", async () => {
    const hub = await openLocalHub();
    const jobSourceId = await hub.runJob({ command: ["true"], secrets: { API_KEY: secret } });
    await hub.create({ jobSourceId }, { token: "hf_other" });
    await hub.trigger();
    const [made] = await jobs(hub);
    expect(made).toMatchObject({ owner: { name: "other-user" }, status: { stage: "ERROR" } });
    expect([made?.command, made?.secrets]).toEqual([undefined, undefined]);
  });
});
