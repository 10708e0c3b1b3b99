// @module-tag slow

import { EventEmitter } from "node:events";
import { createPostgresBackend, Queue } from "bullmq";
import { Client } from "pg";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { connectPostgres, openPostgresLeases } from "../../../src/inbox/bullmq/postgres.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { describeInboxContract } from "../contract.ts";
import { openInbox } from "../engine.ts";
import { openers } from "../openers.ts";
import { describeServer } from "./server-contract.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres();
  return () => server[Symbol.asyncDispose]();
}, 60_000);

const postgres = { name: "PostgreSQL", emptyStore: () => server.emptyDatabase(), open: openers.PostgreSQL };

async function query(
  store: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<{ locked_until_ms: string }[]> {
  const client = new Client({ connectionString: store });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

describe("PostgreSQL", () => {
  describeInboxContract(postgres);
  describeServer({
    engine: postgres,
    getServer: () => server,
    openQueue: (url, name) => {
      const connection = { connectionString: url, schema: "hub_webhooks" };
      return new Queue(name, { connection }, createPostgresBackend) as never;
    },
    empty: async (store) => void (await query(store, "DROP SCHEMA hub_webhooks CASCADE")),
    orphanLease: async (store) => {
      const sql = "UPDATE hub_webhooks.job SET lock_token = 'gone', locked_until_ms = $1 WHERE state = 'active'";
      await query(store, sql, [Date.now() + 3_600_000]);
    },
    leaseEnd: async (store) => {
      const [row] = await query(store, "SELECT locked_until_ms FROM hub_webhooks.job WHERE state = 'active'");
      return row && Number(row.locked_until_ms);
    },
  });
});

describe("A connection to PostgreSQL at the start", () => {
  test("logs a warning only if accepted deliveries can be lost", async () => {
    await using safe = await startPostgres({ isSafe: true });
    const store = await safe.emptyDatabase();
    const { inbox, logger } = await openInbox(postgres, { store });
    await inbox.close(0);
    expect(logger.lines).toEqual([]);
    await query(store, `ALTER DATABASE ${new URL(store).pathname.slice(1)} SET synchronous_commit = off`);
    const unsafe = await openInbox(postgres, { store });
    await unsafe.inbox.close(0);
    const warning = { level: "warn", msg: expect.stringContaining("synchronous_commit = on") };
    expect(unsafe.logger.lines).toMatchObject([warning]);
  });

  test("fails with a wrong password, without showing it", async () => {
    const url = Object.assign(new URL(await server.emptyDatabase()), { password: "Planted-5ecret" }).href;
    const opening = openInbox(postgres, { store: url });
    await expect(opening).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringContaining("password"),
    });
    await expect(opening).rejects.not.toMatchObject({ message: expect.stringContaining("Planted") });
  });
});

/** Connects with fakes of `pg` and `bullmq`, to simulate failures that a real server cannot produce on demand. */
function fakePostgres({ hasInbox = true, migrate = async () => {}, end = async () => {} } = {}) {
  const closed: string[] = [];
  const onError = vi.fn();
  const client = Object.assign(new EventEmitter(), {
    connect: async () => {},
    query: async () => ({ rows: [{ fsync: "on", commit: "on", hasInbox }] }),
    end: async () => {
      closed.push("client");
      await end();
    },
  });
  const pool = Object.assign(new EventEmitter(), {
    options: {},
    connect: async () => Object.assign(new EventEmitter(), { query: async () => ({ rows: [] }), release: () => {} }),
    end: async () => void closed.push("pool"),
  });
  const connections: EventEmitter[] = [];
  const backend = Object.assign(new EventEmitter(), { close: async () => void closed.push("backend") });
  const queues: EventEmitter[] = [];
  class PostgresConnection extends EventEmitter {
    constructor() {
      super();
      connections.push(this);
    }
    async waitUntilReady() {}
    async getListenClient() {}
    async close() {
      closed.push("connection");
    }
  }
  class FakeQueue extends EventEmitter {
    constructor() {
      super();
      queues.push(this);
    }
  }
  const packages = {
    bullmq: {
      PostgresConnection,
      PostgresQueueBackend: class {},
      Queue: FakeQueue,
      createPostgresBackend: () => backend,
      runMigrations: migrate,
    },
    pg: {
      Pool: function Pool() {
        return pool;
      },
      Client: function Client() {
        return client;
      },
    },
  };
  const url = "postgres://localhost/db";
  const loading = Promise.resolve(packages as never);
  return {
    ...{ closed, onError, client, connections, backend, queues },
    connect: ({ mustExist = false } = {}) =>
      connectPostgres({ url, mustExist, startMs: 8_000, now: Date.now, onError }, loading),
    openLeases: () => openPostgresLeases(url, onError, loading),
  };
}

describe("A connection to PostgreSQL", () => {
  const lost = new Error("Connection terminated unexpectedly");

  test("reports errors of the connection and of its queues, and is closed with its pool", async () => {
    const { connect, connections, queues, client, closed, onError } = fakePostgres();
    const server = await connect();
    expect(closed).toEqual(["client"]);
    server.openQueue("retrain");
    for (const emitter of [...connections, ...queues]) emitter.emit("error", lost);
    expect(onError.mock.calls).toEqual([[lost], [lost]]);
    // The client that read the settings is closed, so its errors are ignored.
    client.emit("error", lost);
    expect(onError).toHaveBeenCalledTimes(2);
    await server.close();
    expect(closed).toEqual(["client", "connection", "pool"]);
  });

  test("is closed with an error if the inbox is missing", async () => {
    const { connect, closed } = fakePostgres({ hasInbox: false });
    await expect(connect({ mustExist: true })).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringMatching(/^There is no inbox at/),
    });
    expect(closed).toEqual(["client", "connection", "pool"]);
  });

  test.each([
    ["a timeout", new Error("timeout expired"), /Raise "max_connections"/],
    ["too many connections", Object.assign(new Error("sorry"), { code: "53300" }), /has no connection left/],
    ["any other error", new Error("permission denied"), /\(permission denied\)/],
  ])("is closed if the migration fails with %s", async (_what, error, message) => {
    const migrate = () => Promise.reject(error);
    const { connect, closed } = fakePostgres({ migrate, end: () => Promise.reject(lost) });
    await expect(connect()).rejects.toMatchObject({ code: "INBOX_UNUSABLE", message: expect.stringMatching(message) });
    expect(closed).toEqual(["client", "connection", "pool"]);
  });

  test("that renews leases reports errors, and is closed", async () => {
    const { openLeases, backend, onError, closed } = fakePostgres();
    const leases = await openLeases();
    backend.emit("error", lost);
    expect(onError.mock.calls).toEqual([[lost]]);
    await leases.close();
    expect(closed).toEqual(["backend"]);
  });
});
