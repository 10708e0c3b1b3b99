import { describe, expect, test } from "vitest";
import {
  checkMarker,
  isSameMarker,
  markComment,
  markCommit,
  markDescription,
  readDescriptionMarker,
  readMarker,
} from "../../../src/hub/repositories/marker.ts";
import { KeyedQueue } from "../../../src/hub/repositories/repository-context.ts";
import { allOf, openClient, openHub, rejectionOf, type ScriptedAnswer } from "../scripted-hub.ts";

const marker = { signature: "bot", marker: "card-review" };

describe("A marker", () => {
  test("is a hidden comment after the text", () => {
    expect(markComment("Please add a license.\n", marker)).toBe(
      "Please add a license.\n\n<!-- hub-webhooks: bot card-review -->",
    );
    expect(markComment("", marker)).toBe("<!-- hub-webhooks: bot card-review -->");
  });

  test("is the last line of a commit", () => {
    expect(markCommit("Adds a license.", marker)).toBe("Adds a license.\n\nHub-Webhooks: bot card-review");
  });

  test.each(["card-review", "two words", "--> <script>", "a--b---c--", "ü 猫", "100%", "a/b@c", "line\nbreak"])(
    "with the name %j is found again, and does not end its HTML comment",
    (name) => {
      for (const mark of [markComment, markCommit]) {
        const text = mark("Text", { signature: "a b--c", marker: name });
        expect(readMarker(text)).toEqual({ signature: "a b--c", marker: name });
        expect(readMarker(`${text}\r\n`)).toEqual({ signature: "a b--c", marker: name });
      }
      const [, ...rest] = markComment("", { signature: "a", marker: name }).split("--");
      expect(rest).toHaveLength(2);
    },
  );

  test("can be a signature only", () => {
    const text = markComment("Text", { signature: "bot", marker: undefined });
    expect(readMarker(text)).toEqual({ signature: "bot", marker: undefined });
    expect(isSameMarker(readMarker(text), marker)).toBe(false);
  });

  test("counts only at the end, because texts can quote other texts", () => {
    const quoted = `> ${markComment("Quoted", marker)}`;
    expect(readMarker(`${quoted}\n\nI agree.`)).toBeUndefined();
    expect(readMarker(markComment(quoted, { signature: "bot", marker: "answer" }))?.marker).toBe("answer");
    expect(readMarker(`${markCommit("", marker)}\nSigned-off-by: me`)).toBeUndefined();
  });

  test("of another client is not the same marker", () => {
    const other = readMarker(markComment("Text", { ...marker, signature: "other" }));
    expect(isSameMarker(readMarker(markComment("Text", marker)), marker)).toBe(true);
    expect(isSameMarker(other, marker)).toBe(false);
  });

  test("of a description is not the marker of a comment", () => {
    const description = markDescription("Text", marker);
    expect(readDescriptionMarker(description)).toEqual(marker);
    expect(readMarker(description)).toBeUndefined();
    expect(readDescriptionMarker(markComment("Text", marker))).toBeUndefined();
  });

  test.each([
    "<!-- hub-webhooks: %zz x -->",
    "<!-- hub-webhooks:  -->",
    "Hub-Webhooks:",
    "",
    "<!-- hub-webhooks: a b c -->",
  ])("is not read from %j", (text) => {
    expect(readMarker(text)).toBeUndefined();
  });

  test.each(["", "x".repeat(201), "\ud800"])("is rejected if it is %j", (name) => {
    expect(() => checkMarker(name)).toThrow(expect.objectContaining({ code: "ARGUMENT_INVALID", fields: ["marker"] }));
  });
});

const user = (name: string) => ({
  ...{ _id: "a".repeat(24), name, fullname: name, avatarUrl: "/a.svg", type: "user" },
  ...{ isHf: false, isHfAdmin: false, isMod: false },
});
const whoami = {
  ...{ type: "user", id: "a".repeat(24), name: "me", fullname: "Me", avatarUrl: "/a.svg" },
  ...{ isPro: false, orgs: [], auth: { type: "access_token" } },
};
const createdAt = "2026-01-31T09:15:27.000Z";
const repo = { type: "model", name: "me/bot" };

function discussion(num: number, { author = "me", title = "Review", isPullRequest = false } = {}) {
  return {
    ...{ num, author: user(author), repo, title, createdAt, status: "open", isPullRequest, pinned: false },
    ...{ numComments: 1, numReactionUsers: 0, topReactions: [] },
  };
}

function details(num: number, raw: string, hidden = false) {
  const data = {
    ...{ edited: false, hidden, latest: { raw, html: "", updatedAt: createdAt } },
    ...{ numEdits: 0, editors: [], editorAvatarUrls: [], reactions: [] },
  };
  const events = [{ id: "b".repeat(24), createdAt, author: user("me"), type: "comment", data }];
  return {
    json: {
      ...discussion(num),
      _id: "c".repeat(24),
      events,
      locked: false,
      collection: "discussions",
      isReport: false,
    },
  };
}

