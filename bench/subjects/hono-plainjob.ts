import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { defineQueue } from "plainjob";
import { announce } from "../announce.js";
import { type Payload, secret } from "../delivery.ts";
import { inboxFolder } from "../inbox-folder.ts";
import { logDelivery, openLog } from "../subject-log.ts";

rmSync(inboxFolder, { recursive: true, force: true });
mkdirSync(inboxFolder, { recursive: true });
const database = new DatabaseSync(join(inboxFolder, "plainjob.db"));
const log = openLog();

const queue = defineQueue({
  // plainjob expects better-sqlite3. The module of Node has nearly the same interface and the same SQLite.
  connection: {
    driver: "better-sqlite3",
    filename: "plainjob.db",
    pragma: (statement) => database.exec(`PRAGMA ${statement}`),
    exec: (statement) => database.exec(statement),
    prepare: (text) => {
      const statement = database.prepare(text);
      return {
        run: (...values: SQLInputValue[]) => {
          const { changes, lastInsertRowid } = statement.run(...values);
          return { changes: Number(changes), lastInsertRowid };
        },
        get: (...values: SQLInputValue[]) => statement.get(...values),
        all: (...values: SQLInputValue[]) => statement.all(...values),
      };
    },
    transaction: (run) => run,
    close: () => database.close(),
  },
  logger: log,
  serializer: (text) => String(text),
});
// Overrides the settings of plainjob: every commit is synced, as in the other subjects.
database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");

const app = new Hono();
app.post("/webhooks/bench", async (context) => {
  const startedAt = performance.now();
  if (context.req.header("x-webhook-secret") !== secret) return context.body(null, 403);
  const body = await context.req.text();
  const payload: Payload = JSON.parse(body);
  const { id } = queue.add("bench", body);
  logDelivery(log, { deliveryId: context.req.header("webhook-id"), payload, startedAt, outcome: "accepted" });
  return context.json({ deliveryId: id }, 202);
});

serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => announce(port));
