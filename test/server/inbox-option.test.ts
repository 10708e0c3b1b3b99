import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../src/testing.ts";
import { inboxFile } from "../inbox/open-file.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { waitFor } from "../support/wait-for.ts";

const delivery = () => deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo"), id: "first" });

function openServer(inbox: NonNullable<ConstructorParameters<typeof WebhooksServer>[0]>["inbox"]) {
  const server = new WebhooksServer({ secret: false, inbox, logger: createMemoryLogger() });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  return server;
}

describe("The inbox that a server is given", () => {
  test("as a URL goes before INBOX_URL", async () => {
    const [given, other] = [inboxFile(), inboxFile()];
    vi.stubEnv("INBOX_URL", `sqlite:${other}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const server = openServer(`sqlite:${given}`);
    expect((await server.fetch(delivery())).status).toBe(202);
    expect([existsSync(given), existsSync(other)]).toEqual([true, false]);
  });

  test("as an inbox of one's own is worked on, and closed with the server", async () => {
    const file = inboxFile();
    const inbox = new SqliteInbox({ file, now: Date.now, log: createMemoryLogger });
    const server = openServer(inbox);
    expect((await server.fetch(delivery())).status).toBe(202);
    await waitFor(async () => expect(await server.inbox.get("first")).toMatchObject({ status: "succeeded" }));
    await server.close();
    await expect(inbox.accept({ id: "a", endpoint: "retrain", body: "", receivedAt: new Date() })).rejects.toThrow();
  });

  test("as a URL of another kind is refused at the start", async () => {
    await expect(openServer("mongodb://somewhere").start()).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
