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

const delivery = () => deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), id: "first" });

function openServer(inbox: WebhooksServerOptions["inbox"] | undefined, logger = createMemoryLogger()) {
  const server = new WebhooksServer({ secret: false, ...(inbox && { inbox }), logger });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  return server;
}

/** Changes the working directory to a new folder until the test ends. */
function inNewFolder(): string {
  const folder = createFolder();
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
  return folder;
}

describe("The default inbox of a server", () => {
  test.each(["VITEST", "NODE_TEST_CONTEXT", "NODE_ENV"])("is in memory under a test runner: %s", async (name) => {
    const folder = inNewFolder();
    for (const other of ["VITEST", "NODE_TEST_CONTEXT", "NODE_ENV", "INBOX_URL"]) vi.stubEnv(other, undefined);
    vi.stubEnv(name, "test");
    const logger = createMemoryLogger();
    const server = openServer(undefined, logger);
    expect((await server.fetch(delivery())).status).toBe(202);
    await waitFor(async () => expect(await server.inbox.get("first")).toMatchObject({ status: "succeeded" }));
    expect(readdirSync(folder)).toEqual([]);
    expect(logger.lines).toContainEqual({ level: "info", msg: expect.stringMatching(/in memory.*INBOX_URL/) });
  });

  test("retries within milliseconds under a test runner", async () => {
    vi.stubEnv("INBOX_URL", undefined);
    const server = new WebhooksServer({ secret: false, logger: createMemoryLogger() });
    onTestFinished(() => server.close());
    const attempts: number[] = [];
    server.webhook("retrain", { background: true }, (_payload, { delivery: { attempt } }) => {
      attempts.push(attempt);
      if (attempt < 4) throw new Error("not yet");
    });
    await server.fetch(delivery());
    await waitFor(async () => expect(await server.inbox.get("first")).toMatchObject({ status: "succeeded" }));
    expect(attempts).toEqual([1, 2, 3, 4]);
  });

  test("is a file in the working directory otherwise", async () => {
    const folder = inNewFolder();
    for (const name of ["VITEST", "NODE_TEST_CONTEXT", "INBOX_URL"]) vi.stubEnv(name, undefined);
    vi.stubEnv("NODE_ENV", "production");
    const server = openServer(undefined);
    expect((await server.fetch(delivery())).status).toBe(202);
    expect(existsSync(join(folder, ".hub-webhooks", "inbox.db"))).toBe(true);
  });

  test("is set by INBOX_URL, also under a test runner, and is logged", async () => {
    const file = inboxFile();
    vi.stubEnv("INBOX_URL", `sqlite:${file}`);
    const logger = createMemoryLogger();
    expect((await openServer(undefined, logger).fetch(delivery())).status).toBe(202);
    expect(existsSync(file)).toBe(true);
    expect(logger.lines).toContainEqual(expect.objectContaining({ level: "info", inbox: `sqlite:${file}` }));
  });
});

describe("The option inbox", () => {
  test("overrides INBOX_URL as a URL", async () => {
    const [given, other] = [inboxFile(), inboxFile()];
    vi.stubEnv("INBOX_URL", `sqlite:${other}`);
    const server = openServer(`sqlite:${given}`);
    expect((await server.fetch(delivery())).status).toBe(202);
    expect([existsSync(given), existsSync(other)]).toEqual([true, false]);
  });

  test("runs the deliveries of your own inbox, and closes it with the server", async () => {
    const file = inboxFile();
    const inbox = new SqliteInbox({ file, now: Date.now, log: createMemoryLogger() });
    const server = openServer(inbox);
    expect((await server.fetch(delivery())).status).toBe(202);
    await waitFor(async () => expect(await server.inbox.get("first")).toMatchObject({ status: "succeeded" }));
    await server.close();
    await expect(inbox.accept({ id: "a", endpoint: "retrain", body: "", receivedAt: new Date() })).rejects.toThrow();
  });
});
