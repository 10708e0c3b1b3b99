import { expect, onTestFinished, test } from "vitest";
import { seedRepositories } from "../../../src/local-hub/seed/seed.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";

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
