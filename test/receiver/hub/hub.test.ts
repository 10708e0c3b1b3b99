import { describe, expect, test } from "vitest";
import { HubClient } from "../../../src/client.ts";
import type { OwnActions } from "../../../src/inbox/inbox.ts";
import { createDeferredClient, createOwnChanges } from "../../../src/receiver/hub.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const members = ["ada", "bob", "cleo"].map((user) => {
  return { _id: "6".repeat(24), user, fullname: user, avatarUrl: "/a.svg", isPro: false, type: "user" };
});

/** Creates a deferred client whose client answers each request with the same value. */
function defer(answer: unknown = {}) {
  const requests: string[] = [];
  const loads: HubClient[] = [];
  const real = new HubClient({
    hubUrl: "http://hub.test",
    token: "hf_local",
    fetch: async (input, init) => {
      requests.push(`${init?.method ?? "GET"} ${new URL(String(input)).pathname}`);
      return Response.json(answer);
    },
  });
  const client = createDeferredClient({
    load: async () => {
      loads.push(real);
      return real;
    },
    hubUrl: () => "http://hub.test",
  });
  return { client, loads, requests };
}

describe("A deferred client", () => {
  test("loads nothing before one of its methods is called", async () => {
    const { client, loads } = defer();
    const { hubUrl, jobs, whoami } = client;
    expect(await client).toBe(client);
    expect([hubUrl, typeof jobs.hardware, typeof whoami, loads]).toEqual([
      "http://hub.test",
      "function",
      "function",
      [],
    ]);
  });

  test("calls methods of the client, also with a detached method", async () => {
    const { client, requests } = defer({ any: "answer" });
    const response = await client.fetch("/api/any/thing", { method: "POST" });
    expect(await response.json()).toEqual({ any: "answer" });
    const { fetch } = client;
    await fetch("/api/other");
    expect(requests).toEqual(["POST /api/any/thing", "GET /api/other"]);
  });

  test("calls methods of resources, and of resources in them", async () => {
    const { client, requests } = defer([]);
    expect(await client.jobs.hardware()).toEqual([]);
    await client.organizations.resourceGroups.list("acme");
    expect(requests).toEqual(["GET /api/jobs/hardware", "GET /api/organizations/acme/resource-groups"]);
  });

  test("sends a request although nothing waits for its result", async () => {
    const { client, requests } = defer([]);
    void client.jobs.hardware();
    await expect.poll(() => requests).toEqual(["GET /api/jobs/hardware"]);
  });

  test("iterates over lists, by item and by page", async () => {
    const { client } = defer(members);
    const items = [];
    for await (const { user } of client.organizations.members("acme")) items.push(user);
    const pages = [];
    for await (const page of client.organizations.members("acme").pages()) pages.push(page.length);
    expect([items, pages]).toEqual([["ada", "bob", "cleo"], [3]]);
  });

  test("rejects with the errors of the client, and with the error of a failed load", async () => {
    const { client } = defer();
    await expect(client.fetch("no-slash")).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    const broken = createDeferredClient({
      load: async () => {
        throw new Error("It does not load.");
      },
      hubUrl: () => "http://hub.test",
    });
    await expect(broken.whoami()).rejects.toThrow("It does not load.");
    await expect(broken.organizations.members("acme").pages().next()).rejects.toThrow("It does not load.");
  });

  test("rejects calls of methods that the client does not have", async () => {
    const { client } = defer();
    const call: unknown = Reflect.get(client, "who");
    await expect(typeof call === "function" ? call() : undefined).rejects.toThrow('has no method "who"');
  });
});

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
  return { changes: createOwnChanges({ opened: Promise.resolve({ ownActions: store }) }, log), log };
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
