import { Redis } from "ioredis";
import { Client } from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { postgresSchema, redisPrefix } from "../../src/inbox/bullmq/queue-server.ts";
import { startPostgres } from "../support/postgres-server.ts";
import { addressOf, startReceiverProcess } from "../support/receiver-process.ts";
import { hasRedis, startRedis } from "../support/redis-server.ts";
import { waitFor } from "../support/wait-for.ts";
import { engines } from "./inbox-engines.ts";
import { Ledger } from "./inbox-ledger.ts";
import { InboxReceiver, inboxEnvironment } from "./inbox-receiver.ts";
import { countRows, noteAccount, skipFault } from "./rows.ts";

countRows("inbox-servers");

const script = new URL("./inbox-servers-script.ts", import.meta.url);
const servers = engines.filter(({ name }) => name !== "sqlite");
const withServers = process.env.SLOW_TESTS === "1";
const hourMs = 3_600_000;
const slowTest = { timeout: 120_000 };

function start(url: string, environment: Readonly<Record<string, string>> = {}) {
  return startReceiverProcess(script, inboxEnvironment(url, environment));
}

async function startReceiver(
  url: string,
  { ledger = new Ledger(url), ...environment }: { ledger?: Ledger } & Readonly<Record<string, unknown>> = {},
): Promise<InboxReceiver> {
  const settings = Object.entries(environment).map(([name, value]) => [name, String(value)]);
  const child = start(url, Object.fromEntries(settings));
  return new InboxReceiver(child, { url: await addressOf(child), ledger });
}

describe.each(servers)("An inbox in $name", ({ name, url: createUrl }) => {
  test("I10: logs once that the server's clock differs, and loses nothing", slowTest, async () => {
    const receiver = await startReceiver(await createUrl(), { CLOCK_BY: -hourMs });
    await receiver.saysOnce({ level: "warn", code: "INBOX_CLOCK_SKEW" });
    await receiver.stillWorks();
    await receiver.ledger.account("I10", name, { succeeded: 1 });
  });

  test("I13: runs a delivery once that blocks the event loop for longer than its lease", slowTest, async () => {
    const url = await createUrl();
    const ledger = new Ledger(url);
    const leaseMs = 3_000;
    const receiver = await startReceiver(url, { ledger, LEASE_MS: leaseMs });
    await receiver.deliver({ id: "warm-1000", endpoint: "blocking" });
    await ledger.waitForStatus({ id: "warm-1000", endpoint: "blocking" }, "succeeded");
    const other = await startReceiver(url, { ledger, LEASE_MS: leaseMs });
    const sent = { id: `blocks-${2.5 * leaseMs}`, endpoint: "blocking" };
    await receiver.deliver(sent);
    const stored = await waitFor(async () => {
      const [found] = await ledger.read([sent]);
      expect(found).toMatchObject({ status: "succeeded" });
      return found;
    });
    expect(stored?.attempts).toMatchObject([{ number: 1, outcome: "succeeded" }]);
    expect(receiver.countOf("work started") + other.countOf("work started")).toBe(2);
    await receiver.stillWorks();
    await ledger.account("I13", name, { succeeded: 3 });
  });

  test("I21: replays and deletes 10,000 deliveries without blocking the event loop", {
    timeout: 400_000,
  }, async () => {
    const url = await createUrl();
    const receiver = await startReceiver(url);
    const [count, originals] = [10_000, 10];
    for (const endpoint of ["failing", "brief"]) {
      for (let sent = 0; sent < originals; sent += 1) {
        expect((await receiver.deliver({ id: `${endpoint}-${sent}`, endpoint })).status).toBe(202);
      }
    }
    const counts = async () => (await receiver.control("counts")) as Record<string, Record<string, number>>;
    await waitFor(async () =>
      expect(await counts()).toMatchObject({ failing: { dead: originals }, brief: { succeeded: originals } }),
    );
    await copyDeliveries(url, count / originals - 1);
    expect(await counts()).toMatchObject({ failing: { dead: count }, brief: { succeeded: count } });
    const changeAll = async (action: "replay-dead" | "prune") => {
      const { count: changed, tookMs, delayMs } = (await receiver.control(action)) as Record<string, number>;
      console.log(`I21 ${name}: ${action} took ${tookMs} ms, the event loop was delayed by ${delayMs} ms`);
      expect(changed).toBe(count);
      // `stored-queue.test.ts` asserts the batch size. Times depend on the machine's load.
      expect(tookMs).toBeLessThan(120_000);
      expect(delayMs).toBeLessThan(1_000);
    };
    await changeAll("replay-dead");
    await changeAll("prune");
    // A delivery can change its state while the states are counted.
    await waitFor(async () => {
      const { queued = 0, running = 0, succeeded = 0, dead } = (await counts()).failing ?? {};
      expect({ dead, kept: queued + running + succeeded }).toEqual({ dead: 0, kept: count });
      expect(succeeded).toBeGreaterThan(originals);
      noteAccount({ acknowledged: count, succeeded, dead: 0, queued: queued + running, lost: 0 });
    });
    await receiver.stillWorks();
  });
});

/** Copies all deliveries in the store, since a minute passes until receivers have run this many. */
async function copyDeliveries(url: string, copies: number): Promise<void> {
  if (url.startsWith("redis:")) {
    const redis = new Redis(url);
    await redis.eval(copyingScript, 0, redisPrefix, copies);
    redis.disconnect();
    return;
  }
  const client = new Client({ connectionString: url, options: `-c search_path=${postgresSchema}` });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(
    `INSERT INTO job SELECT copy.* FROM job, generate_series(1, $1) AS number, jsonb_populate_record(job, jsonb_build_object(
       'id', job.id || '-' || number, 'seq', nextval('job_seq'), 'finished_at_ms', job.finished_at_ms - number
     )) AS copy WHERE job.state IN ('failed', 'completed')`,
    [copies],
  );
  await client.query(
    `INSERT INTO job_log SELECT queue, job_id || '-' || number, idx, row FROM job_log, generate_series(1, $1) AS number`,
    [copies],
  );
}

