import { syncBuiltinESMExports } from "node:module";
import timers, { setTimeout } from "node:timers/promises";
import * as fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, type MockInstance, onTestFinished, test, vi } from "vitest";
import * as z from "zod";
import { hardwareFlavors } from "../../../src/hub/jobs/definition.ts";
import { job, jobHardware } from "../../../src/hub/jobs/schemas.ts";
import { createId } from "../../../src/local-hub/accounts.ts";
import { JobRunner } from "../../../src/local-hub/jobs/job-runner.ts";
import { streamJobEvents, streamJobLogs } from "../../../src/local-hub/resources/jobs.ts";
import type { StoredJob } from "../../../src/local-hub/store/job-store.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openMemoryStore } from "../support/context.ts";
import {
  jobs,
  openLocalHub,
  output,
  pushed,
  secret,
  shareLocalHub,
  type TestHub,
  waitForJobs,
} from "../support/hub.ts";

const path = "/api/jobs/local-user";
const sleeping = { command: ["sleep", "60"] };

/** Returns the data of the events in a stream. */
function eventsIn(text: string): unknown[] {
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}

/** Reads the stream of a job until it ends. */
async function streamed(hub: TestHub, target: string): Promise<unknown[]> {
  const { status, headers, text } = await hub.request(`GET ${target}`);
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  return eventsIn(text);
}

async function linesOf(hub: TestHub, id: string, query = ""): Promise<string[]> {
  const line = z.strictObject({ timestamp: z.iso.datetime(), data: z.string() });
  return (await streamed(hub, `${path}/${id}/logs${query}`)).map((event) => line.parse(event).data);
}

async function read(hub: TestHub, id: string, options = {}) {
  return job.parse((await hub.request(`GET ${path}/${id}`, options)).body);
}

