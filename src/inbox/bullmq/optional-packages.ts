import { WebhookError } from "../../core/errors.ts";

export type Bullmq = typeof import("bullmq");
export type Ioredis = typeof import("ioredis");
export type Pg = typeof import("pg");

/**
 * Loads BullMQ and the Redis client.
 *
 * @throws `INBOX_UNUSABLE` if a package is not installed.
 */
export function loadRedisPackages(): Promise<{ bullmq: Bullmq; ioredis: Ioredis }> {
  return load(["bullmq", "ioredis"], async (bullmq, ioredis) => ({
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
  return load(["bullmq", "pg"], async (bullmq, pg) => ({ bullmq: await import(bullmq), pg: await import(pg) }));
}

/** Imports optional packages. The names are variables, because bundlers fail on `import("name")` if the package is not installed. */
async function load<Packages>(
  names: readonly [string, string],
  loading: (...names: readonly [string, string]) => Promise<Packages>,
): Promise<Packages> {
  try {
    return await loading(...names);
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && /MODULE_NOT_FOUND$/.test(String(cause.code));
    if (!isMissing) throw cause;
    throw new WebhookError(
      `The inbox at INBOX_URL needs packages that are not installed. Run \`npm install ${names.join(" ")}\`.`,
      { code: "INBOX_UNUSABLE", cause },
    );
  }
}
