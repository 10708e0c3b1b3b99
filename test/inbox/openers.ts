import { join } from "node:path";
import { openBullmqInbox } from "../../src/inbox/bullmq/open-bullmq-inbox.ts";
import type { RetryPolicy } from "../../src/inbox/retry-policy.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import type { EngineOptions } from "./engine.ts";

/**
 * Functions that open an inbox, by engine name. This file does not import vitest, because processes started by tests
 * use it.
 */
export const openers = {
  SQLite: ({ store, ...options }: EngineOptions) =>
    new SqliteInbox({ now: Date.now, pollMs: 20, ...options, file: join(store, "inbox.db") }),
  PostgreSQL: openServer,
  Redis: openServer,
};

function openServer({ store, ...options }: EngineOptions) {
  return openBullmqInbox({ url: store, now: Date.now, ...options });
}

/** Two attempts with a wait that is short enough for tests. */
export const crashPolicy: RetryPolicy = { maxAttempts: 2, waitAfter: () => 1, totalWaitMs: 0 };