describe("A job that the API starts", async () => {
  const hub = await shareLocalHub({ runJobs: true });

  test("runs as a process, and its stream contains its output until it ends", async () => {
    const command = ["sh", "-c", 'echo "$GREETING $JOB_ID"; echo "$KEY" >&2; echo done'];
    const environment = { GREETING: "hi" };
    const id = await hub.runJob({ dockerImage: "alpine", command, environment, secrets: { KEY: secret } });
    const lines = await linesOf(hub, id);
    expect(lines[0]).toMatch(/^===== Job started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d =====$/);
    expect(lines.slice(1).sort()).toEqual(["***", "done", `hi ${id}`]);
    const found = await read(hub, id);
    expect(found).toMatchObject({
      ...{ type: "job", dockerImage: "alpine", command, environment, secrets: ["KEY"], flavor: "cpu-basic" },
      ...{ owner: { name: "local-user", type: "user" }, initiator: { type: "user", name: "local-user" } },
      ...{ startedAt: expect.any(String), finishedAt: expect.any(String) },
      durations: { schedulingSecs: 0, runningSecs: expect.any(Number), totalSecs: expect.any(Number) },
      status: { stage: "COMPLETED", message: null },
    });
    expect(hub.hub.jobs()).toContainEqual(found);
    expect(JSON.stringify([lines, found, hub.log.lines])).not.toContain(secret);
  });

  test("can be read from its last lines", async () => {
    const id = await hub.runJob({ command: ["printf", "1\\n2\\n3\\n"] });
    expect((await linesOf(hub, id)).slice(1)).toEqual(["1", "2", "3"]);
    expect(await linesOf(hub, id, "?tail=2")).toEqual(["2", "3"]);
    expect(await linesOf(hub, id, "?tail=0")).toEqual([]);
  });

  test("streams new lines and changes of its status while it runs", async () => {
    const id = await hub.runJob({ command: ["sh", "-c", "echo first; exec sleep 60"] });
    const headers = { authorization: "Bearer hf_local" };
    const response = await fetch(`${hub.url}${path}/${id}/logs`, { headers });
    const reader = response.body?.getReader();
    let text = "";
    while (!text.includes("first")) text += new TextDecoder().decode((await reader?.read())?.value);
    const events = streamed(hub, `${path}/${id}/events`);
    await hub.request(`POST ${path}/${id}/cancel`);
    for (;;) if ((await reader?.read())?.done !== false) break;
    expect(
      z
        .array(job)
        .parse(await events)
        .at(-1)?.status.stage,
    ).toBe("CANCELED");
  });

  test("is canceled: its processes stop, and its stream ends", { tags: "slow" }, async () => {
    const id = await hub.runJob({ command: ["sh", "-c", "sleep 60 & echo $!; wait"] });
    const child = await waitFor(
      async () => {
        const [line] = hub.log.lines.filter(({ msg, job: of }) => msg === "job output" && of === id);
        return z.coerce.number().positive().parse(line?.line);
      },
      { interval: 10 },
    );
    const answer = await hub.request(`POST ${path}/${id}/cancel`);
    expect(job.parse(answer.body).status).toMatchObject({ stage: "CANCELED" });
    await waitFor(() => expect(() => process.kill(child, 0)).toThrow(), { interval: 10 });
    expect((await linesOf(hub, id)).at(-1)).toBe(String(child));
    expect(await read(hub, id)).toMatchObject({ status: { stage: "CANCELED", message: "canceled" } });
  });

  test("is stopped by a reset, and its stream ends", async () => {
    const other = await openLocalHub({ runJobs: true });
    const id = await other.runJob(sleeping);
    const headers = { authorization: "Bearer hf_local" };
    const response = await fetch(`${other.url}${path}/${id}/logs`, { headers });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes("Job started"); ) text += (await reader?.read())?.value ?? "";
    other.hub.reset();
    expect(await reader?.read()).toMatchObject({ done: true });
    expect(other.hub.jobs()).toEqual([]);
  });

  test("is canceled before it runs, and never runs", { tags: "slow" }, async () => {
    const running = await Promise.all([1, 2, 3, 4].map(() => hub.runJob(sleeping)));
    const waiting = await hub.runJob({ command: ["echo", "ran"] });
    expect((await read(hub, waiting)).status).toEqual({ stage: "SCHEDULING", message: null });
    for (const id of [waiting, ...running]) await hub.request(`POST ${path}/${id}/cancel`);
    const next = await hub.runJob({ command: ["echo", "next"] });
    expect((await linesOf(hub, next)).at(-1)).toBe("next");
    expect(await linesOf(hub, waiting)).toEqual([]);
    expect(await read(hub, waiting)).not.toHaveProperty("startedAt");
  });

  test("keeps its result if it is canceled after its end", async () => {
    const id = await hub.runJob({ command: ["false"] });
    await linesOf(hub, id);
    const ended = await read(hub, id);
    expect(ended.status).toEqual({ stage: "ERROR", message: "exit code 1", failureCount: 1 });
    expect((await hub.request(`POST ${path}/${id}/cancel`)).body).toEqual(ended);
  });
});

