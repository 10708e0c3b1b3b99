import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { AuditFilter, StoredAuditEvent } from "../../../src/local-hub/store/audit-log-store.ts";
import { openDatabase } from "../../../src/local-hub/store/database.ts";
import { JobStore } from "../../../src/local-hub/store/job-store.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";
import type { StoredWebhook } from "../../../src/local-hub/store/webhook-store.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { openMemoryStore, storedRepository } from "../support/context.ts";

const webhook: StoredWebhook = {
  id: "0123456789abcdef01234567",
  owner: "local-user",
  definition: { url: "http://127.0.0.1:1/", watched: [{ type: "user", name: "local-user" }], domains: ["repo"] },
  disabled: false,
  failures: 0,
  dayBeganAt: 0,
  triggersToday: 0,
};
const repository = storedRepository();

test("A transaction that throws is rolled back, and the next one works", () => {
  const store = openMemoryStore();
  store.transaction(() => store.webhooks.put(webhook));

  const failed = () =>
    store.transaction(() => {
      store.webhooks.put({ ...webhook, failures: 1 });
      store.webhooks.put({ ...webhook, id: "another" });
      store.repositories.put(repository);
      throw new Error("disk I/O error");
    });
  expect(failed).toThrow("disk I/O error");
  expect(store.webhooks.all()).toEqual([webhook]);
  expect(store.repositories.all()).toEqual([]);

  store.transaction(() => store.repositories.put(repository));
  expect(store.repositories.all()).toEqual([repository]);
});

test("A transaction that SQLite rolls back, because the disk is full, leaves nothing behind", () => {
  const prepare = vi.spyOn(DatabaseSync.prototype, "prepare");
  const store = openMemoryStore();
  const [database] = prepare.mock.contexts;
  prepare.mockRestore();
  if (!(database instanceof DatabaseSync)) throw new Error("The store has no database.");
  database.exec("PRAGMA max_page_count = 1");
  const task = vi.fn();
  const failed = () =>
    store.transaction(() => {
      store.webhooks.put(webhook);
      store.afterCommit(task);
      for (let i = 0; ; i += 1) store.repositories.put(storedRepository({ name: `me/${i}` }));
    });
  expect(failed).toThrow(/full/);
  expect(store.webhooks.all()).toEqual([]);
  store.transaction(() => {});
  expect(task).not.toHaveBeenCalled();
});

test("A transaction within a transaction is rolled back alone, and otherwise committed with the outer one", () => {
  const store = openMemoryStore();
  const other = storedRepository({ name: "me/other" });
  store.transaction(() => {
    store.transaction(() => store.repositories.put(repository));
    const failed = () =>
      store.transaction(() => {
        store.repositories.put(other);
        throw new Error("disk I/O error");
      });
    expect(failed).toThrow("disk I/O error");
  });
  expect(store.repositories.all()).toEqual([repository]);
  const failed = () =>
    store.transaction(() => {
      store.transaction(() => store.repositories.put(other));
      throw new Error("disk I/O error");
    });
  expect(failed).toThrow("disk I/O error");
  expect(store.repositories.all()).toEqual([repository]);
});

test("A commit of a transaction that was rolled back is not found, and can be stored again", () => {
  const store = openMemoryStore();
  const { id } = repository;
  const details = { parents: [], changes: [], title: "Add data", message: "", author: "me", date: 1_000 };
  const create = () => store.content.createCommit(id, details);
  const { oid } = store.transaction((rollBack) => {
    rollBack();
    return create();
  });
  expect(store.content.getCommit(id, oid)).toBeUndefined();
  expect(store.transaction(create)).toMatchObject({ oid });
  store.content.reload();
  expect(store.content.getCommit(id, oid)).toMatchObject({ title: "Add data" });
});

test("A task for the end of a transaction runs once, after the outer commit, and never after a rollback", () => {
  const store = openMemoryStore();
  const ran: string[] = [];
  const add = (name: string) => store.afterCommit(() => ran.push(name));
  add("none");
  expect(ran).toEqual(["none"]);
  store.transaction(() => {
    add("outer");
    store.transaction(() => add("inner"));
    store.transaction((rollBack) => {
      add("rolled back");
      rollBack();
    });
    expect(ran).toEqual(["none"]);
  });
  store.transaction(() => {});
  expect(ran).toEqual(["none", "outer", "inner"]);
});

test("The list of objects contains all objects, although they are read in parts", async () => {
  const { objects, close } = openStore({});
  onTestFinished(close);
  const body = await objects.receive(new Blob(["content"]).stream());
  const keys = Array.from({ length: 2_100 }, (_, index) => String(index).padStart(4, "0"));
  for (const key of keys) objects.put({ bucketId: "store", key }, body, { contentType: "text/plain", modifiedAt: 0 });
  expect(Array.from(objects.list("store", { prefix: "", after: "" }), ({ key }) => key)).toEqual(keys);
});

