import { existsSync } from "node:fs";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod/mini";
import { CallBudget } from "../../src/catch-up/call-budget.ts";
import { CatchUp } from "../../src/catch-up/catch-up.ts";
import { changeCoverage, cursorKeys, readCoverage } from "../../src/catch-up/cursor.ts";
import { StateReader } from "../../src/catch-up/repository-state.ts";
import { HubClient } from "../../src/client.ts";
import { HubError, WebhookError } from "../../src/core/errors.ts";
import type { StoredDelivery } from "../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../src/inbox/sqlite/sqlite-inbox.ts";
import { coveredReason } from "../../src/payload/filter.ts";
import { webhookPayload } from "../../src/payload/samples.ts";
import type { WebhookPayload } from "../../src/payload/schema.ts";
import { serverControl } from "../../src/receiver/control.ts";
import type { EndpointOptions } from "../../src/receiver/endpoint.ts";
import type { LaunchOptions } from "../../src/receiver/options.ts";
import { WebhooksServer } from "../../src/receiver/server.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { waitFor } from "../support/wait-for.ts";
import { catchUp, client, deliver, hub, hubCall, inbox, openOwnInbox, secret, useLocalHub } from "./local-hub.ts";

const repo = { type: "dataset", name: "local-user/data" } as const;
/** What the handler received, in all runs of a test. */
let received: { payload: WebhookPayload; origin: string }[];

useLocalHub(async () => {
  received = [];
  await hubCall("POST", "/api/repos/create", { name: "data", type: "dataset" });
});

/** Creates a server whose endpoint `bot` watches the dataset. */
function createServer(options: EndpointOptions = {}, url: ConstructorParameters<typeof WebhooksServer>[0] = {}) {
  const server = new WebhooksServer({ secret, inbox, hub: { hubUrl: hub.url, token: "hf_local" }, ...url });
  onTestFinished(() => server.close());
  server.webhook(
    "bot",
    { watch: "dataset:local-user/data", background: true, catchUp: true, ...options },
    async (payload, { delivery }) => {
      received.push({ payload: payload as WebhookPayload, origin: delivery.origin });
    },
  );
  return server;
}

/** Pushes a file, and returns the commit. */
async function push(content: string, branch = "main"): Promise<string> {
  return (await client.repo(repo).commit({ message: `Write ${content}`, files: { "data.csv": content }, branch })).oid;
}

async function stored(server: WebhooksServer): Promise<readonly StoredDelivery[]> {
  return (await server.inbox.list({ endpoint: "bot" })).deliveries;
}

/** Does something after each request for a list, before its response is used. */
function afterCall(start: string, act: () => Promise<void>): void {
  const send = HubClient.prototype.fetch;
  vi.spyOn(HubClient.prototype, "fetch").mockImplementation(async function (this: HubClient, path, init) {
    const response = await send.call(this, path, init);
    if (path.startsWith(start)) await act();
    return response;
  });
}

const ranges = () => received.flatMap(({ payload }) => payload.updatedRefs ?? []);

/** The payload of a push that the Hub delivers. */
async function pushPayload(oldSha: string | null, newSha: string | null, ref = "refs/heads/main") {
  const { _id: id } = await client.repo(repo).info();
  return webhookPayload("repo.content", { repo: { ...repo, id }, updatedRefs: [{ ref, oldSha, newSha }] });
}

