// @module-tag slow

import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { InboxInfo } from "../../../src/console/protocol/inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "Planted-5ecret-8b20";

/** Opens a server on a socket, runs a delivery that dies, and returns what the console's API answers. */
async function readOverSocket(inbox: string): Promise<{ info: InboxInfo; text: string }> {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret, consoleToken: "t0ken-of-the-owner", logger, inbox });
  server.webhook("dying", { background: true, attempts: 1 }, () => {
    throw new Error("Disk full");
  });
  onTestFinished(() => server.close());
  const { url } = await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false });
  const request = deliveryRequest({ endpoint: "dying", payload: webhookPayload("repo.content"), secret, baseUrl: url });
  expect((await fetch(request)).status).toBe(202);
  return waitFor(async () => {
    const response = await fetch(`${url}/_console/api/inbox`, {
      headers: { authorization: "Bearer t0ken-of-the-owner" },
    });
    const text = await response.text();
    const info: InboxInfo = JSON.parse(text);
    expect(info.contents?.endpoints).toMatchObject([{ name: "dying", counts: { dead: 1 }, isServed: true }]);
    return { info, text };
  });
}

// Slow, because it starts PostgreSQL.
describe("The inbox in PostgreSQL", () => {
  let postgres: PostgresServer;

  beforeAll(async () => {
    postgres = await startPostgres();
    return () => postgres[Symbol.asyncDispose]();
  }, 60_000);

  test("is shown without the username and the password", async () => {
    const url = await postgres.emptyDatabase();
    const { info, text } = await readOverSocket(url);
    expect(info.location).toEqual({
      ...{ engine: "postgres", address: `127.0.0.1:${postgres.port}`, database: new URL(url).pathname.slice(1) },
      ...{ namespace: "hub_webhooks", keptUntil: "retention" },
    });
    expect(info).toMatchObject({ state: "open", contents: {} });
    // The test server does not sync.
    expect(info.warnings).toEqual([expect.stringContaining("fsync")]);
    expect(text).not.toMatch(/postgres:|password@/);
  });

  test("that refuses the username is unavailable, and the username is not shown", async () => {
    const planted = "pl4nted-user-7c1e";
    const inbox = `postgres://${planted}:pl4nted-password@127.0.0.1:${postgres.port}/postgres`;
    const server = new WebhooksServer({
      secret,
      consoleToken: "t0ken-of-the-owner",
      logger: createMemoryLogger(),
      inbox,
    });
    server.webhook("works", { background: true }, () => {});
    onTestFinished(() => server.close());
    await waitFor(async () => {
      const headers = { authorization: "Bearer t0ken-of-the-owner" };
      const text = await (await server.request("/_console/api/inbox", { headers })).text();
      expect(JSON.parse(text)).toMatchObject({ state: "unavailable", problems: [{ code: "INBOX_UNUSABLE" }] });
      expect(text).toContain("authentication failed");
      expect(text).not.toContain("pl4nted");
    });
  });
});
