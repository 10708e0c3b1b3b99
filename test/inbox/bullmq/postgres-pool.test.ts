import { EventEmitter } from "node:events";
import { Client, Pool } from "pg";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openBullmqInbox } from "../../../src/inbox/bullmq/bullmq-inbox.ts";
import { maxConnections, sharePool } from "../../../src/inbox/bullmq/postgres-pool.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { waitFor } from "../../support/wait-for.ts";
import { incoming, succeeded, work } from "../engine.ts";

describe("A pool of connections", () => {
  const tooMany = Object.assign(new Error("sorry, too many clients already"), { code: "53300" });

  /** A connection of a fake `pg` pool. */
  class FakeClient extends EventEmitter {
    readonly release = vi.fn();
    readonly query = vi.fn(async (text: string) => ({ rows: [text] }));
  }

  /** Opens a pool on a fake `pg` pool, which opens one connection and then refuses `rejections` more. */
  function openPool() {
    const client = new FakeClient();
    const server = { rejections: 0 };
    const fake = Object.assign(new EventEmitter(), {
      options: { max: maxConnections },
      end: vi.fn(async () => {}),
      connect: vi.fn(async () => {
        if (server.rejections === 0) return client;
        server.rejections -= 1;
        throw tooMany;
      }),
    });
    const onError = vi.fn();
    const pool = sharePool(fake as unknown as Pool, onError);
    fake.emit("connect", client);
    return { pool, fake, client, server, onError };
  }

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  describe("A pool whose server has no connection left", () => {
    test("fails while its only connection is reserved, and waits for it once it is released", async () => {
      const { pool, client, server, onError } = openPool();
      const reserved = await pool.connect();
      server.rejections = 1;
      await expect(pool.query("SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED", cause: tooMany });
      reserved.release(true);
      expect(client.release).toHaveBeenLastCalledWith(true);
      server.rejections = 1;
      expect(await pool.query("SELECT 1")).toEqual({ rows: ["SELECT 1"] });
      expect(onError).toHaveBeenCalledTimes(2);
    });

    test("waits 5 s from the last rejection before it opens more connections", async () => {
      const { pool, fake, server } = openPool();
      for (const _ of [1, 2]) {
        server.rejections = 1;
        await pool.query("SELECT 1");
        vi.advanceTimersByTime(4_999);
        expect(fake.options.max).toBe(1);
      }
      vi.advanceTimersByTime(1);
      expect(fake.options.max).toBe(maxConnections);
    });

    test("opens no more connections for 5 s, and leaves no timer when it ends", async () => {
      const { pool, fake, server } = openPool();
      server.rejections = 1;
      await pool.query("SELECT 1");
      expect(fake.options.max).toBe(1);
      vi.advanceTimersByTime(5_000);
      expect(fake.options.max).toBe(maxConnections);
      server.rejections = 1;
      await pool.query("SELECT 1");
      await pool.end();
      expect([vi.getTimerCount(), fake.end.mock.calls.length]).toEqual([0, 1]);
    });
  });

  describe("The connection of a query", () => {
    test("is returned after the query, and kept if the server has rejected the query", async () => {
      const { pool, client } = openPool();
      await pool.query("SELECT 1");
      client.query.mockRejectedValueOnce(Object.assign(new Error("division by zero"), { severity: "ERROR" }));
      await expect(pool.query("SELECT 1 / 0")).rejects.toThrow("division by zero");
      expect(client.release.mock.calls).toEqual([[], [undefined]]);
    });

    test("is closed if it broke", async () => {
      const { pool, client } = openPool();
      const broken = new Error("Connection terminated unexpectedly");
      client.query.mockRejectedValueOnce(broken);
      await expect(pool.query("SELECT 1")).rejects.toBe(broken);
      expect(client.release.mock.calls).toEqual([[broken]]);
    });

    test("cannot be opened: the error is passed on", async () => {
      const { pool, fake, onError } = openPool();
      const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      fake.connect.mockRejectedValueOnce(refused);
      await expect(pool.query("SELECT 1")).rejects.toBe(refused);
      expect(onError).not.toHaveBeenCalled();
    });
  });

  test("A connection that is lost while it is idle does not end the process", () => {
    const { client } = openPool();
    expect(() => client.emit("error", new Error("Connection terminated unexpectedly"))).not.toThrow();
  });

  test("A connection counts as closed once the pool has removed it", async () => {
    const { pool, fake, client, server } = openPool();
    fake.emit("remove", client);
    server.rejections = 1;
    await expect(pool.query("SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  describe("A shared connection", () => {
    test("runs the queries of its callers one after the other, even after one that failed", async () => {
      const { pool, client } = openPool();
      const shared = await pool.connect();
      const running = Promise.withResolvers<{ rows: string[] }>();
      client.query.mockReturnValueOnce(running.promise);
      const first = shared.query("first");
      const second = shared.query("second");
      await Promise.resolve();
      expect(client.query).toHaveBeenCalledTimes(1);
      running.reject(new Error("syntax error"));
      await expect(first).rejects.toThrow("syntax error");
      expect(await second).toEqual({ rows: ["second"] });
    });

    test("adds and removes the listeners of its callers", async () => {
      const { pool, client } = openPool();
      const shared = await pool.connect();
      const listener = vi.fn();
      shared.on("notification", listener);
      client.emit("notification", { channel: "wait" });
      shared.removeListener("notification", listener);
      client.emit("notification", { channel: "wait" });
      expect(listener).toHaveBeenCalledOnce();
      shared.on("notification", listener);
      shared.removeAllListeners("notification");
      expect(client.listenerCount("notification")).toBe(0);
    });
  });
});

describe("A receiver on a PostgreSQL with few connections", { tags: "slow" }, () => {
  /**
   * Includes one connection of the test and those that PostgreSQL reserves for superusers. The receiver connects as a
   * superuser.
   */
  const maxConnections = 20;
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: maxConnections } });
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  const open = async (url: string, options: { startMs?: number } = {}) => {
    const logger = createMemoryLogger();
    const inbox = await openBullmqInbox({ ...options, url, log: logger, now: Date.now });
    onTestFinished(async () => void (await inbox.close(0)));
    return { inbox, logger };
  };

  /** Opens connections until only `leave` are free. Returns a function that closes some of them. */
  async function exhaust(url: string, { leave = 0 } = {}) {
    const clients: Client[] = [];
    const release = async (count = clients.length) => {
      await Promise.all(clients.splice(0, count).map((client) => client.end()));
    };
    onTestFinished(() => release());
    for (;;) {
      const client = new Client({ connectionString: url });
      client.on("error", () => {});
      try {
        await client.connect();
        clients.push(client);
      } catch {
        await client.end().catch(() => {});
        break;
      }
    }
    await release(leave);
    return release;
  }

  async function connectionsTo(url: string): Promise<number> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await client.end();
    return rows[0].count;
  }

  test("runs 20 endpoints with at most 10 connections", { timeout: 60_000 }, async () => {
    const url = await server.emptyDatabase({ isNew: true });
    const { inbox } = await open(url);
    const endpoints = Array.from({ length: 20 }, (_, index) => `endpoint-${index}`);
    for (const endpoint of endpoints) work(inbox, () => succeeded, { endpoint });
    await Promise.all(endpoints.map((endpoint) => inbox.accept(incoming("a", { endpoint }))));
    await waitFor(
      async () => {
        const counts = Object.values(await inbox.counts());
        expect(counts).toEqual(
          endpoints.map(() => ({ queued: 0, running: 0, succeeded: 1, ignored: 0, dead: 0, cancelled: 0 })),
        );
      },
      { timeout: 30_000, interval: 50 },
    );
    expect(await connectionsTo(url)).toBeLessThanOrEqual(10);
  });

  test("replaces a connection whose query timed out", async () => {
    const connectionString = await server.emptyDatabase({ isNew: true });
    const pool = sharePool(new Pool({ connectionString, max: 1, query_timeout: 1_000 }), () => {});
    onTestFinished(() => pool.end());
    await expect(pool.query("SELECT pg_sleep(60)")).rejects.toThrow("timeout");
    expect(await pool.query("SELECT 1 AS one")).toMatchObject({ rows: [{ one: 1 }] });
  });

  test("uses its open connections if another one is rejected, and opens more after 5 s", async () => {
    const address = await server.emptyDatabase({ isNew: true });
    const owner = new Client({ connectionString: address });
    await owner.connect();
    onTestFinished(() => owner.end());
    await owner.query("CREATE ROLE limited LOGIN PASSWORD 'password' CONNECTION LIMIT 1");
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const connectionString = Object.assign(new URL(address), { username: "limited" }).href;
    const errors: Error[] = [];
    const pool = sharePool(new Pool({ connectionString, max: 10 }), (error) => errors.push(error));
    onTestFinished(() => pool.end());
    const readPid = () => pool.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    /** Returns the number of connections that two concurrent queries use. */
    const countUsed = async () => {
      const results = await Promise.all([readPid(), readPid()]);
      return new Set(results.map(({ rows }) => rows[0]?.pid)).size;
    };
    await readPid();
    expect(await countUsed()).toBe(1);
    expect(errors).toMatchObject([{ code: "ECONNREFUSED" }]);
    await owner.query("ALTER ROLE limited CONNECTION LIMIT -1");
    vi.advanceTimersByTime(4_999);
    expect(await countUsed()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(await countUsed()).toBe(2);
    expect(errors).toHaveLength(1);
  });

  test("is notified of deliveries again after the listening connection was lost", { timeout: 60_000 }, async () => {
    const url = await server.emptyDatabase({ isNew: true });
    const { inbox } = await open(url);
    const endpoints = ["a", "b", "c"];
    const runs = endpoints.map((endpoint) => work(inbox, () => succeeded, { endpoint }));
    const runAll = async (id: string, count: number) => {
      await waitFor(() => Promise.all(endpoints.map((endpoint) => inbox.accept(incoming(id, { endpoint })))));
      await waitFor(() => expect(runs.map(({ length }) => length)).toEqual([count, count, count]));
    };
    await runAll("before", 1);
    const client = new Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    const listeners = () =>
      client.query(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%LISTEN bullmq_jobs%' AND pid <> pg_backend_pid()",
      );
    expect((await listeners()).rows).toHaveLength(1);
    await client.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await runAll("after", 2);
    await waitFor(async () => expect((await listeners()).rows).toHaveLength(1));
  });

  test.each([0, 1])("cannot start with %i connections, with a hint how many it needs", async (leave) => {
    const url = await server.emptyDatabase({ isNew: true });
    await exhaust(url, { leave });
    await expect(open(url)).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringMatching(/up to 10.*at least 2.*max_connections/),
    });
  });

  test.each([
    ["the whole start", 200],
    ["a connection", 60_000],
  ])("cannot start if %s times out, with a hint how many connections it needs", async (_what, startMs) => {
    const proxy = await startTcpProxy(server.port);
    const url = proxy.urlOf(await server.emptyDatabase({ isNew: true }));
    proxy.freeze();
    await expect(open(url, { startMs })).rejects.toMatchObject({
      code: "INBOX_UNUSABLE",
      message: expect.stringMatching(/up to 10.*at least 2.*max_connections/),
    });
  });

  test("runs all endpoints with the few connections that are left", { timeout: 60_000 }, async () => {
    const url = await server.emptyDatabase({ isNew: true });
    await exhaust(url, { leave: 3 });
    const { inbox } = await open(url);
    const endpoints = Array.from({ length: 20 }, (_, index) => `endpoint-${index}`);
    for (const endpoint of endpoints) work(inbox, () => succeeded, { endpoint });
    // With so few connections, deliveries may be refused while all workers start.
    const send = (endpoint: string) =>
      waitFor(() => inbox.accept(incoming("a", { endpoint })), { timeout: 30_000, interval: 50 });
    await Promise.all(endpoints.map(send));
    await waitFor(
      async () => {
        const counts = Object.values(await inbox.counts());
        expect(counts.map(({ succeeded: done }) => done)).toEqual(endpoints.map(() => 1));
      },
      { timeout: 30_000, interval: 50 },
    );
  });

  test("rejects deliveries while there is no connection, logs the reason, and recovers", {
    timeout: 60_000,
  }, async () => {
    const address = await server.emptyDatabase({ isNew: true });
    const database = new URL(address).pathname.slice(1);
    const owner = new Client({ connectionString: address });
    await owner.connect();
    onTestFinished(() => owner.end());
    await owner.query("CREATE ROLE receiver LOGIN PASSWORD 'password'");
    await owner.query(`GRANT ALL ON DATABASE ${database} TO receiver`);
    const url = Object.assign(new URL(address), { username: "receiver" }).href;
    const { inbox, logger } = await open(url);
    const runs = work(inbox, () => succeeded);
    await inbox.accept(incoming("before"));
    await waitFor(() => expect(runs).toHaveLength(1));

    await owner.query("ALTER ROLE receiver CONNECTION LIMIT 0");
    await owner.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'receiver'");
    await waitFor(
      async () =>
        expect(await inbox.problems()).toMatchObject([
          { code: "INBOX_UNAVAILABLE", message: expect.stringContaining("max_connections") },
        ]),
      { interval: 50 },
    );
    await expect(inbox.accept(incoming("refused"))).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE", status: 503 });
    const explained = logger.lines.filter(
      ({ level, err }) => level === "error" && err instanceof Error && err.message.includes("max_connections"),
    );
    expect(explained).toHaveLength(1);

    await owner.query("ALTER ROLE receiver CONNECTION LIMIT -1");
    await waitFor(() => inbox.accept(incoming("after")), { interval: 50 });
    await waitFor(() => expect(runs.map(({ id }) => id)).toContain("after"), { timeout: 20_000 });
    expect(await inbox.problems()).toEqual([]);
  });
});