describe("Catch-up", () => {
  test("delivers the pushes that a stopped server missed as one change", async () => {
    const first = await push("0");
    const server = createServer();
    await catchUp(server);
    await server.close();
    await push("1");
    await push("2");
    const last = await push("3");

    await createServer().ready();
    await waitFor(() => expect(received).toHaveLength(1));
    expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: first, newSha: last }]);
    expect(received[0]).toMatchObject({
      origin: "catch-up",
      payload: {
        event: { scope: "repo.content", action: "update" },
        repo: { type: "dataset", name: "local-user/data", private: false, headSha: last },
        webhook: { id: "catch-up", version: 3 },
      },
    });
  });

  test("makes few calls and derives nothing if nothing has changed", async () => {
    await push("0");
    const server = createServer({ scope: "repo.content" });
    await catchUp(server);
    expect(await catchUp(server)).toMatchObject({ calls: 2, repositories: 1, derived: [] });
  });

  test("derives nothing that was delivered, in reverse order too", async () => {
    const commits = [await push("0")];
    const server = createServer();
    await catchUp(server);
    commits.push(await push("1"), await push("2"));
    await deliver(server, await pushPayload(commits[1] ?? "", commits[2] ?? ""), "second");
    await deliver(server, await pushPayload(commits[0] ?? "", commits[1] ?? ""), "first");
    expect((await catchUp(server)).derived).toEqual([]);
    expect(received.map(({ origin }) => origin)).toEqual(["webhook", "webhook"]);
  });

  test("derives a force push back whose delivery was lost", async () => {
    const server = createServer();
    const first = await push("0");
    await catchUp(server);
    const second = await push("1");
    await deliver(server, await pushPayload(first, second), "second");
    await forcePush(first);
    await catchUp(server);
    expect(ranges().slice(1)).toEqual([{ ref: "refs/heads/main", oldSha: second, newSha: first }]);
  });

  test("ignores late deliveries of what it has derived, and only those", async () => {
    const server = createServer();
    const commits = [await push("0")];
    await catchUp(server);
    for (const content of ["1", "2"]) commits.push(await push(content));
    await catchUp(server);
    received = [];
    commits.push(await push("3"));
    for (const index of [2, 1, 0]) {
      await deliver(server, await pushPayload(commits[index] ?? "", commits[index + 1] ?? ""), `late-${index}`);
    }
    await catchUp(server);
    expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: commits[2], newSha: commits[3] }]);
    const late = (await stored(server)).filter(({ id }) => /^late-[01]$/.test(id));
    expect(late.map(({ status, attempts }) => [status, attempts.at(-1)?.reason])).toEqual([
      ["ignored", "catch-up has already delivered this change"],
      ["ignored", "catch-up has already delivered this change"],
    ]);
  });

  test("derives a new, a deleted, and a replaced branch", async () => {
    const server = createServer({ ref: "refs/heads/next" });
    const first = await push("0");
    await catchUp(server);
    await hubCall("POST", "/api/datasets/local-user/data/branch/next");
    await catchUp(server);
    const second = await push("1", "next");
    await hubCall("DELETE", "/api/datasets/local-user/data/branch/next");
    await catchUp(server);
    expect(second).not.toBe(first);
    expect(ranges()).toEqual([
      { ref: "refs/heads/next", oldSha: null, newSha: first },
      { ref: "refs/heads/next", oldSha: first, newSha: null },
    ]);
  });

  test("derives the same change again after it was undone and repeated", async () => {
    const server = createServer({ scope: "repo.config" });
    await catchUp(server);
    for (const visibility of ["private", "public", "private"] as const) {
      await client.repo(repo).setVisibility(visibility);
      await catchUp(server);
    }
    expect(received.map(({ payload }) => payload.updatedConfig)).toEqual([
      { private: true },
      { private: false },
      { private: true },
    ]);
  });

  test("derives a new name, and follows the repository", async () => {
    await hubCall("POST", "/api/repos/create", { name: "other", type: "dataset" });
    const server = createServer({ watch: "user:local-user", scope: "repo" });
    await catchUp(server);
    await hubCall("POST", "/api/repos/move", { fromRepo: repo.name, toRepo: "local-user/renamed", type: "dataset" });
    await hubCall("POST", "/api/repos/create", { name: "new", type: "model" });
    await catchUp(server);
    expect(await catchUp(server)).toMatchObject({ derived: [] });
    const found = received.map(({ payload }) => [payload.event.action, payload.repo.name, payload.movedTo?.name]);
    expect(found).toEqual(
      expect.arrayContaining([
        ["create", "local-user/new", undefined],
        ["move", "local-user/data", "local-user/renamed"],
      ]),
    );
  });

  test("derives discussions, comments, and changes of their status", async () => {
    const dataset = client.repo(repo);
    const { num: known } = await dataset.openDiscussion({ title: "Known before", text: "First", marker: "known" });
    const server = createServer({ scope: "discussion" });
    await catchUp(server);
    await dataset.comment(known, "Second");
    await dataset.setStatus(known, "closed");
    const { num } = await dataset.openDiscussion({ title: "Opened meanwhile", text: "Hello", marker: "new" });
    await dataset.comment(num, "More");
    await catchUp(server);
    expect(await catchUp(server)).toMatchObject({ derived: [] });
    expect(
      received
        .map(({ payload: { event, discussion, comment } }) =>
          [event.scope, event.action, discussion?.num, discussion?.status, comment?.content?.split("\n")[0] ?? ""].join(
            " ",
          ),
        )
        .sort(),
    ).toEqual(
      [
        `discussion create ${num} open Hello`,
        `discussion update ${known} closed `,
        `discussion.comment create ${num} open More`,
        `discussion.comment create ${known} closed Second`,
      ].sort(),
    );
  });

  test("goes on after a delivery that the schema of the endpoint refuses, and does not derive it again", async () => {
    const schema = z.object({ event: z.object({ scope: z.literal("repo.config") }) });
    const server = createServer({ schema });
    await push("0");
    await catchUp(server);
    await push("1");
    await hubCall("PUT", "/api/datasets/local-user/data/settings", { private: true });
    const scopes = (await catchUp(server)).derived.map(({ scope }) => scope);
    expect([scopes, (await catchUp(server)).derived]).toEqual([["repo.config"], []]);
  });

  test("reports with dryRun what it would derive, and changes nothing", async () => {
    const server = createServer({ paths: "data.csv" });
    await push("0");
    await catchUp(server);
    await push("1");
    const dry = await catchUp(server, { dryRun: true });
    expect(dry.derived).toMatchObject([{ scope: "repo.content", repository: "dataset:local-user/data" }]);
    expect(await stored(server)).toEqual([]);
    expect((await catchUp(server)).derived).toEqual(dry.derived);
  });
});

describe("An endpoint that receives other events than before", () => {
  test("starts at the present state, and derives what follows", async () => {
    const watch = "user:local-user";
    const first = await push("0");
    await catchUp(createServer({ watch, scope: "discussion" }));
    await catchUp(createServer({ watch, scope: "repo.content" }));
    const second = await push("1");
    await catchUp(createServer({ watch, scope: "repo.content" }));
    expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: first, newSha: second }]);
  });
});

describe("A delivery of a sender", () => {
  test("does not count as derived, whatever its ID is", async () => {
    const server = createServer();
    await deliver(server, await pushPayload(null, await push("0")), "catch-up-1-0123");
    await waitFor(() => expect(received.map(({ origin }) => origin)).toEqual(["webhook"]));
  });
});

/** Moves the main branch to an earlier commit. */
function forcePush(startingPoint: string): Promise<void> {
  return hubCall("POST", "/api/datasets/local-user/data/branch/main", { startingPoint, overwrite: true });
}

