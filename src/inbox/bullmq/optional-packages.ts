import { loadPackages } from "../optional-packages.ts";

export type Bullmq = typeof import("bullmq");
export type Ioredis = typeof import("ioredis");
export type Pg = typeof import("pg");

/**
 * Loads BullMQ and the Redis client.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export function loadRedisPackages(): Promise<{ bullmq: Bullmq; ioredis: Ioredis }> {
  return loadPackages(["bullmq", "ioredis"], async (bullmq, ioredis) => ({
    bullmq: await import(bullmq),
    ioredis: await import(ioredis),
  }));
}

/**
 * Loads BullMQ and the PostgreSQL client.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export function loadPostgresPackages(): Promise<{ bullmq: Bullmq; pg: Pg }> {
  return loadPackages(["bullmq", "pg"], async (bullmq, pg) => ({ bullmq: await import(bullmq), pg: await import(pg) }));
}