test("A store in memory deletes its temporary files when it closes", async () => {
  const folder = createFolder();
  vi.stubEnv("TMPDIR", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  const store = openStore({});
  const content = Buffer.alloc(2 * 1024 * 1024);
  const file = { oid: createHash("sha256").update(content).digest("hex"), size: content.length };
  await store.content.saveLarge(repository.id, file, new Blob([content]).stream());
  await store.objects.receive(new Blob([content]).stream());
  const prefixes = readdirSync(folder).map((name) => name.replace(/-[^-]+$/, ""));
  expect(prefixes.sort()).toEqual(["hub-webhooks-files", "hub-webhooks-objects"]);
  store.close();
  expect(readdirSync(folder)).toEqual([]);
});

test("A listener is called for each table when all data is deleted", () => {
  const store = openMemoryStore();
  const changed = new Set<string>();
  store.watch((table) => changed.add(table));
  store.clear();
  expect([...changed].sort()).toEqual([
    ...["attempts", "discussion_events", "discussions", "events", "job_logs", "jobs", "pending", "refs"],
    ...["repositories", "webhooks"],
  ]);
});

test("The log of a webhook keeps its latest 100 attempts", () => {
  const { deliveries } = openMemoryStore();
  const result = { durationMs: 0, url: "", status: 200, response: null, error: null };
  const attempt = { ...result, deliveryId: "d", attempt: 1, at: "", request: { headers: {}, body: "" } };
  deliveries.addAttempt("other", { ...attempt, logId: "first" });
  for (let index = 0; index < 103; index += 1) deliveries.addAttempt(webhook.id, { ...attempt, logId: `${index}` });
  const kept = deliveries.attempts(webhook.id, { limit: 200 }).map(({ logId }) => Number(logId));
  expect(kept).toEqual(Array.from({ length: 100 }, (_, index) => 102 - index));
  expect(deliveries.attempt(webhook.id, "2")).toBeUndefined();
  expect(deliveries.attempts("other")).toHaveLength(1);
});

function openJobs(jobs = openMemoryStore().jobs) {
  const definition = { flavor: "cpu-basic", environment: {}, timeoutSeconds: null, attempts: 1 } as const;
  const add = (id: string) => {
    const account = { owner: "local-user", createdBy: "local-user" };
    jobs.add({ ...account, id, createdAt: 0, definition, secretNames: [], stage: "RUNNING", message: null }, {});
  };
  return { jobs, add };
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ timestamp: 0, data: String(from + index) }));

describe("The output of a job", () => {
  test("keeps the newest 10,000 lines", () => {
    const { jobs, add } = openJobs();
    add("a");
    jobs.addLines("a", lines(1, 9_999));
    jobs.addLines("a", lines(10_000, 10_050));
    const kept = jobs.lines("a", { after: 0, limit: 20_000 }).map(({ data }) => data);
    expect([kept.length, kept[0], kept.at(-1)]).toEqual([10_000, "51", "10050"]);
    expect(jobs.lineCount("a")).toBe(10_050);
  });

  test("is read in parts, and separately for each job", () => {
    const { jobs, add } = openJobs();
    for (const id of ["a", "b"]) add(id);
    jobs.addLines("a", lines(1, 3));
    jobs.addLines("b", lines(7, 7));
    expect(jobs.lines("a", { after: 1, limit: 1 })).toEqual([{ number: 2, timestamp: 0, data: "2" }]);
    expect(jobs.lines("b", { after: 0, limit: 9 })).toEqual([{ number: 1, timestamp: 0, data: "7" }]);
  });

  test("that does not fit on the disk is not stored, and the reason is thrown", () => {
    const database = openDatabase(undefined);
    onTestFinished(() => database.close());
    const { jobs, add } = openJobs(new JobStore(database));
    add("a");
    database.exec("PRAGMA max_page_count = 1");
    // SQLite rolls back the transaction.
    expect(() => jobs.addLines("a", lines(1, 10_000))).toThrow(/full/);
    expect(jobs.lineCount("a")).toBe(0);
  });

  test("is deleted with its job, and ignored for a deleted job", () => {
    const { jobs, add } = openJobs();
    add("first");
    jobs.addLines("first", lines(1, 2));
    for (let count = 0; count < 1_000; count += 1) add(String(count));
    expect(jobs.get("first")).toBeUndefined();
    jobs.addLines("first", lines(3, 3));
    expect(jobs.lines("first", { after: 0, limit: 9 })).toEqual([]);
  });
});

const everything: AuditFilter = { authors: [], ips: [], types: [] };

function openLog() {
  const store = openMemoryStore();
  return store.auditLog;
}

function event(number: number, changes: Partial<StoredAuditEvent> = {}): StoredAuditEvent {
  return { id: String(number), organization: "acme", type: "org.leave", at: number, message: "left", ...changes };
}

describe("The store of audit logs", () => {
  test("fills a page with matching events, regardless of their age", () => {
    const log = openLog();
    log.add(event(0, { type: "org.rename" }), ...Array.from({ length: 50 }, (_, number) => event(number + 1)));
    const filter = { ...everything, types: ["org.rename"] };
    const { events } = log.page({ organization: "acme", filter, limit: 2 });
    expect(events.map(({ id }) => id)).toEqual(["0"]);
  });

  test("finds authors and addresses in any case, and events of the Hub by the author system", () => {
    const log = openLog();
    log.add(event(1, { author: "Ada", ip: "2001:DB8::1" }), event(2));
    const found = (filter: Partial<AuditFilter>) =>
      log.page({ organization: "acme", filter: { ...everything, ...filter }, limit: 10 }).events.map(({ id }) => id);
    expect(found({ authors: ["aDA"] })).toEqual(["1"]);
    expect(found({ authors: ["system"] })).toEqual(["2"]);
    expect(found({ authors: ["system", "ada"] })).toEqual(["2", "1"]);
    expect(found({ ips: ["2001:db8::1"] })).toEqual(["1"]);
    expect(found({ authors: ["ad"] })).toEqual([]);
    expect(found({ authors: ["%", "A_a"], ips: [] })).toEqual([]);
  });
});