describe("After force pushes that restore an earlier commit, catch-up", () => {
  test("derives nothing that was delivered, and does not follow what it has compared again", async () => {
    const server = createServer();
    const first = await push("0");
    await catchUp(server);
    const [second, third] = [await push("1"), await push("2")];
    const steps = [[first, second], [second, first], [first, third]] as const; // biome-ignore format: a path
    for (const [from, to] of steps) await deliver(server, await pushPayload(from, to), `${from}-${to}`);
    await catchUp(server);
    await forcePush(first);
    await deliver(server, await pushPayload(third, first), "back");
    expect((await catchUp(server)).derived).toEqual([]);
  });

  test("does not ignore the delivery of a change that it has derived before", async () => {
    const server = createServer();
    const first = await push("0");
    await catchUp(server);
    const second = await push("1");
    await catchUp(server);
    received = [];
    await deliver(server, await pushPayload(second, first), "back");
    await waitFor(() => expect(received).toHaveLength(1));
    await deliver(server, await pushPayload(first, second), "again");
    await waitFor(() => expect(received).toHaveLength(2));
  });

  test.each([
    { nth: 1, dryRun: true },
    { nth: 1, dryRun: false },
    { nth: 2, dryRun: false },
  ])(
    "derives nothing from another repository that takes the name before read $nth of the refs, with dryRun $dryRun",
    async ({ nth, dryRun }) => {
      const other = { type: "dataset", name: "local-user/other" } as const;
      await hubCall("POST", "/api/repos/create", { name: "other", type: "dataset" });
      const first = await push("0");
      const server = createServer({ watch: "user:local-user", scope: "repo.content" });
      await catchUp(server);
      const missed = await push("1");
      const { oid } = await client.repo(other).commit({ message: "Write", files: { "other.csv": "1" } });
      const { refs } = StateReader.prototype;
      let reads = 0;
      const renaming = vi.spyOn(StateReader.prototype, "refs").mockImplementation(async function (
        this: StateReader,
        read,
      ) {
        if (read.name === repo.name) reads += 1;
        if (read.name === repo.name && reads === nth) {
          for (const [from, to] of [
            ["data", "moved"],
            ["other", "data"],
          ]) {
            const names = { fromRepo: `local-user/${from}`, toRepo: `local-user/${to}` };
            await hubCall("POST", "/api/repos/move", { ...names, type: "dataset" });
          }
        }
        return refs.call(this, read);
      });
      const { derived } = await catchUp(server, { dryRun });
      expect(derived.flatMap(({ updatedRefs = [] }) => updatedRefs)).not.toContainEqual(
        expect.objectContaining({ oldSha: first, newSha: oid }),
      );
      renaming.mockRestore();
      await catchUp(server);
      const { _id: id } = await client.repo({ type: "dataset", name: "local-user/moved" }).info();
      const commits = (isMoved: boolean) =>
        received.flatMap(({ payload: { repo, updatedRefs } }) => {
          return (repo.id === id) === isMoved ? (updatedRefs ?? []).map(({ newSha }) => newSha) : [];
        });
      expect([commits(true), commits(false)]).toEqual([[missed], [oid]]);
    },
  );

  test("compares a repository whose list was read before the latest push", async () => {
    await push("0");
    const server = createServer({ watch: "user:local-user", scope: "repo.content" });
    await catchUp(server);
    const second = await push("1");
    const pushed = Promise.withResolvers<string>();
    afterCall("/api/datasets?", async () => pushed.resolve(await push("2")));
    await catchUp(server);
    vi.restoreAllMocks();
    await forcePush(second);
    await catchUp(server);
    expect(ranges().at(-1)).toMatchObject({ oldSha: await pushed.promise, newSha: second });
  });

  test("compares a repository whose list was read before a force push to the known commit", async () => {
    const first = await push("0");
    const server = createServer({ watch: "user:local-user", scope: "repo.content" });
    await catchUp(server);
    const second = await push("1");
    await catchUp(server);
    await forcePush(first);
    afterCall("/api/datasets?", () => forcePush(second));
    expect((await catchUp(server)).derived).toEqual([]);
    vi.restoreAllMocks();
    await forcePush(first);
    await catchUp(server);
    expect(ranges().at(-1)).toMatchObject({ oldSha: second, newSha: first });
  });

  test("compares a repository whose list was read before a push that was delivered", async () => {
    const first = await push("0");
    const server = createServer({ watch: "user:local-user", scope: "repo.content" });
    await catchUp(server);
    afterCall("/api/spaces?", async () => {
      await deliver(server, await pushPayload(first, await push("1")), "delivered");
    });
    // The delivery is read with the second list.
    await deliver(server, await pushPayload(first, first), "other");
    await catchUp(server);
    vi.restoreAllMocks();
    await forcePush(first);
    await catchUp(server);
    expect(ranges().at(-1)).toMatchObject({ newSha: first });
  });
});

