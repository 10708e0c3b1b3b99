// @module-tag slow

import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { parseEvent, parseScenario } from "../../../src/local-hub/events/event-request.ts";
import { isServerRequest } from "../../../src/local-hub/events/scenario-recorder.ts";
import { triggerEvent } from "../../../src/local-hub/events/trigger.ts";
import type { HubContext } from "../../../src/local-hub/hub-context.ts";
import {
  addComment,
  changeStatus,
  changeTitle,
  deleteDiscussion,
  editComment,
  hideComment,
  openDiscussion,
  setPinned,
} from "../../../src/local-hub/resources/repositories/discussions.ts";
import { mergePullRequest, openPullRequest } from "../../../src/local-hub/resources/repositories/pull-requests.ts";
import { commitChanges, updateRefs } from "../../../src/local-hub/resources/repositories/refs.ts";
import {
  createRepository,
  deleteRepository,
  moveRepository,
  updateRepositorySettings,
} from "../../../src/local-hub/resources/repositories/repository-changes.ts";
import type { StoredRepository } from "../../../src/local-hub/store/repository-store.ts";
import { openContext } from "../support/context.ts";

/** Opens a local Hub, and collects the payloads that it would send. */
function open(): { context: HubContext; payloads: unknown[] } {
  const { context } = openContext();
  const payloads: unknown[] = [];
  vi.spyOn(context.dispatcher, "fire").mockImplementation((webhooks, bodyFor, onFired) => {
    for (const webhook of webhooks) payloads.push(comparable(JSON.parse(bodyFor(webhook))));
    onFired?.([]);
    return [];
  });
  return { context, payloads };
}

/** Removes what differs in each run: IDs and commits. */
function comparable(payload: object): unknown {
  const text = JSON.stringify(payload, (key, value) =>
    /^(id|url|headSha|mergeCommitId)$/.test(key) ? undefined : value,
  );
  return JSON.parse(text.replaceAll(/"[0-9a-f]{40}"/g, '"sha"'));
}

const bytes = (text: string) => Buffer.from(text);

/** Returns the content of all repositories. */
function contentOf({ store }: HubContext): unknown {
  return store.repositories.all().map(({ id, type, name, private: isPrivate, discussions: _count }) => ({
    ...{ type, name, isPrivate },
    files: store.content
      .refs(id)
      .filter(({ name: ref }) => ref === "refs/heads/main" || ref.startsWith("refs/pr/"))
      .map(({ name: ref, oid }) => [ref, store.content.getCommit(id, oid)?.tree]),
    discussions: store.discussions.list(id).map((discussion) => ({
      ...{ num: discussion.num, title: discussion.title, status: discussion.status, pinned: discussion.pinned },
      comments: store.discussions
        .events(discussion)
        .flatMap((event) => (event.type === "comment" ? [[event.author, event.content, event.hidden]] : [])),
    })),
  }));
}

/** Records what `make` does, and runs the scenario on a new local Hub. */
function recordAndRun(
  make: (context: HubContext) => void,
  { before }: { before?: (context: HubContext) => void } = {},
) {
  const first = open();
  before?.(first.context);
  first.payloads.length = 0;
  first.context.recorder.start(first.context);
  make(first.context);
  const recording = first.context.recorder.stop(first.context);
  const second = open();
  const events: unknown = JSON.parse(JSON.stringify({ events: recording.events }));
  if (recording.events.length > 0) for (const event of parseScenario(events)) triggerEvent(second.context, event);
  return { first, second, ...recording };
}

const data = { type: "dataset", name: "me/data" } as const;
const user = "local-user";

function create(context: HubContext, name: string = data.name, files: Record<string, string> = {}): StoredRepository {
  const changes = Object.entries(files).map(([path, text]) => ({ path, content: bytes(text) }));
  return createRepository(context, { type: "dataset", name, user, files: changes });
}

function push(
  context: HubContext,
  repository: StoredRepository,
  path: string,
  text: string | null,
  ref = "refs/heads/main",
) {
  const change = text === null ? { path, deleted: "file" as const } : { path, content: bytes(text) };
  commitChanges(context, { repository, ref, changes: [change], title: "Push", message: "", user });
}

type Action = { kind: number; name: number; path: number; text: string; num: number; author: string };

const names = ["me/data", "me/other", "acme/third"];
const paths = ["a.txt", "data/b.txt", "README.md"];

