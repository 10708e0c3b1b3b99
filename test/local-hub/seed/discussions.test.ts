import { expect, onTestFinished, test } from "vitest";
import { seedStore } from "../../../src/local-hub/seed/seed.ts";
import { openStore } from "../../../src/local-hub/store/store.ts";

test("The example notifications about models, datasets, and Spaces are about stored discussions with a comment", () => {
  const store = openStore({});
  onTestFinished(() => store.close());
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
