import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";
import { openStore } from "../../../src/local-hub/store/store.ts";
import type { StoredWebhook } from "../../../src/local-hub/store/webhook-store.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { storedRepository } from "../support/repositories.ts";

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
  const store = openStore({});
  onTestFinished(() => store.close());
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

test("A transaction within a transaction is rolled back alone, and otherwise committed with the outer one", () => {
  const store = openStore({});
  onTestFinished(() => store.close());
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

test("A transaction that is rolled back on request returns its result, and changes nothing", () => {
  const store = openStore({});
  onTestFinished(() => store.close());
  const seen = store.transaction((rollBack) => {
    rollBack();
    store.repositories.put(repository);
    store.webhooks.put(webhook);
    return store.repositories.all();
  });
  expect(seen).toEqual([repository]);
  expect([store.repositories.all(), store.webhooks.all()]).toEqual([[], []]);
});

test("A commit of a transaction that was rolled back is not found, and can be stored again", () => {
  const store = openStore({});
  onTestFinished(() => store.close());
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
  const store = openStore({});
  onTestFinished(() => store.close());
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
  const store = openStore({});
  onTestFinished(() => store.close());
  const changed = new Set<string>();
  store.watch((table) => changed.add(table));
  store.clear();
  expect([...changed].sort()).toEqual([
    ...["attempts", "discussion_events", "discussions", "events", "job_logs", "jobs", "pending", "refs"],
    ...["repositories", "webhooks"],
  ]);
});
