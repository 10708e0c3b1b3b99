import { describe, expect, test } from "vitest";
import { publishChange } from "../../../src/local-hub/events/publish-change.ts";
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
import type { HubEvent } from "../../../src/local-hub.ts";
import { repoTypes } from "../../../src/payload/names.ts";
import { knownEvents, pathsIn, readFixture, valueAt } from "../../support/payloads.ts";
import { fire, openContext, storedRepository } from "../support/context.ts";
import { data, pushed } from "../support/hub.ts";
import { openWatchedTarget, triggerAndReceive } from "../support/target.ts";

const id = expect.stringMatching(/^[0-9a-f]{24}$/);
const sha = expect.stringMatching(/^[0-9a-f]{40}$/);

const paths = { model: "", dataset: "datasets/", space: "spaces/", bucket: "buckets/", kernel: "kernels/" };

function eventOf([scope, action]: readonly [string, string], repo: HubEvent["repo"]): HubEvent {
  return { repo, event: { scope, action }, ...(action === "move" && { movedTo: { name: "you/thing" } }) };
}

describe("A payload", () => {
  test.each(repoTypes)("of a %s follows version 3", async (type) => {
    const heard = await openWatchedTarget();
    for (const [number, [scope, action]] of knownEvents.entries()) {
      const name = `me/thing${number}`;
      const payload = await triggerAndReceive(heard, eventOf([scope, action], { type, name }));
      const moved = action === "move";
      const web = `${heard.hub.url}/${paths[type]}${name}`;
      const discussion = {
        id,
        num: 1,
        title: expect.any(String),
        status: "open",
        isPullRequest: false,
        author: { id },
        url: { web: `${web}/discussions/1`, api: `${heard.hub.url}/api/${type}s/${name}/discussions/1` },
      };
      const comment = {
        id,
        author: { id },
        hidden: false,
        url: { web: expect.stringContaining(`${web}/discussions/1#`) },
        content: expect.any(String),
      };
      expect(payload).toEqual({
        event: { scope, action },
        repo: {
          type,
          name,
          id,
          private: false,
          url: { web, api: `${heard.hub.url}/api/${type}s/${name}` },
          owner: { id },
          ...(scope.startsWith("repo") && type !== "bucket" && { headSha: sha }),
          ...(type === "space" && { subdomain: name.replace("/", "-") }),
        },
        ...(moved && { movedTo: { name: "you/thing", owner: { id } } }),
        ...(scope === "repo.content" &&
          type !== "bucket" && { updatedRefs: [{ ref: "refs/heads/main", oldSha: sha, newSha: sha }] }),
        ...(scope === "repo.content" &&
          type === "bucket" && {
            updatedFiles: [
              { path: expect.any(String), action: "add", xetHash: expect.any(String), size: expect.any(Number) },
            ],
          }),
        ...(scope === "repo.config" && { updatedConfig: {} }),
        ...(scope.startsWith("discussion") && { discussion }),
        ...((scope === "discussion.comment" || (scope === "discussion" && action === "create")) && { comment }),
        webhook: { id: heard.webhookId, version: 3 },
      });
    }
  });

  test("contains the same owner ID for all repositories of an owner, in every local Hub", async () => {
    const [first, second] = [await openWatchedTarget(), await openWatchedTarget()];
    const one = await triggerAndReceive(first, pushed);
    const two = await triggerAndReceive(second, { ...pushed, repo: { type: "model", name: "me/net" } });
    expect(two.repo.owner).toEqual(one.repo.owner);
    expect(two.repo.id).not.toEqual(one.repo.id);
  });

  test("of an unknown scope has the fields of the broader scope, and its own name", async () => {
    const heard = await openWatchedTarget();
    for (const [scope, shape] of [
      ["repo.config.dois", { updatedConfig: {} }],
      ["repo.content.lfs", { updatedRefs: [{ ref: "refs/heads/main", oldSha: sha, newSha: sha }] }],
      ["repo.stars", {}],
      ["discussion.comment.reaction", { discussion: expect.anything(), comment: expect.anything() }],
    ] as const) {
      const { event, repo, webhook, ...rest } = await triggerAndReceive(heard, {
        repo: data,
        event: { scope, action: "pin" },
      });
      expect(event).toEqual({ scope, action: "pin" });
      expect([repo.name, webhook.version, rest]).toEqual([data.name, 3, shape]);
    }
  });

  test("contains every field of the event, known or unknown", async () => {
    const heard = await openWatchedTarget();
    const payload = await triggerAndReceive(heard, {
      repo: { ...data, tags: ["region:eu"], likes: 5, url: { web: "https://hub.example/me" } },
      event: { ...pushed.event, actor: { name: "ada" } },
      updatedRefs: [{ ref: "refs/pr/7", oldSha: null, newSha: "5", note: "x" }],
      extra: { deep: [1, { two: null }] },
    });
    expect(payload).toMatchObject({
      repo: { tags: ["region:eu"], likes: 5, url: { web: "https://hub.example/me", api: expect.any(String) } },
      event: { scope: "repo.content", action: "update", actor: { name: "ada" } },
      updatedRefs: [{ ref: "refs/pr/7", oldSha: null, newSha: "5", note: "x" }],
      extra: { deep: [1, { two: null }] },
    });
  });

  test("contains its own webhook, regardless of the event's content", async () => {
    const heard = await openWatchedTarget();
    await heard.hub.hub.push(data, { webhook: { id: "another", version: 9 }, note: 7 });
    const webhook = { id: heard.webhookId, version: 3 };
    expect(heard.target.payloads).toMatchObject([{ event: pushed.event, note: 7, webhook }]);
  });
});

