import { Client } from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { describeInboxContract } from "../contract.ts";
import { openInbox } from "../engine.ts";
import { openers } from "../engines.ts";
import { describeServerTrouble } from "./trouble.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
  return () => server[Symbol.asyncDispose]();
}, 60_000);

const postgres = { name: "PostgreSQL", emptyStore: () => server.emptyDatabase(), open: openers.PostgreSQL };

// The contract is tried on Redis too, by way of the same library, and takes half a minute here.
if (process.env.SLOW_TESTS === "1") describeInboxContract(postgres);
else console.warn("What every inbox does is not tried on PostgreSQL, which takes time. SLOW_TESTS=1 does it.");
describeServerTrouble(() => server);

describe("A PostgreSQL that syncs each write", () => {
  test("has nothing to warn of", async () => {
    await using safe = await startPostgres({ isSafe: true });
    const { inbox, logger } = await openInbox({ ...postgres, emptyStore: () => safe.emptyDatabase() });
    await inbox.close(0);
    expect(logger.lines).toEqual([]);
  });
});

describe("A PostgreSQL that may lose what was acknowledged", () => {
  test("is warned of at the start", async () => {
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

  test("is an error at the start where the password is wrong, which is not shown", async () => {
    const url = Object.assign(new URL(await server.emptyDatabase()), { password: "Planted-5ecret" }).href;
    const opening = openInbox(postgres, { store: url });
    await expect(opening).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("password"),
    });
    await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining("Planted") });
  });
});