describe("Catch-up", () => {
  test("does not ignore a setting that it has derived, after another one was delivered", async () => {
    const server = createServer();
    await catchUp(server);
    await client.repo(repo).setVisibility("private");
    await catchUp(server);
    const { _id: id } = await client.repo(repo).info();
    for (const isPrivate of [false, true]) {
      const payload = webhookPayload("repo.config", { repo: { ...repo, id }, updatedConfig: { private: isPrivate } });
      await deliver(server, payload, `private ${isPrivate}`.replace(" ", "-"));
      await waitFor(() => expect(received.at(-1)?.payload.updatedConfig).toEqual({ private: isPrivate }));
    }
  });

  test("does not ignore a setting that it has derived before another one", async () => {
    const server = createServer({ scope: "repo.config" });
    for (const visibility of ["public", "private", "public"] as const) {
      await client.repo(repo).setVisibility(visibility);
      await catchUp(server);
    }
    expect(received).toHaveLength(2);
    const { _id: id } = await client.repo(repo).info();
    const again = webhookPayload("repo.config", { repo: { ...repo, id }, updatedConfig: { private: true } });
    await deliver(server, again, "private-again");
    await waitFor(() => expect(received).toHaveLength(3));
  });

  test("derives the deletion of a branch whose creation was delivered", async () => {
    const server = createServer();
    const first = await push("0");
    await catchUp(server);
    const ref = "refs/heads/next";
    await deliver(server, await pushPayload(null, first, ref), "created");
    await catchUp(server);
    expect(ranges().at(-1)).toEqual({ ref, oldSha: first, newSha: null });
  });

  test("derives nothing of a repository whose creation was delivered", async () => {
    const server = createServer({ watch: "user:local-user" });
    await catchUp(server);
    await hubCall("POST", "/api/repos/create", { name: "new", type: "dataset" });
    const { _id: id, id: name, sha } = await client.repo({ type: "dataset", name: "local-user/new" }).info();
    const created = { event: { scope: "repo", action: "create" }, repo: { id, name, type: "dataset", headSha: sha } };
    await deliver(server, webhookPayload("repo", created), "created");
    expect((await catchUp(server)).derived).toEqual([]);
  });

  describe("with a change that waits in the inbox", () => {
    const [removed, other] = ["a".repeat(40), "b".repeat(40)];
    const run = (server: WebhooksServer) =>
      server[serverControl].catchUp({ signal: AbortSignal.timeout(20_000), dryRun: false });

    async function createPaused(now = Date.now) {
      const server = createServer({ scope: "repo.content", concurrency: 1 }, { now });
      const first = await push("0");
      await catchUp(server);
      const { opened } = await openOwnInbox();
      await opened.pause("bot");
      /** Lets the handler run, and expects that nothing else needs to be derived. */
      const expectRuns = async (changes: readonly (readonly string[])[]) => {
        await opened.resume("bot");
        await waitFor(() => expect(received).toHaveLength(changes.length));
        expect((await catchUp(server)).derived).toEqual([]);
        expect(ranges().map(({ oldSha, newSha }) => [oldSha, newSha])).toEqual(changes);
      };
      return { server, opened, first, expectRuns };
    }

    test("connects it, and derives nothing when it has run", { tags: "slow" }, async () => {
      const { server, first, expectRuns } = await createPaused();
      await deliver(server, await pushPayload(removed, other), "waiting");
      await run(server);
      expect((await run(server)).get("bot")?.derived).toEqual([]);
      await expectRuns([
        [removed, other],
        [first, removed],
        [other, first],
      ]);
    });

    test("runs it, although the same change had to be derived", { tags: "slow" }, async () => {
      const { server, first, expectRuns } = await createPaused();
      const present = await push("1");
      await deliver(server, await pushPayload(first, present), "waiting");
      // The reversals of both were lost.
      await deliver(server, await pushPayload(removed, first), "other");
      await run(server);
      await expectRuns([
        [first, present],
        [removed, first],
        [first, present],
      ]);
    });

    test("runs it after hours of comparisons, although the same change was derived meanwhile", {
      tags: "slow",
    }, async () => {
      let now = Date.now();
      const { server, opened, first, expectRuns } = await createPaused(() => now);
      const present = await push("1");
      await deliver(server, await pushPayload(first, present), "waiting");
      for (let hours = 0; hours < 3; hours += 1) {
        await run(server);
        now += 3_600_000;
      }
      const { _id: id } = await client.repo(repo).info();
      const derived = { at: now, ref: { ref: "refs/heads/main", oldSha: first, newSha: present } };
      await opened.cursors?.set(
        "bot",
        new Map([[cursorKeys.coverage(id), JSON.stringify({ changes: [derived], parts: {} })]]),
      );
      await expectRuns([[first, present]]);
    });

    test("does not count it if it was ignored after it was listed, and then undone", async () => {
      const { server, opened, first } = await createPaused();
      const present = await push("1");
      await run(server);
      await deliver(server, await pushPayload(first, present), "late");
      await deliver(server, await pushPayload(present, first), "back");
      const { _id: id } = await client.repo(repo).info();
      await opened.cursors?.set(
        "bot",
        new Map([[cursorKeys.coverage(id), JSON.stringify({ changes: [], parts: {} })]]),
      );
      const { get } = opened;
      const times = { startedAt: new Date(), durationMs: 0 };
      const ignored = { number: 1, ...times, outcome: "ignored", reason: coveredReason } as const;
      onTestFinished(() => void vi.restoreAllMocks());
      vi.spyOn(SqliteInbox.prototype, "get").mockImplementation(async (key) => {
        const stored = await get.call(opened, key);
        return key.id === "late" && stored ? { ...stored, status: "ignored", attempts: [ignored] } : stored;
      });
      expect((await run(server)).get("bot")?.derived).toMatchObject([
        { updatedRefs: [{ oldSha: first, newSha: present }] },
      ]);
    });

    test("does not count it if it is a late delivery of a derived change", { tags: "slow" }, async () => {
      const { server, first, expectRuns } = await createPaused();
      const present = await push("1");
      await run(server);
      await deliver(server, await pushPayload(first, present), "late");
      await forcePush(first);
      const last = await push("2");
      await run(server);
      await expectRuns([
        [first, present],
        [present, last],
      ]);
    });
  });

  test("recognizes deliveries with an earlier name of the repository, and derives the new name", async () => {
    const { opened } = await openOwnInbox();
    const server = createServer({ watch: "user:local-user" }, { inbox: opened });
    await catchUp(server);
    await hubCall("POST", "/api/repos/create", { name: "new", type: "dataset" });
    const { _id: id, id: name, sha } = await client.repo({ type: "dataset", name: "local-user/new" }).info();
    const created = { event: { scope: "repo", action: "create" }, repo: { id, name, type: "dataset", headSha: sha } };
    await hubCall("POST", "/api/repos/move", { fromRepo: name, toRepo: "local-user/renamed", type: "dataset" });
    const { list } = opened;
    let lists = 0;
    vi.spyOn(opened, "list").mockImplementation(async (options) => {
      lists += 1;
      if (lists === 2) {
        vi.restoreAllMocks();
        await deliver(server, webhookPayload("repo", created), "during");
      }
      return list.call(opened, options);
    });
    expect((await catchUp(server)).derived).toMatchObject([{ action: "move", repository: "dataset:local-user/new" }]);
  });

  test("derives no reversal of a push that arrives during the comparison", async () => {
    const { opened } = await openOwnInbox();
    const first = await push("0");
    const server = createServer({}, { inbox: opened });
    await catchUp(server);
    await hubCall("POST", "/api/datasets/local-user/data/branch/next");
    const { list } = opened;
    let lists = 0;
    vi.spyOn(opened, "list").mockImplementation(async (options) => {
      lists += 1;
      if (lists === 2) {
        vi.restoreAllMocks();
        await deliver(server, await pushPayload(first, await push("1")), "during");
      }
      return list.call(opened, options);
    });
    const { derived } = await catchUp(server);
    expect(derived.flatMap(({ updatedRefs }) => updatedRefs?.map(({ ref }) => ref))).toEqual(["refs/heads/next"]);
  });
});

describe("The first run", () => {
  test("starts after what was delivered before, also if it arrives late", async () => {
    const [first, second, last] = [await push("0"), await push("1"), await push("2")];
    const server = createServer({ scope: "repo.content", concurrency: 1 });
    await deliver(server, await pushPayload(first, second), "before");
    expect((await catchUp(server)).derived).toEqual([]);
    await deliver(server, await pushPayload(second, last), "late");
    expect((await catchUp(server)).derived).toEqual([]);
    expect(received).toHaveLength(2);
  });

  test.each([
    ["now", 0],
    ["all", 1],
  ] as const)("since %s derives %s changes of a repository with two commits", async (since, expected) => {
    await push("0");
    const last = await push("1");
    const server = createServer({ scope: "repo.content", catchUp: { since } });
    await catchUp(server);
    expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: null, newSha: last }].slice(0, expected));
  });

  test("since a time derives what came later", async () => {
    const first = await push("0");
    const { lastModified = "" } = await client.repo(repo).info();
    await waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(lastModified) + 5));
    const since = new Date();
    await waitFor(() => expect(Date.now()).toBeGreaterThan(since.getTime() + 5));
    const last = await push("1");
    await catchUp(createServer({ scope: "repo.content", catchUp: { since } }));
    expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: first, newSha: last }]);
  });
});

