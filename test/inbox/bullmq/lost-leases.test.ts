// @module-tag slow

import { beforeAll, describe } from "vitest";
import { type PostgresServer, startPostgres } from "../../support/postgres-server.ts";
import { hasRedis, type RedisServer, startRedis } from "../../support/redis-server.ts";
import { describeCrashContract } from "../crash-contract.ts";
import { openers } from "../openers.ts";
import { describeLostLeases } from "./lost-lease-contract.ts";

describe.skipIf(!hasRedis)("Leases on Redis", () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  const redis = { name: "Redis", open: openers.Redis, emptyStore: () => server.emptyDatabase() };
  describeLostLeases(redis);
  describeCrashContract(redis);
});

describe("Leases on PostgreSQL", () => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await startPostgres();
    return () => server[Symbol.asyncDispose]();
  }, 60_000);

  const postgres = { name: "PostgreSQL", open: openers.PostgreSQL, emptyStore: () => server.emptyDatabase() };
  describeLostLeases(postgres);
  describeCrashContract(postgres);
});