describe("Without runJobs", () => {
  test("a job is only recorded: its stream contains the reason, and ends", async () => {
    const hub = await openLocalHub();
    const id = await hub.runJob({ command: ["true"] });
    expect(await linesOf(hub, id)).toEqual([expect.stringContaining("--run-jobs")]);
    expect((await streamed(hub, `${path}/${id}/events`)).length).toBe(1);
    const answer = await hub.request(`POST ${path}/${id}/cancel`);
    expect(job.parse(answer.body).status.stage).toBe("CANCELED");
  });

  test("jobs are listed, counted, and found by stage and labels, page by page", async () => {
    const hub = await openLocalHub();
    const ids: string[] = [];
    for (let count = 0; count < 52; count += 1)
      ids.unshift(await hub.runJob({ labels: { n: `${count % 2}`, all: "" } }));
    const listed = async (query: string) => {
      const { headers, body } = await hub.request(`GET ${path}${query}`);
      const found = z
        .array(job)
        .parse(body)
        .map(({ id }) => id);
      return { found, next: /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1]?.replace(hub.url, "") };
    };
    const { found, next } = await listed("?label=all=");
    expect(found).toEqual(ids.slice(0, 50));
    await hub.runJob();
    expect(await listed(next?.replace(path, "") ?? "")).toEqual({ found: ids.slice(50), next: undefined });
    expect((await listed("?label=all=&label=n=1")).found).toHaveLength(26);
    expect((await listed("?stage=RUNNING&stage=ERROR")).found).toEqual([]);
    expect((await hub.request(`GET ${path}/count?stage=SCHEDULING`)).body).toEqual({ count: 53 });
    expect((await hub.request(`GET ${path}?cursor=x`)).status).toBe(400);
  });

  test("a network is returned, and its aliases must differ", async () => {
    const hub = await openLocalHub();
    const id = await hub.runJob({ network: { group: "train", aliases: ["master", "db-1"] } });
    expect((await read(hub, id)).network).toEqual({ group: "train", aliases: ["master", "db-1"] });
    expect((await read(hub, await hub.runJob({ network: { group: "train" } }))).network).toEqual({
      group: "train",
      aliases: [],
    });
    const repeated = { flavor: "cpu-basic", network: { group: "train", aliases: ["a", "a"] } };
    const { status, text } = await hub.request(`POST ${path}`, { body: repeated });
    expect([status, text]).toEqual([400, expect.stringContaining("network.aliases")]);
  });

  test("jobs belong to a user, or to an organization of the user with write access", async () => {
    const hub = await openLocalHub();
    const own = await hub.runJob();
    const inAcme = await hub.runJob({}, { namespace: "acme" });
    const statusOf = async (line: string, token: string, body?: object) =>
      (await hub.request(line, { token, ...(body && { body }) })).status;
    const flavor = { flavor: "cpu-basic" };
    expect(await statusOf(`GET ${path}/${own}`, "hf_read")).toBe(200);
    expect(await statusOf(`POST ${path}`, "hf_read", flavor)).toBe(403);
    expect(await statusOf(`POST ${path}/${own}/cancel`, "hf_read")).toBe(403);
    for (const line of [`GET ${path}/${own}`, `GET ${path}/${own}/logs`, `GET ${path}`, `POST ${path}/${own}/cancel`]) {
      expect(await statusOf(line, "hf_other"), line).toBe(404);
    }
    expect(await statusOf(`POST ${path}`, "hf_other", flavor)).toBe(404);
    expect(await statusOf(`GET /api/jobs/acme/${inAcme}`, "hf_other")).toBe(200);
    expect(await statusOf(`GET /api/jobs/acme/${own}`, "hf_local")).toBe(404);
    expect(await statusOf("POST /api/jobs/acme", "hf_fine", flavor)).toBe(403);
    expect(await statusOf("POST /api/jobs/me", "hf_local", flavor)).toBe(200);
  });
});

test("Each hardware flavor for jobs is listed with a price", async () => {
  const hub = await openLocalHub();
  const { body } = await hub.request("GET /api/jobs/hardware", { token: "hf_read" });
  const hardware = z.array(jobHardware).parse(body);
  const names = hardware.map(({ name }) => name);
  // The Hub does not offer these three for jobs.
  const others = ["sprx8", "zero-a10g", "inf2x6"];
  expect([...names].sort()).toEqual(hardwareFlavors.filter((flavor) => !others.includes(flavor)).sort());
  for (const { name, unitCostMicroUSD, unitCostUSD, unitLabel, accelerator } of hardware) {
    expect(unitCostMicroUSD, name).toBeGreaterThan(0);
    expect(unitCostUSD, name).toBeCloseTo(unitCostMicroUSD / 1_000_000, 9);
    expect([unitLabel, accelerator === null], name).toEqual(["minute", name.startsWith("cpu-")]);
  }
  expect(hardware.find(({ name }) => name === "l40sx4")?.accelerator).toEqual({
    type: "gpu",
    model: "L40S",
    quantity: "4",
    vram: "192 GB",
    manufacturer: "Nvidia",
  });
});

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
      const reader = streamJobEvents(source, "job", describeStatus).getReader();
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