/** The sets of finished jobs have the IDs of the jobs, by the times at which they finished. */
const copyingScript = `
  for _, list in ipairs({ "failed", "completed" }) do
    for _, set in ipairs(redis.call("KEYS", ARGV[1] .. ":*:" .. list)) do
      local queue = string.sub(set, 1, -#list - 1)
      local finished = redis.call("ZRANGE", set, 0, -1, "WITHSCORES")
      for index = 1, #finished, 2 do
        for number = 1, ARGV[2] do
          local copy = finished[index] .. "-" .. number
          redis.call("COPY", queue .. finished[index], queue .. copy)
          redis.call("COPY", queue .. finished[index] .. ":logs", queue .. copy .. ":logs")
          redis.call("HINCRBY", queue .. copy, "finishedOn", -number)
          redis.call("ZADD", set, finished[index + 1] - number, copy)
        end
      end
    end
  end
`;

describe("A PostgreSQL without enough connections", () => {
  test("I15: causes a clear error at startup, and no endpoint starves", slowTest, async () => {
    if (!withServers) skipFault("I15 postgres", "set SLOW_TESTS=1");
    await using server = await startPostgres({ settings: { max_connections: 20 } });
    const url = await server.emptyDatabase();
    const ledger = new Ledger(url);
    // Forty endpoints share twenty connections.
    const receiver = await startReceiver(url, { ledger, ENDPOINTS: 40 });
    const sent = Array.from({ length: 40 }, (_, index) => ({ id: `first-${index}`, endpoint: `numbered-${index}` }));
    await Promise.all(sent.map((one) => receiver.deliver(one)));
    await receiver.says(40, { msg: "numbered ran" });

    const owner = new Client({ connectionString: url });
    await owner.connect();
    await owner.query("CREATE ROLE limited LOGIN PASSWORD 'password' CONNECTION LIMIT 1");
    await owner.query("CREATE DATABASE limited OWNER limited");
    await owner.end();
    const role = Object.assign(new URL(url), { username: "limited", pathname: "/limited" });
    const refused = start(role.href);
    expect((await refused.exited).code).not.toBe(0);
    expect(refused.errorOutput).toMatch(/INBOX_UNUSABLE/);
    expect(refused.errorOutput).toMatch(/up to 10.*max_connections/);

    const last = sent.map(({ endpoint }, index) => ({ id: `last-${index}`, endpoint }));
    await Promise.all(last.map((one) => receiver.deliver(one)));
    await receiver.says(80, { msg: "numbered ran" });
    await receiver.stillWorks();
    await ledger.account("I15", "postgres", { succeeded: 81 });
  });
});

describe("A Redis server without persistence that restarts", () => {
  test("I22: is logged as data loss once, and runs later deliveries", slowTest, async () => {
    if (!hasRedis) skipFault("I22 redis", "redis-server is missing");
    const settings = ["--appendonly", "no"];
    const first = await startRedis(settings);
    const { port } = first;
    const receiver = await startReceiver(await first.emptyDatabase());
    await receiver.stillWorks();
    await first[Symbol.asyncDispose]();
    await using _second = await startRedis(settings, { port });
    await waitFor(async () => expect((await receiver.page("/ready")).text).toContain("degraded"));
    await receiver.saysOnce({ level: "error", code: "INBOX_DATA_LOST" });
    await receiver.stillWorks();
    await receiver.page("/ready");
    await receiver.saysOnce({ level: "error", code: "INBOX_DATA_LOST" });
    // The deliveries after the reported loss.
    noteAccount({ acknowledged: 1, succeeded: 1, dead: 0, queued: 0, lost: 0 });
  });
});

describe("A Redis server that is temporarily a replica", () => {
  test("I18: causes 503 responses, then accepts and runs deliveries again", slowTest, async () => {
    if (!withServers || !hasRedis) skipFault("I18 redis", "set SLOW_TESTS=1 and install redis-server");
    await using server = await startRedis();
    await using other = await startRedis();
    const receiver = await startReceiver(await server.emptyDatabase());
    await receiver.stillWorks();
    const [client, promoted] = [new Redis({ port: server.port }), new Redis({ port: other.port })];
    for (const redis of [client, promoted]) {
      redis.on("error", () => {});
      onTestFinished(() => redis.disconnect());
    }
    const isSynced = (redis: Redis) =>
      waitFor(async () => expect(await redis.info("replication")).toContain("master_link_status:up"));
    await promoted.replicaof("127.0.0.1", server.port);
    await isSynced(promoted);
    await promoted.replicaof("NO", "ONE");
    await client.replicaof("127.0.0.1", other.port);
    await isSynced(client);
    const answer = await receiver.deliver({ id: "meanwhile" });
    expect(answer.status, answer.text).toBe(503);
    expect(JSON.parse(answer.text)).toMatchObject({ code: "INBOX_UNAVAILABLE" });
    await client.replicaof("NO", "ONE");
    await waitFor(async () => expect((await receiver.deliver({ id: "meanwhile" })).status).toBe(202));
    await receiver.stillWorks(answer);
    await receiver.ledger.account("I18", "redis", { succeeded: 3 });
  });
});