describe("A run that starts earlier than the last one", () => {
  test("still derives what the Hub shows without a time", async () => {
    const watch = "user:local-user";
    const server = createServer({ watch });
    await catchUp(server);
    await hubCall("POST", "/api/repos/move", {
      fromRepo: "local-user/data",
      toRepo: "local-user/new",
      type: "dataset",
    });
    const reports = await server[serverControl].catchUp({
      signal: AbortSignal.timeout(20_000),
      since: new Date(Date.now() - 86_400_000),
    });
    expect(reports.get("bot")?.derived).toContainEqual(expect.objectContaining({ action: "move" }));
  });

  test("derives what was never accepted, although something later was derived", async () => {
    const first = await push("0");
    const server = createServer({ scope: "repo.content" });
    await catchUp(server);
    const second = await push("1");
    await catchUp(server);
    expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: first, newSha: second }]);
    const reports = await server[serverControl].catchUp({ signal: AbortSignal.timeout(20_000), since: "all" });
    expect(reports.get("bot")?.derived).toMatchObject([
      { updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: first }] },
    ]);
  });
});

describe("A repository that was created since the last run and could not be read", () => {
  test("is derived by the next run", async () => {
    const server = createServer({ watch: "user:local-user", scope: ["repo", "repo.content"] });
    await catchUp(server);
    await hubCall("POST", "/api/repos/create", { name: "new", type: "dataset" });
    const refused = vi.spyOn(StateReader.prototype, "refs").mockImplementation(async () => {
      throw new HubError("Refused", { code: "HUB_REFUSED", status: 403 });
    });
    expect(await catchUp(server)).toMatchObject({ failed: 1, derived: [] });
    refused.mockRestore();
    expect((await catchUp(server)).derived).toMatchObject([
      { action: "create", repository: "dataset:local-user/new" },
      { scope: "repo.content" },
    ]);
  });
});

describe("Repositories for which the Hub fails", () => {
  const failure = new HubError("Broken", { code: "HUB_UNREACHABLE" });

  /** Compares repositories, lets them be written, and lets the Hub fail for some of them. */
  async function open(names: string[], fails: (name: string) => boolean) {
    const server = createServer({ watch: "user:local-user", scope: "repo.content" });
    for (const name of names) await hubCall("POST", "/api/repos/create", { name, type: "dataset" });
    await catchUp(server);
    for (const name of names) {
      const written = client.repo({ type: "dataset", name: `local-user/${name}` });
      await written.commit({ message: "Write", files: { "data.csv": name } });
    }
    const { refs } = StateReader.prototype;
    const reading = vi.spyOn(StateReader.prototype, "refs").mockImplementation(function (this: StateReader, read) {
      if (fails(read.name)) throw failure;
      return refs.call(this, read);
    });
    onTestFinished(() => reading.mockRestore());
    return { server, reading, handled: () => received.map(({ payload }) => payload.repo.name).sort() };
  }

  test("do not prevent the others from being compared, and are compared by the next run", async () => {
    const { server, reading, handled } = await open(["a", "b", "c"], (name) => name.endsWith("/b"));
    expect(await catchUp(server)).toMatchObject({ failed: 1, failure });
    expect(handled()).toEqual(["local-user/a", "local-user/c"]);
    reading.mockRestore();
    await catchUp(server);
    expect(handled()).toEqual(["local-user/a", "local-user/b", "local-user/c"]);
  });

  test("end the run if they follow each other", async () => {
    const { server, reading } = await open(["a", "b", "c"], () => true);
    await expect(catchUp(server)).rejects.toThrow(failure);
    expect(reading).toHaveBeenCalledTimes(2);
  });
});

describe("An answer of the Hub", () => {
  const known = { _id: "1", id: "me/data" };
  /** A body that contains the start of an answer, and then fails or sends nothing more. */
  const partial = (end: "cut" | "stalled") =>
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode("[{")),
      pull: (controller) => (end === "cut" ? controller.error(new TypeError("terminated")) : new Promise(() => {})),
    });

  /** Reads a repository from a Hub that sends these bodies. */
  function read(bodies: BodyInit[]) {
    const send = vi.fn(async () => new Response(bodies.shift()));
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation(() => timeout(1));
    onTestFinished(() => void vi.restoreAllMocks());
    const reader = new StateReader({
      hub: new HubClient({ hubUrl: "https://hub.test", token: "hf_local", fetch: send }),
      budget: new CallBudget({ monotonicNow: () => 0, wait: async () => {} }),
      ranges: new Map(),
      signal: new AbortController().signal,
    });
    return { send, repository: reader.repository({ type: "dataset", name: "me/data" }) };
  }

  test.each(["cut", "stalled"] as const)("that is %s is requested again, and fails the third time", async (end) => {
    const { send, repository } = read([partial(end), partial(end), JSON.stringify(known)]);
    expect(await repository).toMatchObject({ name: "me/data", id: "1" });
    expect(send).toHaveBeenCalledTimes(3);
    const failing = read([partial(end), partial(end), partial(end), JSON.stringify(known)]);
    await expect(failing.repository).rejects.toMatchObject({ code: "HUB_UNREACHABLE", retryable: true });
  });

  test.each(["<html>", "{}", "[]"])("in another format is invalid: %s", async (body) => {
    await expect(read([body]).repository).rejects.toMatchObject({ code: "HUB_RESPONSE_INVALID" });
  });
});