describe("The stream of a log", () => {
  let pauses: MockInstance<typeof timers.setTimeout>;
  // The stream imports the function by name.
  beforeAll(() => {
    pauses = vi.spyOn(timers, "setTimeout");
    syncBuiltinESMExports();
  });
  afterEach(() => pauses.mockReset());
  afterAll(() => {
    pauses.mockRestore();
    syncBuiltinESMExports();
  });

  /** Opens the stream of a job that is running. Each pause ends when its signal is aborted, or when `endPause` is called. */
  function openStream() {
    let endPause = () => {};
    pauses.mockImplementation((_milliseconds, value, { signal } = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<typeof value>();
      endPause = () => resolve(value);
      signal?.addEventListener("abort", () => reject(signal.reason));
      return promise;
    });
    const store = openMemoryStore();
    const runner = new JobRunner({
      ...{ store: store.jobs, runJobs: false, createId, log: createMemoryLogger(), now: () => 1 },
    });
    const definition = { flavor: "cpu-basic", environment: {}, timeoutSeconds: null, attempts: 1 } as const;
    const job = { id: "job", owner: "me", createdBy: "me", createdAt: 1, definition, secretNames: [], message: null };
    store.jobs.add({ ...job, stage: "RUNNING" }, {});
    const reader = streamJobLogs({ store: store.jobs, runner }, "job").getReader();
    return {
      reader,
      read: async () => new TextDecoder().decode((await reader.read()).value),
      print(...lines: readonly string[]) {
        store.jobs.addLines(
          "job",
          lines.map((data) => ({ timestamp: 0, data })),
        );
        runner.changes.notify("job");
      },
      /** Marks the job as completed. */
      complete() {
        store.jobs.update({ ...job, stage: "COMPLETED" });
        runner.changes.notify("job");
      },
      endPause: () => endPause(),
      /** Returns the pauses that have not ended. */
      openPauses: () => pauses.mock.calls.filter(([, , options]) => options?.signal?.aborted !== true).length,
    };
  }

  const line = (data: string) => `data: ${JSON.stringify({ timestamp: "1970-01-01T00:00:00.000Z", data })}\n\n`;

  test("without new lines has a comment after each pause of 30 s", async () => {
    const { read, endPause, print } = openStream();
    expect(await read()).toBe(": stream\n\n");
    for (let comment = 1; comment <= 2; comment += 1) {
      const next = read();
      await vi.waitFor(() => expect(pauses).toHaveBeenCalledTimes(comment), { interval: 1 });
      expect(pauses).toHaveBeenLastCalledWith(30_000, false, expect.anything());
      endPause();
      expect(await next).toBe(": keep-alive\n\n");
    }
    print("later");
    expect(await read()).toBe(line("later"));
  });

  test("continues with a new line without a pause", async () => {
    const { read, print, openPauses } = openStream();
    await read();
    for (const data of ["first", "second"]) {
      const next = read();
      await vi.waitFor(() => expect(openPauses()).toBe(1), { interval: 1 });
      print(data);
      expect(await next).toBe(line(data));
    }
  });

  test("contains each kept line once if the oldest lines were deleted", async () => {
    const { read, print, complete } = openStream();
    const lines = Array.from({ length: 10_600 }, (_, index) => `${index}`);
    print(...lines);
    complete();
    await read();
    let text = "";
    for (let part = await read(); part !== ""; part = await read()) text += part;
    expect(text).toBe(lines.slice(600).map(line).join(""));
  });

  test("ends its pause when the client disconnects", async () => {
    const { reader, read, openPauses } = openStream();
    await read();
    const next = reader.read();
    await vi.waitFor(() => expect(openPauses()).toBe(1), { interval: 1 });
    await reader.cancel();
    expect(openPauses()).toBe(0);
    expect(await next).toMatchObject({ done: true });
  });
});
