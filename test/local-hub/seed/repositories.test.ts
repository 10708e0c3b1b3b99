import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openSeededStore, seedRepositories } from "../../../src/local-hub/seed/seed.ts";
import { openStore, type Store } from "../../../src/local-hub/store/store.ts";

function openSeeded() {
  const store = openStore({});
  onTestFinished(() => store.close());
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
