import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type EndpointOptions, type Handler, WebhooksServer } from "../../src/index.ts";
import { type RunJobOptions, runJob } from "../../src/job.ts";
import { interceptLaunches, serverControl } from "../../src/receiver/control.ts";
import { webhookPayload } from "../../src/testing.ts";
import { CommandProcess } from "../cli/command-process.ts";
import { openLocalHub, secret, waitForJobs } from "../local-hub/support/hub.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { makeProject, root } from "../support/project-folder.ts";
import { createFolder } from "../support/temporary-folder.ts";

const WEBHOOK_PAYLOAD = JSON.stringify(webhookPayload("repo.content"), null, 1);

/** Creates a server with one endpoint, and a function that runs a job for it. */
function createJob(handler: Handler = () => "done", options: EndpointOptions = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger, secret: "s3cret", createId: () => "made-here" });
  server.webhook("retrain", options, handler);
  const run = ({ environment, ...more }: RunJobOptions = {}) =>
    runJob(server, { environment: { WEBHOOK_PAYLOAD, ...environment }, ...more });
  return { server, logger, run };
}

describe("A job", () => {
  test("runs the only endpoint on the unchanged payload, with WEBHOOK_ID as the ID and without a secret", async () => {
    const { run } = createJob((payload, { delivery, request, signal }) => {
      const { body, id, attempt, endpoint } = delivery;
      return { repo: payload.repo.name, body, id, attempt, endpoint, request, isAborted: signal.aborted };
    });
    const environment = { WEBHOOK_ID: "6a1b", WEBHOOK_SECRET: "another" };
    expect(await run({ environment })).toEqual({
      status: "succeeded",
      result: {
        ...{ repo: "acme/data", body: WEBHOOK_PAYLOAD, id: "6a1b", attempt: 1 },
        ...{ endpoint: "retrain", request: undefined, isAborted: false },
      },
    });
  });

  test.each([undefined, "", "two words", "x".repeat(201)])("gets a generated ID if WEBHOOK_ID is %j", async (id) => {
    const { run } = createJob((_payload, { delivery }) => delivery.id);
    expect(await run({ environment: { WEBHOOK_ID: id } })).toMatchObject({ result: "made-here" });
  });

  test("reads the environment of the process by default", async () => {
    vi.stubEnv("WEBHOOK_PAYLOAD", WEBHOOK_PAYLOAD);
    vi.stubEnv("WEBHOOK_ID", "of-the-process");
    const { server } = createJob((_payload, { delivery }) => delivery.id);
    expect(await runJob(server)).toEqual({ status: "succeeded", result: "of-the-process" });
  });

  test("removes its signal handlers when it ends or fails", async () => {
    const listeners = () => ["SIGTERM", "SIGINT"].map((name) => process.listenerCount(name));
    const before = listeners();
    const during = before.map((count) => count + 1);
    expect(await createJob(listeners).run()).toMatchObject({ result: during });
    expect(listeners()).toEqual(before);
    const fails = createJob(() => {
      throw new Error(String(listeners()));
    });
    await expect(fails.run()).rejects.toMatchObject({ cause: new Error(String(during)) });
    expect(listeners()).toEqual(before);
  });

  test("writes only the log line of a delivery", async () => {
    const { run, logger } = createJob();
    await run();
    expect(logger.lines).toEqual([
      {
        ...{ level: "info", msg: "delivery succeeded", endpoint: "retrain", deliveryId: "made-here" },
        ...{ repo: "dataset:acme/data", scope: "repo.content", action: "update", outcome: "succeeded" },
        ...{ ms: expect.any(Number), duplicate: undefined, status: undefined },
      },
    ]);
  });

  test("that does not match the filter is ignored with a reason, and its handler does not run", async () => {
    const handler = vi.fn();
    const { run, logger } = createJob(handler, { scope: "discussion" });
    const reason = "scope repo.content is not discussion";
    expect(await run()).toEqual({ status: "ignored", reason });
    expect(logger.lines).toEqual([expect.objectContaining({ msg: "delivery ignored", reason })]);
    expect(handler).not.toHaveBeenCalled();
  });

  test("of a background endpoint runs immediately and once, without an inbox", async () => {
    vi.stubEnv("INBOX_URL", "nowhere:none can be opened here");
    const handler = vi.fn(async () => {
      throw new Error("no GPU is free");
    });
    const { run, logger } = createJob(handler, { background: true, attempts: 3 });
    await expect(run()).rejects.toMatchObject({ code: "HANDLER_FAILED" });
    expect(handler).toHaveBeenCalledTimes(1);
    expect(logger.lines).toHaveLength(1);
  });

  test("validates with the schema of the endpoint, and accepts any text without one", async () => {
    const { server } = createJob();
    server.webhook("bytes", { schema: null }, (_payload, { delivery }) => delivery.body.length);
    expect(await runJob(server, { endpoint: "bytes", environment: { WEBHOOK_PAYLOAD: "no JSON" } })).toMatchObject({
      result: 7,
    });
  });
});

