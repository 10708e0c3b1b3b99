import { readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startBucketInbox } from "../../../src/inbox/bucket/open-bucket.ts";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { webhookPayload } from "../../../src/payload/samples.ts";
import type { WebhookPayload } from "../../../src/payload/schema.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { denied, FaultyS3 } from "../../support/faulty-s3.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming } from "../engine.ts";
import { MemoryObjectStore, openMemoryInbox, type StoreRequest, storesRecord } from "./memory-object-store.ts";

/** Waits that end only when they are aborted, except those of a duration. `pending`: the durations of the others. */
function recordWaits({ endsAfterMs = 0 } = {}) {
  const pending: number[] = [];
  const wait = (ms: number, signal: AbortSignal) => {
    if (ms === endsAfterMs) return Promise.resolve();
    pending.push(ms);
    return new Promise<void>((_resolve, reject) => {
      const end = () => {
        pending.splice(pending.indexOf(ms), 1);
        reject(signal.reason);
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
    });
  };
  return { wait, pending };
}

test("A closed inbox leaves no timer", async () => {
  const { wait, pending } = recordWaits();
  const { inbox } = await openMemoryInbox(new MemoryObjectStore(), { wait });
  await inbox.settled(10_000);
  expect(pending).not.toContain(10_000);
  const [set, clear] = [vi.spyOn(globalThis, "setTimeout"), vi.spyOn(globalThis, "clearTimeout")];
  onTestFinished(() => void vi.restoreAllMocks());
  await inbox.close(60_000);
  expect(pending).toEqual([]);
  const timers = set.mock.results.filter((_, index) => Number(set.mock.calls[index]?.[1]) >= 60_000);
  expect(timers).not.toEqual([]);
  for (const { value } of timers) expect(clear).toHaveBeenCalledWith(value);
});

test("An inbox that closes while the bucket is away rejects its deliveries 5 s after the grace period", async () => {
  const store = new MemoryObjectStore();
  const { inbox } = await openMemoryInbox(store, { wait: recordWaits().wait });
  store.intercept = (request) => (storesRecord(request) ? "failed" : undefined);
  const accepted = inbox.accept(incoming("a"));
  accepted.catch(() => {});
  await waitFor(async () => expect(await inbox.problems()).toMatchObject([{ code: "INBOX_UNAVAILABLE" }]));
  const delays: number[] = [];
  const schedule = globalThis.setTimeout;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms = 0, ...given: []) => {
    if (ms >= 5_000) delays.push(ms);
    return schedule(run, Math.min(ms, 5), ...given);
  }) as typeof setTimeout);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await inbox.close(7_000)).toEqual({ interrupted: 0 });
  expect(delays).toContain(12_000);
  await expect(accepted).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
});

/** Starts to open an inbox, and pauses at a request. */
async function startPaused(isPaused: (request: StoreRequest) => boolean, waits = recordWaits()) {
  const store = new MemoryObjectStore();
  const [reached, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<undefined>()];
  store.intercept = (request) => {
    if (!isPaused(request)) return undefined;
    reached.resolve();
    return resumed.promise;
  };
  const parentFolder = createFolder();
  const failures: unknown[] = [];
  const inbox = startBucketInbox({
    store,
    spaceId: "acme/receiver",
    takeOver: false,
    log: createMemoryLogger(),
    now: Date.now,
    parentFolder,
    wait: waits.wait,
    onFailure: (error) => failures.push(error),
  });
  await reached.promise;
  const resume = () => {
    store.intercept = () => undefined;
    resumed.resolve(undefined);
  };
  return { store, inbox, failures, resume, folders: () => readdirSync(parentFolder) };
}

test.each<[string, (request: StoreRequest) => boolean]>([
  ["reads the snapshot", ({ method, key }) => method === "list" && key === "snapshots/"],
  ["takes over", storesRecord],
])("An inbox that is closed while it %s is not opened, and leaves neither an owner nor a file", async (_what, step) => {
  const { store, inbox, failures, resume, folders } = await startPaused(step);
  const closing = inbox.close(0);
  resume();
  expect(await closing).toEqual({ interrupted: 0 });
  await expect(inbox.opened).rejects.toMatchObject({ code: "CLOSING" });
  expect([failures, folders()]).toEqual([[], []]);
  await openMemoryInbox(store, { spaceId: "me/copy" });
});

test("An inbox that is closed while a request of its start has no answer does not wait for it for more than 5 s", async () => {
  const { inbox, resume } = await startPaused(storesRecord, recordWaits({ endsAfterMs: 5_000 }));
  onTestFinished(resume);
  expect(await inbox.close(0)).toEqual({ interrupted: 0 });
});