const page = (...discussions: unknown[]) => ({ json: { discussions, count: discussions.length, start: 0 } });
const created = { json: { url: "/discussions/9", num: 9, pullRequest: false } };
const marked = "Text\n\n<!-- hub-webhooks discussion: client review -->";
const review = { title: "Review", marker: "review" };

async function open(...answers: ScriptedAnswer[]) {
  const hub = await openHub({ json: whoami }, ...answers);
  return { hub, repository: openClient(hub, { attempts: 1 }).repo(repo) };
}

describe("The search for a marker", () => {
  test("reads only discussions of the account, even if the Hub ignores the filter", async () => {
    const others = [discussion(1, { author: "other" }), discussion(2, { isPullRequest: true })];
    const { hub, repository } = await open(page(...others), created);
    expect(await repository.openDiscussion(review)).toMatchObject({ num: 9, created: true });
    expect(hub.calls).toEqual([
      "GET /api/whoami-v2",
      "GET /api/models/me/bot/discussions?p=0&type=discussion&author=me",
      "POST /api/models/me/bot/discussions",
    ]);
  });

  test("starts with the discussion that has the title", async () => {
    const { hub, repository } = await open(
      page(discussion(3, { title: "Other" }), discussion(2), discussion(1)),
      details(2, "No marker"),
      details(1, marked),
    );
    expect(await repository.openDiscussion(review)).toMatchObject({ num: 1, created: false });
    expect(hub.calls.slice(2)).toEqual([
      "GET /api/models/me/bot/discussions/2",
      "GET /api/models/me/bot/discussions/1",
    ]);
  });

  test("reads at most 100 descriptions", async () => {
    const { hub, repository } = await open(
      page(...Array.from({ length: 150 }, (_, index) => discussion(index + 1))),
      details(1, "No marker"),
    );
    await rejectionOf(repository.openDiscussion(review)); // The last answer is not an answer to the creation.
    expect(hub.calls.filter((call) => /\/discussions\/\d+$/.test(call))).toHaveLength(100);
  });

  test("reads a hidden description again", async () => {
    const { repository } = await open(
      page(discussion(1)),
      details(1, "", true),
      created,
      page(discussion(1)),
      details(1, marked),
    );
    expect(await repository.openDiscussion(review)).toMatchObject({ num: 9, created: true });
    expect(await repository.openDiscussion(review)).toMatchObject({ num: 1, created: false });
  });
});

test("A list of discussions ends at an empty page, even if the Hub counts more", async () => {
  const hub = await openHub(
    { json: { discussions: [discussion(2)], count: 1e308, start: 0 } },
    { json: { discussions: [], count: 1e308, start: 1 } },
  );
  const repository = openClient(hub).repo(repo);
  expect(await allOf(repository.discussions({ status: "open" }))).toHaveLength(1);
  expect(hub.calls).toEqual([
    "GET /api/models/me/bot/discussions?p=0&status=open",
    "GET /api/models/me/bot/discussions?p=1&status=open",
  ]);
});

test("Functions with the same key run one after the other, also after a failure", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run("a", undefined, async () => {
    log.push("first starts");
    await gate.promise;
    log.push("first fails");
    throw new Error("first");
  });
  const second = queue.run("a", undefined, async () => log.push("second"));
  const third = queue.run("a", undefined, async () => log.push("third"));
  await queue.run("b", undefined, async () => log.push("other key"));
  gate.resolve();
  await expect(first).rejects.toThrow("first");
  await Promise.all([second, third]);
  expect(log).toEqual(["first starts", "other key", "first fails", "second", "third"]);
});

test("A call that waits for another one with the same key ends when its signal is aborted", async () => {
  const queue = new KeyedQueue();
  const gate = Promise.withResolvers<void>();
  const first = queue.run("a", undefined, () => gate.promise);
  const abort = new AbortController();
  const second = queue.run("a", abort.signal, async () => abort.signal.throwIfAborted());
  const third = queue.run("a", undefined, async () => "third");
  abort.abort(new Error("stopped"));
  await expect(second).rejects.toThrow("stopped");
  gate.resolve();
  await first;
  expect(await third).toBe("third");
});

test("A function waits for the second of two earlier ones, although the first has ended", async () => {
  const queue = new KeyedQueue();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = queue.run("a", undefined, async () => log.push("first"));
  const second = queue.run("a", undefined, async () => {
    await gate.promise;
    log.push("second ends");
  });
  await first;
  const third = queue.run("a", undefined, async () => log.push("third"));
  setImmediate(gate.resolve);
  await Promise.all([second, third]);
  expect(log).toEqual(["first", "second ends", "third"]);
});
