import { createPostgresBackend, Queue } from "bullmq";
import { Client } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { describeInboxContract } from "../contract.ts";
import { openInbox } from "../engine.ts";
import { openers } from "../openers.ts";
import { describeServerHealth } from "./health-contract.ts";
import { describeServerTrouble } from "./outage-contract.ts";

// Slow: it starts three servers. Redis runs the same contracts with the same library.
const skipped = process.env.SLOW_TESTS !== "1";
if (skipped) console.warn("Skipped: the inbox on PostgreSQL. Set SLOW_TESTS=1 to run it.");

let server: PostgresServer;

beforeAll(async () => {
  if (skipped) return;
  server = await startPostgres();
  return () => server[Symbol.asyncDispose]();
}, 60_000);

const postgres = { name: "PostgreSQL", emptyStore: () => server.emptyDatabase(), open: openers.PostgreSQL };

describe.skipIf(skipped)("PostgreSQL", () => {
  describeInboxContract(postgres);
  describeServerHealth(
    () => server,
    (url, name) =>
      new Queue(
        name,
        { connection: { connectionString: url, schema: "hub_webhooks" } },
        createPostgresBackend,
      ) as never,
  );
  describeServerTrouble(() => server);
});

describe.skipIf(skipped)("A PostgreSQL that syncs each write", () => {
  test("logs no warning", async () => {
    await using safe = await startPostgres({ isSafe: true });
    const { inbox, logger } = await openInbox({ ...postgres, emptyStore: () => safe.emptyDatabase() });
    await inbox.close(0);
    expect(logger.lines).toEqual([]);
  });
});

describe.skipIf(skipped)("A PostgreSQL that may lose accepted deliveries", () => {
  test("logs a warning at the start", async () => {
    await using safe = await startPostgres({ isSafe: true });
    const store = await safe.emptyDatabase();
    const client = new Client({ connectionString: store });
    await client.connect();
    await client.query(`ALTER DATABASE ${new URL(store).pathname.slice(1)} SET synchronous_commit = off`);
    await client.end();
    const { inbox, logger } = await openInbox(postgres, { store });
    expect(logger.lines).toMatchObject([{ level: "warn", msg: expect.stringContaining("synchronous_commit = on") }]);
    await inbox.close(0);
  });

  test("rejects a wrong password at the start, without showing it", async () => {
    const url = Object.assign(new URL(await server.emptyDatabase()), { password: "Planted-5ecret" }).href;
    const opening = openInbox(postgres, { store: url });
    await expect(opening).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("password"),
    });
    await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining("Planted") });
  });
});