describe("A property name of every object, such as __proto__,", () => {
  test("changes no prototype if an event contains it", async () => {
    const heard = await openWatchedTarget();
    const evil = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},';
    const text = `${evil}"repo":{"__proto__":{"polluted":1},"type":"dataset","name":"me/data"},"event":{"scope":"repo.content","action":"update","__proto__":{"polluted":1}},"discussion":{"__proto__":{"polluted":1}}}`;
    expect((await heard.hub.request("POST /_local/events?wait=true", { text })).status).toBe(200);
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
    expect(Object.hasOwn({}.constructor.prototype, "polluted")).toBe(false);
    expect(heard.target.requests[0]?.body).not.toContain("__proto__");
    expect(heard.target.payloads[0]).toMatchObject({ repo: { name: "me/data" }, event: pushed.event });
    expect(await triggerAndReceive(heard, pushed)).toMatchObject({ event: pushed.event });
  });

  test("can be the name of a repository", async () => {
    const heard = await openWatchedTarget();
    for (const name of ["me/__proto__", "me/constructor"]) {
      const [first, second] = [
        await triggerAndReceive(heard, { ...pushed, repo: { type: "dataset", name } }),
        await triggerAndReceive(heard, { ...pushed, repo: { type: "dataset", name } }),
      ];
      expect([first.repo.name, second.repo.id]).toEqual([name, first.repo.id]);
    }
  });
});

const user = "local-user";
const text = { title: "Units?", description: "Which units are these?" };

function create(context: HubContext, type: StoredRepository["type"]) {
  return { repository: createRepository(context, { type, name: "me/weather", user }), user };
}

function push(context: HubContext, repository: StoredRepository, path = "a.txt") {
  const changes = [{ path, content: Buffer.from("1") }];
  const commit = { repository, ref: "refs/heads/main", changes, title: "a", message: "", user };
  return commitChanges(context, commit);
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

test.each<[fixture: string, prepare: (context: HubContext) => () => unknown]>([
  ["repo-create-dataset", (context) => () => create(context, "dataset")],
  [
    "repo-move-model",
    (context) => {
      const created = create(context, "model");
      return () => moveRepository(context, { ...created, name: "acme/weather" });
    },
  ],
  [
    "content-update-space",
    (context) => {
      const { repository } = create(context, "space");
      return () => push(context, repository);
    },
  ],
  [
    "content-ref-deleted",
    (context) => {
      const { repository } = create(context, "dataset");
      createRef(context, { kind: "branch", repository, name: "draft", commit: repository.headSha ?? "", user });
      return () => deleteRef(context, { kind: "branch", repository, name: "draft", user });
    },
  ],
  [
    "config-update-private",
    (context) => {
      const created = create(context, "dataset");
      return () => updateRepositorySettings(context, { ...created, settings: { private: true } });
    },
  ],
  [
    "config-update-unreported",
    (context) => {
      const created = create(context, "space");
      return () => updateRepositorySettings(context, { ...created, settings: { gated: "auto" } });
    },
  ],
  [
    "discussion-create-pull-request+content-ref-created",
    (context) => {
      const { repository } = create(context, "model");
      return () => openPull(context, repository);
    },
  ],
  [
    "discussion-update-merged+content-update-model",
    (context) => {
      const { repository, ...pull } = openPull(context, create(context, "model").repository);
      const { discussion } = setPinned(context, { ...pull, repository, user, pinned: true });
      return () => mergePullRequest(context, { repository, discussion, user });
    },
  ],
  [
    "comment-create",
    (context) => {
      const opened = openDiscussion(context, { ...create(context, "space"), ...text });
      return () => addComment(context, { ...opened, user, content: "Meters." });
    },
  ],
  [
    "comment-update-hidden",
    (context) => {
      const opened = openDiscussion(context, { ...create(context, "dataset"), ...text });
      return () => hideComment(context, { ...opened, user });
    },
  ],
])("A change fires, in order, payloads with the same fields as the payloads of the Hub: %s", (fixtures, prepare) => {
  const { context } = openContext();
  const { payloads } = fire(context, prepare(context));
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
  const collecting = { ...context, collectedChanges };
  const { made: repository, payloads } = fire(context, () =>
    createRepository(collecting, { type: "model", name: "acme/net", user }),
  );
  expect(payloads).toEqual([]);
  expect(collectedChanges).toMatchObject([{ scope: "repo", action: "create", after: repository }]);
  expect(fire(context, () => publishChange(context, collectedChanges[0] ?? fail())).payloads).toHaveLength(1);
});

function fail(): never {
  throw new Error("No change was collected.");
}
