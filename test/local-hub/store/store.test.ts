import { expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../src/local-hub/store/store.ts";
import type { StoredWebhook } from "../../../src/local-hub/store/webhook-store.ts";

const webhook: StoredWebhook = {
  id: "0123456789abcdef01234567",
  owner: "local-user",
  definition: { url: "http://127.0.0.1:1/", watched: [{ type: "user", name: "local-user" }], domains: ["repo"] },
  disabled: false,
  failures: 0,
  dayBeganAt: 0,
  triggersToday: 0,
};
const repository = {
  type: "dataset",
  name: "me/data",
  id: "a",
  private: false,
  discussions: 0,
} as const;

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
