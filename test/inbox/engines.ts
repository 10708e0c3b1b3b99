import { join } from "node:path";
import { openBullmqInbox } from "../../src/inbox/bullmq/open-bullmq-inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import type { EngineOptions } from "./engine.ts";

/** How each engine is opened, by its name. */
export const openers = {
  SQLite: ({ store, ...options }: EngineOptions) =>
    new SqliteInbox({ now: Date.now, pollMs: 20, ...options, file: join(store, "inbox.db") }),
  PostgreSQL: openServer,
  Redis: openServer,
};

function openServer({ store, ...options }: EngineOptions) {
  return openBullmqInbox({ url: store, now: Date.now, ...options });
}