describe("A decision about a delivery", () => {
  const target = { endpoint: "bot", watch: [repo], domains: ["repo"], since: "now" } as const;
  const options = () => ({ signal: AbortSignal.timeout(20_000) });

  /** Creates the catch-up of a process. It accepts derived deliveries, but does not store them. */
  function createProcess(now = Date.now, accept: () => Promise<"accepted"> = async () => "accepted"): CatchUp {
    const wait = async () => void (await new Promise(setImmediate));
    const budget = new CallBudget({ monotonicNow: () => 0, wait, limit: Number.POSITIVE_INFINITY });
    return new CatchUp({
      ...{ hub: client, budget, log: createMemoryLogger(), now, wait },
      accept,
    });
  }

  /** Lets a process compare, after a push that was missed, until it reads the refs to look for changes, or again to derive them. */
  async function startDeriving(now = Date.now, { until = 2, processNow = now } = {}) {
    const { opened } = await openOwnInbox(now);
    const process = createProcess(processNow);
    const first = await push("0");
    await process.run(target, opened, options());
    const second = await push("1");
    const { refs } = StateReader.prototype;
    const [reading, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let reads = 0;
    vi.spyOn(StateReader.prototype, "refs").mockImplementation(async function (this: StateReader, read) {
      reads += 1;
      if (reads === until) {
        reading.resolve();
        await released.promise;
      }
      return refs.call(this, read);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const running = process.run(target, opened, options());
    await reading.promise;
    const delivery = {
      ...{ endpoint: "bot", id: "late", receivedAt: new Date() },
      payload: await pushPayload(first, second),
    };
    return { opened, process, running, release: released.resolve, delivery };
  }

  test("waits until another process has derived deliveries of the repository", async () => {
    const { opened, running, release, delivery } = await startDeriving();
    const deciding = createProcess().uncovered(delivery, opened, options().signal);
    const isDecided = await Promise.race([
      deciding.then(() => true),
      waitFor(() => expect(1).toBe(1)).then(() => false),
    ]);
    release();
    expect((await running).derived).toHaveLength(1);
    expect([isDecided, await deciding]).toEqual([false, "nothing"]);
  });

  test("waits for a comparison longer than for calls to the Hub", async () => {
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) =>
      ms === 30_000 ? AbortSignal.abort(new Error("The time is over.")) : timeout.call(AbortSignal, ms),
    );
    const { opened, process, running, release, delivery } = await startDeriving();
    const server = createServer({}, { inbox: opened });
    const { uncovered } = CatchUp.prototype;
    // The server and the comparison are one process.
    vi.spyOn(CatchUp.prototype, "uncovered").mockImplementation((...given) => uncovered.apply(process, given));
    await deliver(server, delivery.payload, "late");
    release();
    await running;
    await waitFor(async () => expect((await opened.get({ endpoint: "bot", id: "late" }))?.status).toBe("ignored"));
  });

  test("does not end the claim of the comparison that runs in the same process", async () => {
    const { opened, process, running, release, delivery } = await startDeriving();
    const id = "f".repeat(24);
    const crashed = { changes: [], parts: {}, comparing: "a crashed process" };
    await opened.cursors?.set("bot", new Map([[cursorKeys.coverage(id), JSON.stringify(crashed)]]));
    const payload = { ...delivery.payload, repo: { ...delivery.payload.repo, id } };
    expect(await process.uncovered({ ...delivery, payload }, opened, options().signal)).toBe("all");
    expect(await opened.cursors?.claim({ key: "bot", holder: "another process", forMs: 1 })).toBe(false);
    release();
    await running;
  });

  test("is not lost if another process changes the coverage at the same time", async () => {
    const { cursors } = await openOwnInbox();
    const wait = async () => void (await new Promise(setImmediate));
    const store = { cursors, endpoint: "bot", repositoryId: "one", wait, signal: options().signal };
    const part = { updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha: "a".repeat(40) }] };
    await Promise.all([
      changeCoverage(store, (coverage) => ({ ...coverage, comparing: "a process" })),
      changeCoverage(store, (coverage) => ({ ...coverage, parts: { two: part } })),
    ]);
    const text = await cursors.get("bot", cursorKeys.coverage("one"));
    expect(readCoverage(text)).toEqual({ changes: [], comparing: "a process", parts: { two: part } });
  });

  test("does not wait for a process that was suspended, which then derives nothing although its clock was set back", async () => {
    const startedAt = Date.now();
    let now = startedAt;
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const clocks = { processNow: () => startedAt };
    const { opened, process, running, release, delivery } = await startDeriving(() => now, clocks);
    now += 3 * 60_000;
    expect(await createProcess(() => now).uncovered(delivery, opened, options().signal)).toBe("all");
    release();
    expect((await running).derived).toEqual([]);
    // The process that decided has not stored the delivery.
    expect((await process.run(target, opened, options())).derived).toHaveLength(1);
  });

  test.each([1, 2])(
    "and the cursors are not changed by a process that was suspended before read %s of the refs, after another one has compared",
    async (until) => {
      let now = Date.now();
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
      onTestFinished(() => void vi.useRealTimers());
      const { opened, running, release } = await startDeriving(() => now, { until });
      now += 3 * 60_000;
      expect((await createProcess(() => now).run(target, opened, options())).derived).toHaveLength(1);
      await push("2");
      const before = await opened.cursors?.list("bot");
      // The process could claim again, because the other one has ended.
      await vi.advanceTimersByTimeAsync(60_000);
      release();
      expect(await running).toMatchObject({ isElsewhere: true, derived: [] });
      expect(await opened.cursors?.list("bot")).toEqual(before);
    },
  );

  test("and the cursors are not changed by a process that was suspended before its first write", async () => {
    let now = Date.now();
    const { opened, cursors } = await openOwnInbox(() => now);
    const released = Promise.withResolvers<ReadonlyMap<string, string>>();
    vi.spyOn(cursors, "list").mockReturnValueOnce(released.promise);
    onTestFinished(() => void vi.restoreAllMocks());
    const running = createProcess(() => now).run(target, opened, options());
    await waitFor(() => expect(cursors.list).toHaveBeenCalled());
    now += 3 * 60_000;
    await createProcess(() => now).run(target, opened, options());
    const before = await cursors.list("bot");
    released.resolve(new Map());
    expect(await running).toMatchObject({ isElsewhere: true });
    expect(await cursors.list("bot")).toEqual(before);
  });

  test("and what another process has stored are not changed by one that was suspended while it accepted", async () => {
    let now = Date.now();
    const { opened } = await openOwnInbox(() => now);
    const [accepting, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const suspended = createProcess(
      () => now,
      async () => {
        accepting.resolve();
        await released.promise;
        return "accepted";
      },
    );
    await push("0");
    await suspended.run(target, opened, options());
    await push("1");
    const running = suspended.run(target, opened, options());
    await accepting.promise;
    now += 3 * 60_000;
    await push("2");
    const ended = new Error("The process ended.");
    const accept = vi.fn<() => Promise<"accepted">>().mockResolvedValueOnce("accepted").mockRejectedValueOnce(ended);
    await expect(createProcess(() => now, accept).run(target, opened, options())).rejects.toThrow(ended);
    released.resolve();
    await running;
    expect((await createProcess(() => now).run(target, opened, options())).derived).toHaveLength(1);
  });

  test("for a part of a delivery applies until the delivery has ended", async () => {
    const received: unknown[] = [];
    const ending = Promise.withResolvers<void>();
    const server = new WebhooksServer({ secret, inbox, hub: { hubUrl: hub.url, token: "hf_local" } });
    onTestFinished(() => server.close());
    const watch = "dataset:local-user/data";
    server.webhook(
      "bot",
      { watch, background: true, catchUp: true, scope: "repo.content" },
      async ({ updatedRefs }, { delivery }) => {
        if (delivery.origin === "webhook") received.push(updatedRefs);
        if (received.length !== 1) return;
        await ending.promise;
        throw new Error("A failure of the handler.");
      },
    );
    server[serverControl].limitRetryWaits(1);
    const run = async () => (await server[serverControl].catchUp({ ...options(), dryRun: false })).get("bot")?.derived;
    const first = await push("0");
    await run();
    const second = await push("1");
    await run();
    await hubCall("POST", "/api/datasets/local-user/data/branch/next", { startingPoint: second });
    const next = { ref: "refs/heads/next", oldSha: null, newSha: second };
    const payload = await pushPayload(first, second);
    await deliver(server, { ...payload, updatedRefs: [...(payload.updatedRefs ?? []), next] }, "in-part");
    await waitFor(() => expect(received).toEqual([[next]]));
    expect(await run()).toEqual([]);
    ending.resolve();
    await waitFor(() => expect(received).toEqual([[next], [next]]));
  });

  test("waits for a comparison, also after the wait of another one was aborted", async () => {
    const { opened } = await openOwnInbox();
    const comparison = createProcess();
    const reading = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    vi.spyOn(StateReader.prototype, "refs").mockImplementationOnce(async () => {
      started.resolve();
      await reading.promise;
      return new Map();
    });
    const running = comparison.run(target, opened, { signal: AbortSignal.timeout(20_000) });
    await started.promise;
    const payload = await pushPayload("a".repeat(40), "b".repeat(40));
    const delivery = { endpoint: "bot", payload, id: "one", receivedAt: new Date() };
    await expect(comparison.uncovered(delivery, opened, AbortSignal.timeout(1))).rejects.toThrow();
    const ended: string[] = [];
    const deciding = comparison
      .uncovered(delivery, opened, AbortSignal.timeout(20_000))
      .then(() => ended.push("decision"));
    setTimeout(() => {
      ended.push("comparison");
      reading.resolve();
    }, 20);
    await Promise.all([running, deciding]);
    expect(ended).toEqual(["comparison", "decision"]);
  });

  test("undoes what a comparison derives if the delivery was received after its last read of the inbox", async () => {
    const first = await push("0");
    const server = createServer({ scope: "repo.content" });
    await catchUp(server);
    const second = await push("1");
    const { repository } = StateReader.prototype;
    let reads = 0;
    vi.spyOn(StateReader.prototype, "repository").mockImplementation(async function (this: StateReader, read) {
      const found = await repository.call(this, read);
      reads += 1;
      // The third read follows those of the inbox and of the refs.
      if (reads === 3) await deliver(server, await pushPayload(second, first), "back");
      return found;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    await catchUp(server);
    await deliver(server, await pushPayload(first, second), "forth");
    const forth = { oldSha: first, newSha: second };
    await waitFor(() => expect(ranges()).toMatchObject([forth, { oldSha: second, newSha: first }, forth]));
  });
});

describe("A process that ends during catch-up", () => {
  test.each([
    ["announces that it derives", 1],
    ["stores what it derives", 2],
    ["accepts it", 3],
    ["stores that it was accepted", 4],
  ])("before it %s, runs the handler once for each change", async (_what, nth) => {
    const first = await push("0");
    const { opened, cursors } = await openOwnInbox();
    await catchUp(createServer({}, { inbox: opened }));
    // Its delivery is late, and the commit is overwritten.
    const second = await push("1");
    await forcePush(first);
    const third = await push("2");
    let writes = 0;
    const { set } = cursors;
    const { accept } = opened;
    const write = <Result>(request: () => Promise<Result>): Promise<Result> => {
      writes += 1;
      return writes < nth ? request() : Promise.reject(new Error("The process ended."));
    };
    vi.spyOn(cursors, "set").mockImplementation((...given) => write(() => set.apply(cursors, given)));
    vi.spyOn(opened, "accept").mockImplementation((...given) => write(() => accept.apply(opened, given)));
    await expect(catchUp(createServer({}, { inbox: opened }))).rejects.toThrow("The process ended.");
    vi.restoreAllMocks();
    const next = createServer({}, { inbox: opened });
    await catchUp(next);
    expect(await cursors.get("bot", cursorKeys.unaccepted)).toBe("[]");
    const late = [[first, second], [first, third]] as const; // biome-ignore format: a path
    for (const [from, to] of late) await deliver(next, await pushPayload(from, to), `${from}-${to}`);
    const fourth = await push("3");
    await catchUp(next);
    // The overwritten commit is connected with the others.
    const steps = [[first, third], [first, second], [third, first], [second, fourth]]; // biome-ignore format: a path
    expect(ranges().map(({ oldSha, newSha }) => [oldSha, newSha])).toEqual(steps);
    expect((await catchUp(next)).derived).toEqual([]);
  });

  test("does not compare another repository before what is derived was accepted", async () => {
    const other = { type: "dataset", name: "local-user/other" } as const;
    await hubCall("POST", "/api/repos/create", { name: "other", type: "dataset" });
    const { opened } = await openOwnInbox();
    const server = createServer({ watch: "user:local-user", scope: "repo.content" }, { inbox: opened });
    await catchUp(server);
    await push("1");
    await client.repo(other).commit({ message: "Write", files: { "other.csv": "1" } });
    const refused = new HubError("Not found", { code: "HUB_REFUSED", status: 404 });
    vi.spyOn(opened, "accept").mockRejectedValueOnce(refused);
    await expect(catchUp(server)).rejects.toThrow(refused);
    await catchUp(server);
    expect(received.map(({ payload }) => payload.repo.name).sort()).toEqual([repo.name, other.name]);
  });

  test("is followed by a run that reports with dryRun only what was not accepted", async () => {
    await push("0");
    const { opened } = await openOwnInbox();
    await catchUp(createServer({}, { inbox: opened }));
    await push("1");
    const { accept } = opened;
    for (const isAccepted of [false, true]) {
      vi.spyOn(opened, "accept").mockImplementation(async (...given) => {
        if (isAccepted) await accept.apply(opened, given);
        throw new Error("The process ended.");
      });
      await expect(catchUp(createServer({}, { inbox: opened }))).rejects.toThrow("The process ended.");
      vi.restoreAllMocks();
      const { derived } = await catchUp(createServer({}, { inbox: opened }), { dryRun: true });
      expect(derived).toHaveLength(isAccepted ? 0 : 1);
    }
  });

  test("keeps its claim while it waits for the rate limit", async () => {
    let now = Date.now();
    const { opened } = await openOwnInbox(() => now);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const others: (boolean | undefined)[] = [];
    const wait = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 10_000) {
        now += 10_000;
        await vi.advanceTimersByTimeAsync(10_000);
        others.push(await opened.cursors?.claim({ key: "bot", holder: "another process", forMs: 1_000 }));
      }
    };
    const budget = new CallBudget({ limit: 5, monotonicNow: () => now, wait });
    const options = { hub: client, budget, log: createMemoryLogger(), now: () => now, wait };
    const catching = new CatchUp({ ...options, accept: async () => "accepted" as const });
    const watch = [repo];
    const target = { endpoint: "bot", watch, domains: ["repo"] as const, since: "now" as const };
    await catching.run(target, opened, { signal: AbortSignal.timeout(20_000) });
    expect(new Set(others)).toEqual(new Set([false]));
  });

  test("returns the claim of another process only when it has ended", async () => {
    const server = createServer();
    await catchUp(server);
    const { opened } = await openOwnInbox();
    const claim = { key: "bot", holder: "another process", forMs: 60_000 };
    expect(await opened.cursors?.claim(claim)).toBe(true);
    expect(await catchUp(server)).toMatchObject({ isElsewhere: true, calls: 0 });
    await opened.cursors?.claim({ ...claim, forMs: 0 });
    expect(await catchUp(server)).toMatchObject({ isElsewhere: false });
  });
});