describe("A failed job throws", () => {
  test("when the handler throws, with that error as the cause", async () => {
    const cause = new Error("no GPU is free");
    const { run, logger } = createJob(() => {
      throw cause;
    });
    await expect(run()).rejects.toMatchObject({ code: "HANDLER_FAILED", cause });
    expect(logger.lines).toEqual([expect.objectContaining({ level: "error", outcome: "failed", err: cause })]);
  });

  test("when the handler exceeds its timeout, and aborts its signal", async () => {
    const reasons: unknown[] = [];
    const { run } = createJob(
      (_payload, { signal }) => {
        signal.addEventListener("abort", () => reasons.push(signal.reason));
        return new Promise(() => {});
      },
      { timeout: 5 },
    );
    await expect(run()).rejects.toMatchObject({ code: "HANDLER_TIMED_OUT" });
    expect(reasons).toEqual([expect.objectContaining({ code: "HANDLER_TIMED_OUT" })]);
  });

  test("when the handler returns an error response", async () => {
    const { run, logger } = createJob(() => new Response("busy", { status: 503 }));
    await expect(run()).rejects.toMatchObject({ code: "HANDLER_FAILED", message: expect.stringContaining("503") });
    expect(logger.lines).toEqual([expect.objectContaining({ level: "error", outcome: "failed" })]);
  });

  test.each([
    ["is missing", undefined, "PAYLOAD_MISSING", /^WEBHOOK_PAYLOAD is not set.*--run-jobs/],
    ["is empty", "", "PAYLOAD_MISSING", /^WEBHOOK_PAYLOAD is not set/],
    [
      "is not JSON",
      '{"event":',
      "BODY_NOT_JSON",
      /^Endpoint "retrain" cannot process WEBHOOK_PAYLOAD: .*Set WEBHOOK_PAYLOAD to the payload of a delivery/,
    ],
    [
      "is nested too deep",
      "[".repeat(101),
      "BODY_TOO_DEEP",
      /^Endpoint "retrain" cannot process WEBHOOK_PAYLOAD: .*Set WEBHOOK_PAYLOAD to the payload of a delivery/,
    ],
    [
      "has the wrong shape",
      '{"event": {}}',
      "PAYLOAD_INVALID",
      /event\.action: .*Set WEBHOOK_PAYLOAD to the payload of a delivery/,
    ],
  ])("when the payload %s", async (_what, text, code, message) => {
    const handler = vi.fn();
    const { run } = createJob(handler);
    const environment = { WEBHOOK_PAYLOAD: text };
    await expect(run({ environment })).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
    expect(handler).not.toHaveBeenCalled();
  });

  test("when its signal is aborted, which aborts the handler's signal with the same reason", async () => {
    const stop = new AbortController();
    const { run } = createJob(
      (_payload, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          stop.abort(new Error("enough"));
        }),
    );
    await expect(run({ signal: stop.signal })).rejects.toMatchObject({
      code: "HANDLER_FAILED",
      cause: { message: "enough" },
    });
  });

  test("when its signal is already aborted, without running the handler", async () => {
    const handler = vi.fn();
    const { run } = createJob(handler);
    await expect(run({ signal: AbortSignal.abort(new Error("too late")) })).rejects.toThrow("too late");
    expect(handler).not.toHaveBeenCalled();
  });
});

test("Errors of a job that are not about its payload are thrown unchanged", async () => {
  const { server, run } = createJob();
  const error = new Error("no luck");
  const control = server[serverControl];
  const runJob = () => Promise.reject(error);
  Object.defineProperty(server, serverControl, { value: Object.assign(Object.create(control), { runJob }) });
  await expect(run()).rejects.toBe(error);
});

