import { EventEmitter } from "node:events";
import type { Pool } from "pg";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { maxConnections, PostgresPool } from "../../../src/inbox/bullmq/postgres-pool.ts";

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
  const pool = new PostgresPool(fake as unknown as Pool, onError);
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
