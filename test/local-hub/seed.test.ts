import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { openSeededStore, seedRepositories, seedStore } from "../../src/local-hub/seed/seed.ts";
import type { Store } from "../../src/local-hub/store/store.ts";
import { openMemoryStore } from "./support/context.ts";
import { openLocalHub, pushed, type TestHub } from "./support/hub.ts";
import { openTarget } from "./support/target.ts";

const repositories = z.array(
  z.strictObject({
    type: z.string(),
    name: z.string(),
    id: z.string().regex(/^[0-9a-f]{24}$/),
    private: z.boolean(),
    headSha: z
      .string()
      .regex(/^[0-9a-f]{40}$/)
      .optional(),
    discussions: z.int().min(0),
    createdAt: z.int(),
    lastModified: z.int(),
    gated: z.literal(false),
    discussionsDisabled: z.literal(false),
    sdk: z.string().optional(),
  }),
);

async function repositoriesOf(hub: TestHub) {
  const { status, body, text } = await hub.request("GET /_local/repositories", { token: null });
  expect(status, text).toBe(200);
  return repositories.parse(body);
}

describe("The repositories of a new local Hub", () => {
  test("are the same in every local Hub, and a reset restores them", async () => {
    const [hub, another] = [await openLocalHub(), await openLocalHub()];
    const before = await repositoriesOf(hub);
    expect(await repositoriesOf(another)).toEqual(before);
    await hub.trigger({ repo: { type: "model", name: "acme/sentiment" }, event: { scope: "repo", action: "delete" } });
    await hub.trigger({ repo: { type: "model", name: "acme/new" }, event: { scope: "repo", action: "create" } });
    const names = (await repositoriesOf(hub)).map(({ name }) => name);
    expect(names).toContain("acme/new");
    expect(names).not.toContain("acme/sentiment");
    hub.hub.reset();
    expect(await repositoriesOf(hub)).toEqual(before);
  });

  test("keep their head commit and their discussion numbers with new events", async () => {
    const target = await openTarget();
    const hub = await openLocalHub();
    const repo = { type: "dataset", name: "acme/reviews" } as const;
    await hub.create({ url: target.url, watched: [repo] });
    const reviews = (await repositoriesOf(hub)).find(({ name }) => name === repo.name);
    await hub.trigger({ repo, event: pushed.event });
    await hub.trigger({ repo, event: { scope: "discussion", action: "create" } });
    expect(target.payloads).toMatchObject([
      { repo: { id: reviews?.id }, updatedRefs: [{ oldSha: reviews?.headSha }] },
      { repo: { id: reviews?.id }, discussion: { num: 13 } },
    ]);
  });
});

function openSeeded() {
  const store = openMemoryStore();
  seedRepositories(store);
  return store;
}

test("The example models, datasets, and Spaces have a first commit with a card, which is the same in every local Hub", () => {
  const [store, other] = [openSeeded(), openSeeded()];
  const repositories = store.repositories.all().filter(({ type }) => type !== "bucket" && type !== "kernel");
  expect(repositories).toHaveLength(7);
  for (const { id, headSha = "", createdAt, lastModified } of repositories) {
    const commit = store.content.resolve(id, "main");
    expect(commit).toMatchObject({ oid: headSha, parents: [], date: createdAt });
    expect(lastModified).toBe(createdAt);
    expect(other.content.resolve(id, "main")).toEqual(commit);
    const tree = commit?.tree ?? "";
    expect(Array.from(store.content.list(tree), ({ path }) => path)).toEqual([".gitattributes", "README.md"]);
    const { oid = "" } = store.content.find(tree, "README.md") ?? {};
    expect(Buffer.from(store.content.read({ oid })).toString()).toMatch(/^(---\n[\s\S]+\n---\n\n)?# \w+\n/);
  }
  expect(other.repositories.all()).toEqual(store.repositories.all());
});

describe("A seeded store in memory", () => {
  const open = (now: number) => {
    const store = openSeededStore({ file: undefined, now });
    onTestFinished(() => store.close());
    return store;
  };
  const newestEvent = ({ auditLog }: Store) =>
    auditLog.page({ organization: "acme", filter: { authors: [], ips: [], types: [] }, limit: 1 }).events[0];

  test("does not contain the changes of earlier stores", () => {
    const now = Date.now();
    const first = open(now);
    const repositories = first.repositories.all();
    first.clear();
    const second = open(now + 1_000);
    expect(second.repositories.all()).toEqual(repositories);
    expect(newestEvent(second)).toBeDefined();
    second.clear();
    expect(open(now + 2_000).repositories.all()).toEqual(repositories);
  });

  test("has the example data if Node cannot copy a database", () => {
    const { serialize } = DatabaseSync.prototype;
    onTestFinished(() => void Object.assign(DatabaseSync.prototype, { serialize }));
    Reflect.deleteProperty(DatabaseSync.prototype, "serialize");
    // Later than the copies of other tests, so that this one would be copied.
    const now = Date.now() + 86_400_000;
    expect([open(now), open(now)].map(({ repositories }) => repositories.all().length)).toEqual([9, 9]);
  });

  test("has times relative to its start, to the minute", () => {
    const now = Date.now();
    const dateAt = (at: number) => newestEvent(open(at))?.at ?? Number.NaN;
    expect(dateAt(now + 3_600_000) - dateAt(now)).toBeGreaterThanOrEqual(3_600_000 - 60_000);
    expect(dateAt(now) - dateAt(now + 3_600_000)).toBeLessThanOrEqual(60_000 - 3_600_000);
  });
});

test("The example notifications about models, datasets, and Spaces are about stored discussions with a comment", () => {
  const store = openMemoryStore();
  seedStore(store, { now: 0 });
  let found = 0;
  for (const { id, record } of store.notifications.listByOwner("local-user")) {
    if (record.about.type !== "repo") continue;
    const { repo, discussion } = record.about;
    if (repo.type === "bucket" || repo.type === "kernel") continue;
    const { id: repositoryId = "", headSha } = store.repositories.get(repo) ?? {};
    const stored = store.discussions.get({ repositoryId, num: discussion.num });
    expect(stored).toMatchObject({ id, ...discussion });
    expect(store.discussions.events({ repositoryId, num: discussion.num })).toMatchObject([{ type: "comment" }]);
    const ref = store.content.getRef(repositoryId, `refs/pr/${discussion.num}`);
    expect(ref).toBe(discussion.isPullRequest ? headSha : undefined);
    found += 1;
  }
  expect(found).toBe(11);
});