describe("The endpoint of a job", () => {
  test("is the given one", async () => {
    const { server, run } = createJob();
    server.webhook("acme/review", () => "reviewed");
    expect(await run({ endpoint: "acme/review" })).toMatchObject({ result: "reviewed" });
  });

  test("is required when there are several, even when only one matches the payload", async () => {
    const handler = vi.fn();
    const { server, run } = createJob(handler);
    server.webhook("review", { scope: "discussion" }, handler);
    await expect(run()).rejects.toMatchObject({
      code: "ENDPOINT_REQUIRED",
      message: expect.stringMatching(/^The server has several endpoints: retrain, review\. .*--endpoint retrain/),
    });
    expect(handler).not.toHaveBeenCalled();
  });

  test("must exist; the error lists the endpoints", async () => {
    const { server, run } = createJob();
    server.webhook("review", () => {});
    await expect(run({ endpoint: "retrian" })).rejects.toMatchObject({
      code: "ENDPOINT_UNKNOWN",
      message: 'Unknown endpoint "retrian". Valid endpoints: retrain, review.',
    });
    await expect(runJob(new WebhooksServer(), { environment: { WEBHOOK_PAYLOAD } })).rejects.toMatchObject({
      code: "ENDPOINT_UNKNOWN",
      message: expect.stringContaining("Register a handler"),
    });
  });
});

test("runJob() throws in a file that a tool of this package runs, because the job would run twice", async () => {
  const handler = vi.fn();
  const { run } = createJob(handler);
  onTestFinished(interceptLaunches({ onLaunch: () => ({ port: 0, url: "", publicUrl: "" }), onSharedServer() {} }));
  await expect(run()).rejects.toMatchObject({ code: "SERVER_FILE_INVALID" });
  expect(handler).not.toHaveBeenCalled();
});

const script = `
import { WebhooksServer } from ${JSON.stringify(join(root, "src/index.ts"))};
import { runJob } from ${JSON.stringify(join(root, "src/job.ts"))};

const server = new WebhooksServer();
const [, , behaviour] = process.argv;

server.webhook("retrain", (_payload, { signal }) => {
  if (behaviour === "succeeds") return "done";
  if (behaviour === "fails") throw new Error("no GPU is free");
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => {
      console.log(signal.reason.code);
      if (behaviour === "listens") reject(signal.reason);
    });
    console.log("waiting");
  });
});

await runJob(server);
`;

/** Starts a file whose last line is `await runJob(server)`. */
function startJob(behaviour: "succeeds" | "fails" | "listens" | "goes on"): CommandProcess {
  const path = join(createFolder(), "job.ts");
  writeFileSync(path, script);
  return new CommandProcess(process.execPath, [path, behaviour], { WEBHOOK_PAYLOAD });
}

describe("A file that ends with `await runJob(server)`", { tags: "slow" }, () => {
  test("exits with 0 when the job is done, and with 1 when it has failed", async () => {
    const [done, failed] = await Promise.all([startJob("succeeds").ended, startJob("fails").ended]);
    expect(done).toMatchObject({ exitCode: 0, stderr: "" });
    expect(failed).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no GPU is free") });
  });

  test("aborts the handler's signal on SIGTERM, and fails with what the handler throws", async () => {
    const job = startJob("listens");
    await job.says("waiting");
    job.signal("SIGTERM");
    expect(await job.ended).toMatchObject({ exitCode: 1, signal: null, stdout: expect.stringContaining("CLOSING") });
  });

  test("exits on the second signal, even when the handler ignores the first", async () => {
    const job = startJob("goes on");
    await job.says("waiting");
    job.signal("SIGINT");
    await job.says("CLOSING");
    job.signal("SIGINT");
    expect(await job.ended).toMatchObject({ exitCode: 1, signal: null });
  });
});

const source = `
import { writeFile } from "node:fs/promises";
import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();
server.webhook("retrain", { scope: "repo.content", repo: "dataset:me/*", background: true }, async (payload, { delivery }) => {
  await writeFile(new URL("./seen.json", import.meta.url), JSON.stringify({ repo: payload.repo.name, id: delivery.id }));
});
export default server;
await server.launch();
`;

test("A local Hub runs the handler on a push if the job of a webhook is `hub-webhooks job server.ts`", {
  tags: "slow",
}, async () => {
  await using project = await makeProject({ "server.ts": source });
  const hub = await openLocalHub({ runJobs: true });
  const bin = join(project.path, "node_modules/hub-webhooks/dist/cli/bin.js");
  const { NODE_COMPILE_CACHE = "" } = process.env;
  await hub.create({
    secret,
    job: {
      flavor: "cpu-basic",
      command: [process.execPath, bin, "job", join(project.path, "server.ts"), "--endpoint", "retrain"],
      environment: { NODE_COMPILE_CACHE },
    },
  });
  const [delivery] = await hub.trigger();
  const [job] = await waitForJobs(hub);
  expect(job?.status, hub.log.text()).toEqual({ stage: "COMPLETED", message: null, failureCount: 0 });
  const seen: unknown = JSON.parse(await readFile(join(project.path, "seen.json"), "utf8"));
  expect(seen).toEqual({ repo: "me/data", id: delivery?.deliveryId });
});