/** Makes one of the changes. A change that is not possible throws, and changes nothing. */
const kinds: readonly ((context: HubContext, action: Action, repository: StoredRepository) => void)[] = [
  (context, { path, text }, repository) => push(context, repository, paths[path] ?? "", text),
  (context, { path }, repository) => push(context, repository, paths[path] ?? "", null),
  (context, { path, text, author }, repository) => {
    const opened = { repository, user: author, title: text || "t", description: text };
    openPullRequest(context, { ...opened, changes: [{ path: paths[path] ?? "", content: bytes(text) }] });
  },
  (context, { text, author }, repository) => {
    openPullRequest(context, { repository, user: author, title: text || "t", description: text, draft: true });
  },
  (context, { path, text, num }, repository) => push(context, repository, paths[path] ?? "", text, `refs/pr/${num}`),
  (context, { num }, repository) => mergePullRequest(context, { ...find(context, repository, num), comment: "m" }),
  (context, { text, author }, repository) =>
    openDiscussion(context, { repository, user: author, title: text || "t", description: text }),
  (context, { num, text, author }, repository) =>
    addComment(context, { ...find(context, repository, num), user: author, content: text }),
  (context, { num, text }, repository) => editComment(context, { ...latest(context, repository, num), content: text }),
  (context, { num }, repository) => hideComment(context, latest(context, repository, num)),
  (context, { num, text }, repository) =>
    changeTitle(context, { ...find(context, repository, num), title: `title ${text}` }),
  (context, { num, path }, repository) =>
    changeStatus(context, { ...find(context, repository, num), status: path === 0 ? "open" : "closed" }),
  (context, { num, path }, repository) => setPinned(context, { ...find(context, repository, num), pinned: path === 0 }),
  (context, { num }, repository) => deleteDiscussion(context, find(context, repository, num)),
  (context, { name }, repository) => moveRepository(context, { repository, name: names[(name + 1) % 3] ?? "", user }),
  (context, { path }, repository) =>
    updateRepositorySettings(context, { repository, settings: { private: path === 0 }, user }),
  (context, { path, text }, repository) =>
    triggerEvent(context, parseEvent(pushOf(repository, { [paths[path] ?? ""]: text }))),
  (context, { text, num }, { type, name }) =>
    triggerEvent(
      context,
      parseEvent({
        ...{ repo: { type, name }, event: { scope: "discussion.comment", action: "create" } },
        ...{ discussion: { num }, comment: { content: text } },
      }),
    ),
  (context, _action, repository) => deleteRepository(context, { repository, user }),
];

/** The index of the merge. */
const merge = 5;

function pushOf({ type, name }: { type: string; name: string }, files: Record<string, string>) {
  return { repo: { type, name }, event: { scope: "repo.content", action: "update" }, files };
}

function find(context: HubContext, repository: StoredRepository, num: number) {
  const discussion = context.store.discussions.get({ repositoryId: repository.id, num });
  if (!discussion) throw new Error("missing");
  return { repository, discussion, user };
}

function latest(context: HubContext, repository: StoredRepository, num: number) {
  const found = find(context, repository, num);
  const comment = context.store.discussions.events(found.discussion).findLast((event) => event.type === "comment");
  if (!comment) throw new Error("missing");
  return { ...found, comment };
}

function make(context: HubContext, actions: readonly Action[]): void {
  for (const action of actions) {
    const name = names[action.name] ?? "";
    const repository = context.store.repositories.get({ type: "dataset", name });
    try {
      if (repository) kinds[action.kind]?.(context, action, repository);
      else create(context, name, action.path === 0 ? { "README.md": action.text } : {});
    } catch {
      // The change is not possible now.
    }
  }
}

const action = fc.record({
  // A deleted repository is rare, so that the others have a history.
  kind: fc.oneof(
    { weight: 40, arbitrary: fc.nat(kinds.length - 2) },
    { weight: 1, arbitrary: fc.constant(kinds.length - 1) },
  ),
  name: fc.constantFrom(0, 0, 0, 0, 1, 2),
  path: fc.nat(2),
  text: fc.constantFrom("", "one", "two\u00e9\n", "@bot"),
  num: fc.constantFrom(1, 1, 2, 3),
  author: fc.constantFrom("local-user", "other-user"),
});

const actions = fc.array(action, { maxLength: 40, size: "max" });