describe("A polled server", () => {
  const poll: LaunchOptions = { port: 0, poll: "50ms" };

  test("receives a push without a webhook", async () => {
    const first = await push("0");
    const server = createServer({ scope: "repo.content", catchUp: false });
    await server.launch(poll);
    const second = await push("1");
    await waitFor(() => expect(ranges()).toEqual([{ ref: "refs/heads/main", oldSha: first, newSha: second }]));
  });

  test.each([
    ["an endpoint that runs before the response", { background: false }],
    ["a kernel", { watch: "kernel:local-user/files" }],
    ["nothing that is watched", { watch: undefined }],
  ] as const)("is refused for %s", async (_name, options) => {
    const server = createServer({ catchUp: false, ...options } as EndpointOptions);
    await expect(server.launch(poll)).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("A server with catchUp", () => {
  test("has no remaining repositories in its metrics after a failed comparison", async () => {
    const failing = vi.spyOn(StateReader.prototype, "refs").mockRejectedValue(new Error("The Hub is down."));
    const logger = createMemoryLogger();
    const server = createServer({}, { metrics: true, consoleToken: "a-token-of-the-owner", logger });
    await server.ready();
    await waitFor(() => expect(logger.text()).toContain("Catch-up could not compare"));
    failing.mockRestore();
    const headers = { authorization: `Basic ${btoa("owner:a-token-of-the-owner")}` };
    const text = await (await server.request("/metrics", { headers })).text();
    expect(text).toContain('hub_webhooks_catch_up_remaining_repositories{endpoint="bot"} 0');
  });

  test("counts what it has derived in its metrics", async () => {
    await catchUp(createServer());
    await push("1");
    const now = 1_800_000_000_000;
    const server = createServer({}, { metrics: true, consoleToken: "a-token-of-the-owner", now: () => now });
    await server.ready();
    await waitFor(() => expect(received).toHaveLength(1));
    const headers = { authorization: `Basic ${btoa("owner:a-token-of-the-owner")}` };
    await waitFor(async () => {
      const text = await (await server.request("/metrics", { headers })).text();
      expect(text.match(/^hub_webhooks_catch_up_.*$/gm)).toEqual([
        'hub_webhooks_catch_up_derived_total{endpoint="bot"} 1',
        'hub_webhooks_catch_up_remaining_repositories{endpoint="bot"} 0',
        `hub_webhooks_catch_up_timestamp_seconds{endpoint="bot"} ${now / 1_000}`,
      ]);
    });
  });

  test.each([
    ["ten minutes after the first comparison", 10 * 60_000, false],
    ["soon after it could not store a delivery", 60_000, true],
  ])("compares again %s", async (_name, afterMs, isRefused) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    const { opened } = await openOwnInbox();
    const logger = createMemoryLogger();
    const server = createServer({ scope: "repo.content" }, { inbox: opened, logger });
    await server.ready();
    await waitFor(() => expect(logger.text()).toContain("Catch-up found nothing"));
    const [before, after] = [await push("1"), await push("2")];
    if (isRefused) {
      vi.spyOn(opened, "accept").mockRejectedValueOnce(
        new WebhookError("", { code: "INBOX_UNAVAILABLE", status: 503 }),
      );
      expect((await deliver(server, await pushPayload(before, after), "refused")).status).toBe(503);
    }
    await vi.advanceTimersByTimeAsync(afterMs - 5_000);
    expect(received).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(10_000);
    await waitFor(() => expect(received).toHaveLength(1));
  });

  test("runs a delivery of a job or a test without opening its inbox", async () => {
    const server = createServer();
    const outcome = await server.receive(await pushPayload(null, await push("0")));
    expect([outcome.status, existsSync(inbox.slice("sqlite:".length))]).toEqual(["succeeded", false]);
  });

  test("does not start in a Space whose restart erases the inbox", async () => {
    vi.stubEnv("SPACE_ID", "local-user/bot");
    vi.stubEnv("SPACE_HOST", "local-user-bot.hf.space");
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(createServer().ready()).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  test("polls no faster than a fifth of the rate limit allows", async () => {
    await push("0");
    const remote = (input: string | URL | Request, init?: RequestInit) =>
      fetch(String(input instanceof Request ? input.url : input).replace("https://hub.example.com", hub.url), init);
    const options = { hub: { hubUrl: "https://hub.example.com", token: "hf_local", fetch: remote } };
    await expect(
      createServer({ scope: "repo.content" }, options).launch({ port: 0, poll: "2s" }),
    ).rejects.toMatchObject({
      message: expect.stringContaining('at least "3s"'),
    });
    await createServer({ scope: "repo.content" }, options).launch({ port: 0, poll: "3s" });
  });
});

describe("The option catchUp", () => {
  test.each([
    ["without background", { background: false }],
    ["without watch", { watch: undefined }],
    ["for other bodies", { schema: null }],
    ["with an invalid time", { catchUp: { since: new Date("never") } }],
  ] as const)("is refused %s", (_name, options) => {
    expect(() => createServer(options as EndpointOptions)).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});
