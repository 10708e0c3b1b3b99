import { expect, test } from "vitest";
import { publishChange, type TriggerResult } from "../../../src/local-hub/events/publish-change.ts";
import { eventPayload, type RepositoryChange } from "../../../src/local-hub/events/repository-change.ts";
import type { HubContext } from "../../../src/local-hub/hub-context.ts";
import {
  addComment,
  hideComment,
  openDiscussion,
  setPinned,
} from "../../../src/local-hub/resources/repositories/discussions.ts";
import { mergePullRequest, openPullRequest } from "../../../src/local-hub/resources/repositories/pull-requests.ts";
import { commitChanges, createRef, deleteRef } from "../../../src/local-hub/resources/repositories/refs.ts";
import {
  createRepository,
  moveRepository,
  updateRepositorySettings,
} from "../../../src/local-hub/resources/repositories/repository-changes.ts";
import type { StoredRepository } from "../../../src/local-hub/store/repository-store.ts";
import { pathsIn, readFixture, valueAt } from "../../support/payloads.ts";
import { openContext, payloadsOf, storedRepository } from "../support/context.ts";

const user = "local-user";
const text = { title: "Units?", description: "Which units are these?" };

function create(context: HubContext, type: StoredRepository["type"]) {
  const { repository, result } = createRepository(context, { type, name: "me/weather", user });
  return { repository, result, user };
}

function push(context: HubContext, repository: StoredRepository, path = "a.txt") {
  const changes = [{ path, content: Buffer.from("1") }];
  const commit = { repository, ref: "refs/heads/main", changes, title: "a", message: "", user };
  return commitChanges(context, commit).result;
}

function openPull(context: HubContext, repository: StoredRepository) {
  const changes = [{ path: "b.txt", content: Buffer.from("1") }];
  return openPullRequest(context, { repository, user, ...text, changes, draft: true });
}

/** Returns the paths of a payload with the types of their values. Tags are optional. */
function shapeOf(payload: unknown): string[] {
  const shapes = pathsIn(payload).map((path) => {
    const value = valueAt(payload, path);
    const names = path.map((key) => (typeof key === "number" ? "*" : key)).join(".");
    return `${names}: ${value === null ? "null" : Array.isArray(value) ? "list" : typeof value}`;
  });
  return [...new Set(shapes)].filter((shape) => !shape.startsWith("repo.tags")).sort();
}

test.each<[fixture: string, change: (context: HubContext) => TriggerResult]>([
  ["repo-create-dataset", (context) => create(context, "dataset").result],
  [
    "repo-move-model",
    (context) => moveRepository(context, { ...create(context, "model"), name: "acme/weather" }).result,
  ],
  ["content-update-space", (context) => push(context, create(context, "space").repository)],
  [
    "content-ref-deleted",
    (context) => {
      const { repository } = create(context, "dataset");
      createRef(context, { kind: "branch", repository, name: "draft", commit: repository.headSha ?? "", user });
      return deleteRef(context, { kind: "branch", repository, name: "draft", user });
    },
  ],
  [
    "config-update-private",
    (context) =>
      updateRepositorySettings(context, { ...create(context, "dataset"), settings: { private: true } }).result,
  ],
  [
    "config-update-unreported",
    (context) => updateRepositorySettings(context, { ...create(context, "space"), settings: { gated: "auto" } }).result,
  ],
  [
    "discussion-create-pull-request+content-ref-created",
    (context) => openPull(context, create(context, "model").repository).result,
  ],
  [
    "discussion-update-merged+content-update-model",
    (context) => {
      const pull = openPull(context, create(context, "model").repository);
      const { discussion } = setPinned(context, { ...pull, user, pinned: true });
      return mergePullRequest(context, { repository: pull.repository, discussion, user }).result;
    },
  ],
  [
    "comment-create",
    (context) => {
      const opened = openDiscussion(context, { ...create(context, "space"), ...text });
      return addComment(context, { ...opened, user, content: "Meters." }).result;
    },
  ],
  [
    "comment-update-hidden",
    (context) => {
      const opened = openDiscussion(context, { ...create(context, "dataset"), ...text });
      return hideComment(context, { ...opened, user }).result;
    },
  ],
])("A change fires, in order, payloads with the same fields as the payloads of the Hub: %s", (fixtures, change) => {
  const { context } = openContext();
  const payloads = payloadsOf(context, change(context));
  const expected = fixtures.split("+").map(readFixture);
  expect(payloads.map(({ event }) => event)).toEqual(expected.map((payload) => valueAt(payload, ["event"])));
  expect(payloads.map(shapeOf)).toEqual(expected.map(shapeOf));
});

test("A payload lists at most 10,000 changed files of a bucket", () => {
  const bucket = storedRepository({ type: "bucket" });
  const files = Array.from({ length: 10_001 }, (_, index) => ({ path: `${index}`, action: "delete" as const }));
  const listed = [10_000, 10_001].map((count) => {
    const change = { scope: "repo.content", action: "update", user, before: bucket, after: bucket };
    return eventPayload({ ...change, updatedFiles: files.slice(0, count) }, { hubUrl: "http://127.0.0.1" });
  });
  expect(listed).toMatchObject([{ updatedFiles: { length: 10_000 } }, { updatedFiles: { length: 10_000 } }]);
  expect(listed.map(({ updatedFilesTruncated }) => updatedFilesTruncated)).toEqual([undefined, true]);
});

test("publishChange only collects the change if the context collects changes", () => {
  const { context } = openContext();
  const collectedChanges: RepositoryChange[] = [];
  const { result, repository } = createRepository(
    { ...context, collectedChanges },
    { type: "model", name: "acme/net", user },
  );
  expect(result).toEqual({ deliveries: [], notFired: [], notified: [] });
  expect(collectedChanges).toMatchObject([{ scope: "repo", action: "create", after: repository }]);
  expect(payloadsOf(context, publishChange(context, collectedChanges[0] ?? fail()))).toHaveLength(1);
});

function fail(): never {
  throw new Error("No change was collected.");
}
