import { describe, expect, test } from "vitest";
import type { OwnActions } from "../../../src/inbox/inbox.ts";
import { OwnChanges } from "../../../src/receiver/hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const repo = { type: "model", name: "me/net" };
const other = { type: "dataset", name: "me/net" };

function createStore(): OwnActions & { keys: Set<string> } {
  const keys = new Set<string>();
  return {
    keys,
    add: async (added) => {
      for (const key of added) keys.add(key);
    },
    find: async (wanted) => new Set(wanted.filter((key) => keys.has(key))),
  };
}

function create(store?: OwnActions) {
  const log = createMemoryLogger();
  return { changes: new OwnChanges({ opened: Promise.resolve({ ownActions: store }) }, log), log };
}

const never = new AbortController().signal;

describe("The changes of a server", () => {
  test("are found by kind and ID, and discussions also by repository", async () => {
    const { changes } = create();
    await changes.begin(repo).done([
      { kind: "commit", id: "c0" },
      { kind: "discussion", id: "1" },
      { kind: "comment", id: "a1" },
    ]);
    const keys = ["commit c0", "discussion model:me/net#1", "discussion dataset:me/net#1", "comment a1", "comment c0"];
    expect(await changes.find(keys)).toEqual(new Set(["commit c0", "discussion model:me/net#1", "comment a1"]));
  });

  test("are stored before the call returns, and found by a server with the same store", async () => {
    const store = createStore();
    await create(store)
      .changes.begin(repo)
      .done([{ kind: "commit", id: "c0" }]);
    expect(store.keys).toEqual(new Set(["commit c0"]));
    expect(await create(store).changes.find(["commit c0", "commit c1"])).toEqual(new Set(["commit c0"]));
  });

  test("are bounded in memory", async () => {
    const { changes } = create();
    const made = Array.from({ length: 10_001 }, (_, index) => ({ kind: "commit" as const, id: String(index) }));
    await changes.begin(repo).done(made);
    expect(await changes.find(["commit 0", "commit 1"])).toEqual(new Set(["commit 1"]));
  });

  test("are found in memory if the store fails, with a warning", async () => {
    const failing: OwnActions = {
      add: () => Promise.reject(new Error("disk full")),
      find: () => Promise.reject(new Error("disk full")),
    };
    const { changes, log } = create(failing);
    await changes.begin(repo).done([{ kind: "commit", id: "c0" }]);
    expect(await changes.find(["commit c0", "commit c1"])).toEqual(new Set(["commit c0"]));
    expect(log.lines).toMatchObject([{ level: "warn" }, { level: "warn" }]);
  });

  test("in progress are waited for, in the same repository only", async () => {
    const { changes } = create();
    const first = changes.begin(repo);
    const second = changes.begin(repo);
    await changes.waitFor(other, never);
    const waiting = changes.waitFor(repo, never).then(() => "done");
    await first.done([]);
    expect(await Promise.race([waiting, Promise.resolve("waiting")])).toBe("waiting");
    await second.done([{ kind: "commit", id: "c0" }]);
    expect(await waiting).toBe("done");
    expect(await changes.find(["commit c0"])).toEqual(new Set(["commit c0"]));
  });

  test("in progress are waited for until the signal aborts", async () => {
    const { changes } = create();
    changes.begin(repo);
    const controller = new AbortController();
    const waiting = changes.waitFor(repo, controller.signal);
    controller.abort(new Error("too late"));
    await expect(waiting).rejects.toThrow("too late");
    await expect(changes.waitFor(repo, controller.signal)).rejects.toThrow("too late");
  });
});