describe("A recorded scenario", () => {
  test("causes the same events and the same content on a new local Hub", () => {
    fc.assert(
      fc.property(actions, (made) => {
        const { first, second } = recordAndRun((context) => make(context, made));
        expect(second.payloads).toEqual(first.payloads);
        expect(contentOf(second.context)).toEqual(contentOf(first.context));
      }),
      { numRuns: 60 },
    );
  });

  test("starts with what existed before, as far as it is changed", () => {
    fc.assert(
      fc.property(actions, actions, (earlier, later) => {
        const before = (context: HubContext) => make(context, earlier);
        // A pull request from before starts from the latest files, so its merge can fail, and a push to it can change nothing.
        const withoutMerges = later.filter(({ kind }) => kind !== merge);
        const { first, second } = recordAndRun((context) => make(context, withoutMerges), { before });
        const ignored = ["updatedRefs", "status", "pinned", "changes"];
        const known = (payloads: readonly unknown[]) =>
          JSON.parse(JSON.stringify(payloads, (key, value) => (ignored.includes(key) ? undefined : value)));
        expect(known(second.payloads)).toEqual(known(first.payloads));
      }),
      { numRuns: 60 },
    );
  });

  test("contains text as text, bytes in Base64, and the branch of a push to a pull request", () => {
    const { events } = recordAndRun((context) => {
      const repository = create(context, "me/data", { "a.txt": "old" });
      const change = { path: "b.bin", content: Buffer.from([0, 255]) };
      openPullRequest(context, { repository, user, title: "Add", description: "", changes: [change] });
      push(context, repository, "a.txt", "new", "refs/pr/1");
      push(context, repository, "a.txt", null);
    });
    const repo = { type: "dataset", name: "me/data" };
    const update = { scope: "repo.content", action: "update" };
    expect(events).toMatchObject([
      { repo: { ...repo, private: false }, event: { scope: "repo", action: "create" }, files: { "a.txt": "old" } },
      { discussion: { num: 1, isPullRequest: true }, files: { "b.bin": { base64: "AP8=" } } },
      { repo, event: update, files: { "a.txt": "new" }, updatedRefs: [{ ref: "refs/pr/1", newSha: "" }] },
      { repo, event: update, files: { "a.txt": null } },
    ]);
  });

  test("leaves out the changes of the server of a session, and starts with what they made", () => {
    const { events, notes, second } = recordAndRun((context) => {
      isServerRequest.run(true, () => create(context, "me/data", { "a.txt": "by the server" }));
      const repository = context.store.repositories.get(data);
      if (repository) push(context, repository, "b.txt", "by the user");
    });
    expect(events).toMatchObject([
      { silent: true, event: { scope: "repo", action: "create" }, files: { "a.txt": "by the server" } },
      { event: { scope: "repo.content" }, files: { "b.txt": "by the user" } },
    ]);
    expect(notes).toContainEqual(expect.stringMatching(/server of the session was left out/));
    expect(second.payloads).toHaveLength(1);
  });

  test("keeps the number of a triggered discussion if the server has opened another one", () => {
    const { first, second } = recordAndRun((context) => {
      const repository = create(context);
      const opened = { repository, user, title: "By the server", description: "" };
      isServerRequest.run(true, () => openDiscussion(context, opened));
      for (const [scope, action] of [
        ["discussion", "create"],
        ["discussion.comment", "create"],
      ] as const) {
        triggerEvent(context, parseEvent({ repo: data, event: { scope, action } }));
      }
    });
    const withoutServer = first.payloads.filter((_, index) => index !== 1);
    expect(second.payloads).toEqual(withoutServer);
    expect(second.payloads).toMatchObject([{}, { discussion: { num: 2 } }, { discussion: { num: 2 } }]);
    expect(second.context.store.discussions.list(second.context.store.repositories.get(data)?.id ?? "")).toHaveLength(
      1,
    );
  });

  type Row = [what: string, make: (context: HubContext, repository: StoredRepository) => void, note: RegExp];
  test.each<Row>([
    ["a large file", (context, repository) => push(context, repository, "a", "x".repeat(1_048_577)), /^a was not/],
    [
      "a branch",
      (context, repository) => {
        const newSha = repository.headSha ?? "";
        updateRefs(context, { repository, user, updatedRefs: [{ ref: "refs/heads/dev", oldSha: null, newSha }] });
      },
      /refs\/heads\/dev was not/,
    ],
    [
      "an earlier comment",
      (context, repository) => {
        const { discussion, comment } = openDiscussion(context, { repository, user, title: "t", description: "d" });
        addComment(context, { repository, discussion, user, content: "later" });
        editComment(context, { repository, discussion, user, comment, content: "edited" });
      },
      /earlier comment/,
    ],
    [
      "a setting",
      (context, repository) => updateRepositorySettings(context, { repository, settings: { gated: "auto" }, user }),
      /setting other/,
    ],
  ])("names what it cannot contain: %s", (_what, change, note) => {
    const { notes } = recordAndRun((context) => change(context, create(context)));
    expect(notes).toContainEqual(expect.stringMatching(note));
  });

  test("is empty before the start and after the end", () => {
    const { context } = open();
    create(context);
    expect(context.recorder.count).toBeUndefined();
    context.recorder.start(context);
    create(context, "me/other");
    expect(context.recorder.count).toBe(1);
    context.recorder.stop(context);
    expect(context.recorder.count).toBeUndefined();
    expect(context.recorder.stop(context).events).toEqual([]);
  });
});

test("A silent event makes its change without deliveries, and a silent creation replaces a repository", () => {
  const { context, payloads } = open();
  create(context, "me/data", { "old.txt": "" });
  payloads.length = 0;
  const files = { "new.txt": "new" };
  triggerEvent(context, parseEvent({ silent: true, repo: data, event: { scope: "repo", action: "create" }, files }));
  const { id, headSha = "" } = context.store.repositories.get(data) ?? {};
  const tree = context.store.content.getCommit(id ?? "", headSha)?.tree ?? "";
  expect([...context.store.content.list(tree)].map(({ path }) => path)).toEqual([".gitattributes", "new.txt"]);
  expect(payloads).toEqual([]);
  triggerEvent(context, parseEvent({ repo: data, event: { scope: "repo", action: "create" } }));
  expect(payloads).toHaveLength(1);
  expect(JSON.stringify(payloads)).not.toContain("silent");
  expect(context.store.repositories.get(data)?.id).toBe(id);
});