/** Delivers a payload to the endpoint `bot`. */
async function deliver(server: WebhooksServer, payload: WebhookPayload): Promise<Response> {
  const headers = { "Content-Type": "application/json", "X-Webhook-Secret": "s" };
  const body = JSON.stringify(payload);
  return server.fetch(new Request("http://localhost/webhooks/bot", { method: "POST", headers, body }));
}

test.each([
  ["ignores events of the bucket that stores its inbox", "me/inbox", 200],
  ["stores events of other buckets", "me/data", 202],
])("a server %s", async (_what, bucket, status) => {
  const store = new MemoryObjectStore("hf://buckets/me/inbox/receiver");
  const { inbox } = await openMemoryInbox(store);
  const server = new WebhooksServer({ inbox, secret: "s", logger: createMemoryLogger() });
  server.webhook("bot", { background: true }, () => {});
  await server.ready();
  const before = store.requests.length;
  const response = await deliver(server, webhookPayload("repo.content", { repo: { type: "bucket", name: bucket } }));
  expect(response.status).toBe(status);
  // An ignored event must not change the bucket, because the change would cause the next event.
  expect(store.requests.length === before).toBe(status === 200);
});

describe("A command or server that opens a bucket", { tags: "slow" }, () => {
  /** Opens the inbox of a command, which these variables describe. */
  function openCommand(variables: Record<string, string>, signal?: AbortSignal) {
    const log = createMemoryLogger();
    const readVariable = (name: string) => variables[name];
    const url = variables.INBOX_URL ?? "hf://buckets/me/inbox";
    return { log, opening: openInbox({ url, log, now: Date.now, readVariable, ...(signal && { signal }) }) };
  }

  /** Creates a server whose inbox is in the bucket. */
  function createServer(s3: FaultyS3, run: () => void = () => {}) {
    for (const [name, value] of Object.entries(s3.variables())) vi.stubEnv(name, value);
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ inbox: s3.variables().INBOX_URL, secret: "s", logger });
    onTestFinished(() => server.close());
    server.webhook("bot", { background: true }, run);
    return { server, logger };
  }

  test("a command retries an unavailable bucket until it is stopped", async () => {
    const key = { AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
    const stop = new AbortController();
    const { log, opening } = openCommand({ ...key, AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1" }, stop.signal);
    opening.catch(() => {});
    await waitFor(() => expect(log.lines).toMatchObject([{ level: "error", code: "INBOX_UNAVAILABLE" }]));
    stop.abort();
    await expect(opening).rejects.toMatchObject({ name: "AbortError" });
  });

  test("the inbox of a command that has started is not closed when the signal of the start is aborted", async () => {
    await using s3 = await FaultyS3.start();
    const start = new AbortController();
    const inbox = await openCommand(s3.variables(), start.signal).opening;
    const close = vi.spyOn(inbox, "close");
    start.abort();
    expect(close).not.toHaveBeenCalled();
    expect(await inbox.accept(incoming("a"))).toEqual({ duplicate: false });
    await inbox.close(0);
  });

  test("a command fails immediately if the bucket refuses its access key", async () => {
    await using s3 = await FaultyS3.start();
    const variables = s3.variables();
    s3.accessKeys.clear();
    await expect(openCommand(variables).opening).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("AWS_ACCESS_KEY_ID"),
    });
  });

  test("a server does not start if the bucket does not support conditional writes, and does not end the process", async () => {
    await using s3 = await FaultyS3.start();
    s3.faults = [{ kind: "error", status: 501, code: "NotImplemented", operations: ["PUT"] }];
    const { server, logger } = createServer(s3);
    const exit = vi.spyOn(process, "exit").mockImplementation(() => expect.unreachable("exited"));
    onTestFinished(() => exit.mockRestore());
    // Tools such as `dev` report the error.
    await expect(server[serverControl].launch({ port: 0, handleSignals: true })).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
    });
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
    await server.close();
  });

  test("a server starts while its access key is revoked, and accepts deliveries after that", async () => {
    await using s3 = await FaultyS3.start();
    s3.faults = [denied];
    const ran = Promise.withResolvers<void>();
    const { server, logger } = createServer(s3, ran.resolve);
    await server.ready();
    const send = () => deliver(server, webhookPayload("repo.content"));
    const ready = async () => (await server.fetch(new Request("http://localhost/ready"))).status;
    const refused = await send();
    expect([refused.status, refused.headers.get("retry-after"), await ready()]).toEqual([503, "5", 503]);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        msg: expect.stringMatching(/cannot be opened yet.*AWS_ACCESS_KEY_ID/),
      }),
    );
    s3.faults = [];
    await waitFor(async () => expect((await send()).status).toBe(202));
    await ran.promise;
    await waitFor(async () => expect(await ready()).toBe(200));
    await server.close();
  });
});
