import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Opens a server, by default without the option `inbox`, that counts the attempts of its handler. */
function openServer({ inbox, failures = 0 }: Pick<WebhooksServerOptions, "inbox"> & { failures?: number } = {}) {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret: false, ...(inbox && { inbox }), logger });
  onTestFinished(() => server.close());
  const runs: string[] = [];
  server.webhook("retrain", { background: true }, (_payload, { delivery: { id, attempt } }) => {
    runs.push(id);
    if (attempt <= failures) throw new Error("not yet");
  });
  const send = async (id = "first") =>
    (await server.fetch(deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo.content"), id }))).status;
  const untilSucceeded = (id = "first") =>
    waitFor(async () => expect(await server.inbox.get(id)).toMatchObject({ status: "succeeded" }));
  return { server, logger, runs, send, untilSucceeded };
}

/** Changes the working directory to a new folder until the test ends. */
function inNewFolder(): string {
  const folder = createFolder();
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  return folder;
}

const variables = ["VITEST", "NODE_TEST_CONTEXT", "NODE_ENV"];

describe("The default inbox of a server", () => {
  test.each(variables)("is in memory under a test runner: %s", async (name) => {
    const folder = inNewFolder();
    for (const other of [...variables, "INBOX_URL"]) vi.stubEnv(other, undefined);
    vi.stubEnv(name, "test");
    const { logger, send, untilSucceeded } = openServer();
    expect(await send()).toBe(202);
    await untilSucceeded();
    expect(readdirSync(folder)).toEqual([]);
    expect(logger.lines).toContainEqual({ level: "info", msg: expect.stringMatching(/in memory.*INBOX_URL/) });
  });

  test("retries within milliseconds under a test runner", async () => {
    vi.stubEnv("INBOX_URL", undefined);
    const { runs, send, untilSucceeded } = openServer({ failures: 3 });
    await send();
    await untilSucceeded();
    expect(runs).toHaveLength(4);
  });

  test("is a file in the working directory otherwise", async () => {
    const folder = inNewFolder();
    for (const name of ["VITEST", "NODE_TEST_CONTEXT", "INBOX_URL"]) vi.stubEnv(name, undefined);
    vi.stubEnv("NODE_ENV", "production");
    expect(await openServer().send()).toBe(202);
    expect(existsSync(join(folder, ".hub-webhooks", "inbox.db"))).toBe(true);
  });

  test("is set by INBOX_URL, also under a test runner, and is logged", async () => {
    const file = inboxFile();
    vi.stubEnv("INBOX_URL", `sqlite:${file}`);
    const { logger, send } = openServer();
    expect(await send()).toBe(202);
    expect(existsSync(file)).toBe(true);
    expect(logger.lines).toContainEqual(expect.objectContaining({ level: "info", inbox: `sqlite:${file}` }));
  });
});

describe("The option inbox", () => {
  test("overrides INBOX_URL as a URL", async () => {
    const [given, other] = [inboxFile(), inboxFile()];
    vi.stubEnv("INBOX_URL", `sqlite:${other}`);
    expect(await openServer({ inbox: `sqlite:${given}` }).send()).toBe(202);
    expect([existsSync(given), existsSync(other)]).toEqual([true, false]);
  });

  test("runs the deliveries of your own inbox, and closes it with the server", async () => {
    const inbox = new SqliteInbox({ file: inboxFile(), now: Date.now, log: createMemoryLogger() });
    const { server, send, untilSucceeded } = openServer({ inbox });
    expect(await send()).toBe(202);
    await untilSucceeded();
    await server.close();
    await expect(inbox.accept({ id: "a", endpoint: "retrain", body: "", receivedAt: new Date() })).rejects.toThrow();
  });
});

test("server.inbox pauses an endpoint, lists and discards its deliveries, and resumes it", async () => {
  const { server, send, runs, untilSucceeded } = openServer({ inbox: `sqlite:${inboxFile()}` });
  await server.inbox.pause("retrain");
  for (const id of ["a", "b"]) expect(await send(id)).toBe(202);
  expect(await server.inbox.pausedEndpoints()).toEqual(["retrain"]);
  for (const [scope, ids] of Object.entries({ "repo.content": ["b", "a"], discussion: [] })) {
    const { deliveries } = await server.inbox.list({ scope, action: "update" });
    expect(deliveries.map(({ id }) => id)).toEqual(ids);
  }
  await server.inbox.discard("a");
  expect(await server.inbox.get("a")).toMatchObject({ status: "cancelled" });
  await expect(server.inbox.discard("unknown")).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN", status: 404 });
  await server.inbox.resume("retrain");
  await untilSucceeded("b");
  expect(runs).toEqual(["b"]);
  expect(await server.inbox.counts()).toMatchObject({ retrain: { succeeded: 1, cancelled: 1 } });
});
