import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient, type HubClientOptions } from "../../../src/client.ts";
import { markComment, markCommit } from "../../../src/hub/repositories/marker.ts";
import { type EndpointOptions, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, settled, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

/** The answers of a Hub by path. A function is called for each request. */
type Answers = Readonly<Record<string, unknown>>;

/** The account of the token. */
const account = {
  type: "user",
  id: "a".repeat(24),
  name: "ada",
  fullname: "Ada",
  avatarUrl: "/ada.svg",
  isPro: false,
  orgs: [],
  auth: { type: "access_token" },
};

/**
 * Returns the options of a client for a Hub that answers each path with a value as JSON. Other paths answer 404. For answers that no local Hub gives, and to count the requests.
 */
function answerWith(answers: Answers): { requests: string[]; options: HubClientOptions } {
  const requests: string[] = [];
  const options: HubClientOptions = {
    hubUrl: "http://hub.test",
    token: "hf_local",
    attempts: 1,
    fetch: async (input) => {
      const path = decodeURIComponent(new URL(String(input)).pathname);
      requests.push(path);
      const answer = answers[path] ?? (path === "/api/whoami-v2" ? account : undefined);
      const body: unknown = typeof answer === "function" ? await answer() : answer;
      if (body === undefined) return Response.json({ error: "Not found" }, { status: 404 });
      return Response.json(body);
    },
  };
  return { requests, options };
}

const repo = { type: "model", name: "me/net", headSha: "c2" };
const prefix = "/api/models/me/net";

/** The diff of a commit that changes a file. */
const diffOf = (path: string) =>
  `diff --git a/${path} b/${path}\nindex 1111111..2222222 100644\n--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-a\n+b\n`;

const push = (...updatedRefs: { ref: string; oldSha: string | null; newSha: string | null }[]) =>
  webhookPayload("repo.content", { repo, updatedRefs });
const mainPush = push({ ref: "refs/heads/main", oldSha: "c1", newSha: "c2" });

/** Creates a server with an endpoint whose handler returns "ran". */
function createServer(endpoint: EndpointOptions, answers: Answers, options: WebhooksServerOptions = {}) {
  const hub = answerWith(answers);
  const log = createMemoryLogger();
  const server = new WebhooksServer({ secret: false, logger: log, hub: hub.options, ...options });
  onTestFinished(() => server.close());
  server.webhook("act", endpoint, () => "ran");
  return { server, log, requests: hub.requests };
}

const ran = { status: "succeeded", result: "ran" };

describe("An endpoint with paths", () => {
  const answers = { [`${prefix}/compare/c1..c2`]: diffOf("data/train.csv") };

  test("runs if a changed file matches", async () => {
    const { server, requests } = createServer({ paths: ["README.md", "data/**"] }, answers);
    expect(await server.receive(mainPush)).toEqual(ran);
    expect(requests).toEqual([`${prefix}/compare/c1..c2`]);
  });

  test.each(["data/**", "archive/**"])("runs if a file was renamed from or to %s", async (paths) => {
    const names = "rename from data/train.csv\nrename to archive/train.csv\n";
    const diff = `diff --git a/data/train.csv b/archive/train.csv\nsimilarity index 100%\n${names}`;
    const { server } = createServer({ paths }, { [`${prefix}/compare/c1..c2`]: diff });
    expect(await server.receive(mainPush)).toEqual(ran);
  });

  test("ignores the delivery if no changed file matches, with the reason", async () => {
    const { server } = createServer({ paths: ["README.md", "docs/**"] }, answers);
    expect(await server.receive(mainPush)).toEqual({
      status: "ignored",
      reason: "no changed file is README.md or docs/**",
    });
  });

  test("compares each ref that the option ref accepts, and a new branch with the main branch", async () => {
    const { server, requests } = createServer(
      { paths: "README.md", ref: "refs/heads/*" },
      { ...answers, [`${prefix}/compare/c2..c9`]: diffOf("config.json") },
    );
    const outcome = await server.receive(
      push(
        { ref: "refs/heads/main", oldSha: "c1", newSha: "c2" },
        { ref: "refs/heads/new", oldSha: null, newSha: "c9" },
        { ref: "refs/heads/copy", oldSha: null, newSha: "c2" },
        { ref: "refs/heads/old", oldSha: "c4", newSha: null },
        { ref: "refs/pr/1", oldSha: "c5", newSha: "c6" },
      ),
    );
    expect(outcome.status).toBe("ignored");
    expect(requests).toEqual([`${prefix}/compare/c1..c2`, `${prefix}/compare/c2..c9`]);
  });

  test("lists all files of a new main branch", async () => {
    const tree = [{ type: "file", path: "README.md", oid: "a".repeat(40), size: 1 }];
    const { server } = createServer(
      { paths: "README.md" },
      { [`${prefix}/tree/c2`]: tree, [`${prefix}/tree/c2/`]: tree },
    );
    expect(await server.receive(push({ ref: "refs/heads/main", oldSha: null, newSha: "c2" }))).toEqual(ran);
  });

  test("ignores other events without a request", async () => {
    const { server, requests } = createServer({ paths: "README.md" }, {});
    expect(await server.receive(webhookPayload("discussion"))).toMatchObject({ status: "ignored" });
    expect(requests).toEqual([]);
  });

  test.each([
    ["a listed file matches", ["other", "data/a.bin"], false, "succeeded"],
    ["no listed file matches", ["other"], false, "ignored"],
    ["no listed file matches, but the list is truncated", ["other"], true, "succeeded"],
  ])("reads the files of a bucket from the payload: %s", async (_what, files, isTruncated, status) => {
    const { server, requests } = createServer({ paths: "data/**" }, {});
    const payload = webhookPayload("repo.content", {
      repo: { type: "bucket" },
      updatedFiles: files.map((path) => ({ path, action: "add" as const })),
      updatedFilesTruncated: isTruncated,
    });
    expect(await server.receive(payload)).toMatchObject({ status });
    expect(requests).toEqual([]);
  });

  test("runs, with a warning, if the Hub does not answer", async () => {
    const { server, log } = createServer(
      { paths: "README.md" },
      {},
      { hub: { hubUrl: "http://127.0.0.1:1", attempts: 1, token: "hf_local" } },
    );
    expect(await server.receive(mainPush)).toEqual(ran);
    expect(log.lines).toMatchObject([{ level: "warn", endpoint: "act", err: { code: "HUB_UNREACHABLE" } }]);
  });

  test.each<[string, EndpointOptions, WebhooksServerOptions, number]>([
    ["4 s if the Hub waits for the response", {}, {}, 4_000],
    ["30 s in the background", { background: true }, { inbox: "sqlite::memory:" }, 30_000],
  ])("runs, with a warning, if the Hub does not answer within %s", async (_what, endpoint, options, limitMs) => {
    const limits: { milliseconds: number; end: () => void }[] = [];
    const timeout = vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      const limit = new AbortController();
      limits.push({ milliseconds, end: () => limit.abort(new DOMException("It took too long.", "TimeoutError")) });
      return limit.signal;
    });
    onTestFinished(() => timeout.mockRestore());
    const { server, log, requests } = createServer(
      { paths: "README.md", ...endpoint },
      { [`${prefix}/compare/c1..c2`]: () => new Promise(() => {}) },
      options,
    );
    const answering = server.fetch(deliveryRequest({ endpoint: "act", payload: mainPush, id: "one" }));
    await expect.poll(() => requests).toHaveLength(1);
    expect(limits[0]?.milliseconds).toBe(limitMs);
    limits[0]?.end();
    await answering;
    await expect.poll(() => log.lines.map(({ msg }) => msg)).toContain("delivery succeeded");
    expect(log.lines).toContainEqual(expect.objectContaining({ level: "warn", endpoint: "act", deliveryId: "one" }));
  });

  test("answers 202 before it requests the files, and is ignored in the background, not failed", async () => {
    const release = Promise.withResolvers<string>();
    const { server, log, requests } = createServer(
      { paths: "README.md", background: true },
      { [`${prefix}/compare/c1..c2`]: () => release.promise },
      { inbox: "sqlite::memory:" },
    );
    const response = await server.fetch(deliveryRequest({ endpoint: "act", payload: mainPush, id: "one" }));
    expect(response.status).toBe(202);
    await expect.poll(() => requests).toHaveLength(1);
    release.resolve(diffOf("data/train.csv"));
    await settled(server);
    expect(await server.inbox.get("one")).toMatchObject({
      status: "ignored",
      attempts: [{ outcome: "ignored", reason: "no changed file is README.md" }],
    });
    expect(await server.inbox.counts()).toMatchObject({ act: { succeeded: 0, ignored: 1 } });
    expect(log.lines.at(-1)).toMatchObject({
      msg: "delivery ignored",
      outcome: "ignored",
      reason: "no changed file is README.md",
      attempt: 1,
    });
  });

  test("does not run if the client disconnects before the Hub answers", async () => {
    const { server, requests } = createServer(
      { paths: "README.md" },
      { [`${prefix}/compare/c1..c2`]: () => new Promise(() => {}) },
    );
    const client = new AbortController();
    const request = deliveryRequest({ endpoint: "act", payload: mainPush });
    const answering = server.fetch(new Request(request, { signal: client.signal }));
    await expect.poll(() => requests).toHaveLength(1);
    client.abort();
    expect((await answering).status).toBe(503);
  });

  test("is interrupted in the background when the server closes before the Hub answers, and is queued again", async () => {
    const { server, log, requests } = createServer(
      { paths: "README.md", background: true },
      { [`${prefix}/compare/c1..c2`]: () => new Promise(() => {}) },
      { inbox: "sqlite::memory:" },
    );
    await server.fetch(deliveryRequest({ endpoint: "act", payload: mainPush, id: "one" }));
    await expect.poll(() => requests).toHaveLength(1);
    await server.close();
    const interrupted = { level: "warn", deliveryId: "one", outcome: "abandoned", code: "CLOSING" };
    expect(log.lines).toContainEqual(expect.objectContaining(interrupted));
  });

  test("requires a Hub payload", () => {
    const { server } = createServer({}, {});
    for (const option of [{ paths: "data/**" }, { ignoreSelf: true }]) {
      expect(() => server.webhook("any", { ...option, schema: null }, () => {})).toThrow(
        expect.objectContaining({ code: "OPTION_INVALID" }),
      );
    }
  });
});

describe("An endpoint with ignoreSelf", () => {
  const signed = (signature: string, user = "ada") => ({
    [`${prefix}/commits/c2`]: [
      {
        id: "c2",
        title: "Fix",
        message: markCommit("", { signature, marker: undefined }),
        authors: [{ user }],
        date: "2026-01-01T00:00:00.000Z",
      },
    ],
  });
  const own = { status: "ignored", reason: "this server caused the event" };

  test("ignores a commit with the marker of the server and the author of the token", async () => {
    const { server } = createServer({ ignoreSelf: true }, signed("bot"), { hubSignature: "bot" });
    expect(await server.receive(mainPush)).toEqual(own);
  });

  test.each([
    ["of another server", signed("other")],
    ["by another author, who can have copied the marker", signed("bot", "eve")],
    ["that the Hub does not know", {}],
  ])("handles a commit %s", async (_what, answers) => {
    const { server } = createServer({ ignoreSelf: true }, answers, { hubSignature: "bot" });
    expect(await server.receive(mainPush)).toEqual(ran);
  });

  test.each([
    ["contains a commit of someone else", "c7", [`${prefix}/commits/c2`, "/api/whoami-v2", `${prefix}/commits/c7`]],
    ["deletes a ref, which has no commit to read", null, []],
  ])("handles a push that %s", async (_what, newSha, requested) => {
    const { server, log, requests } = createServer({ ignoreSelf: true }, signed("bot"), { hubSignature: "bot" });
    const ownRef = { ref: "refs/heads/main", oldSha: "c1", newSha: "c2" };
    expect(await server.receive(push(ownRef, { ref: "refs/heads/a", oldSha: "c1", newSha }))).toEqual(ran);
    expect(requests).toEqual(requested);
    expect(log.lines.filter(({ level }) => level === "warn")).toHaveLength(newSha === null ? 0 : 1);
  });

  test.each([
    ["ignores", "of the server", "bot", account.id, "ignored"],
    ["handles", "of another server", "other", account.id, "succeeded"],
    ["handles", "by another author", "bot", "b".repeat(24), "succeeded"],
  ])("%s a comment with a marker %s", async (_verb, _what, signature, author, status) => {
    const { server } = createServer({ ignoreSelf: true }, {}, { hubSignature: "bot" });
    const content = markComment("Please add a license.", { signature, marker: "card" });
    for (const scope of ["discussion", "discussion.comment"] as const) {
      const payload = webhookPayload(scope, { repo, comment: { content, author: { id: author } } });
      expect(await server.receive(payload)).toMatchObject({ status });
    }
  });

  test("reads the account once, and sends no request for texts without its marker", async () => {
    const { server, requests } = createServer({ ignoreSelf: true }, {}, { hubSignature: "bot" });
    const comment = (content: string) =>
      server.receive(webhookPayload("discussion.comment", { repo, comment: { content, author: { id: account.id } } }));
    await comment("Hello");
    expect(requests).toEqual([]);
    const marked = markComment("Hello", { signature: "bot", marker: undefined });
    await comment(marked);
    await comment(marked);
    expect(requests).toEqual(["/api/whoami-v2"]);
  });

  test("requests the account once for deliveries at the same time, even if the client of the first one disconnects", async () => {
    const whoami = "/api/whoami-v2";
    const release = Promise.withResolvers<object>();
    const answers = { ...signed("bot"), [whoami]: () => release.promise };
    const { server, requests } = createServer({ ignoreSelf: true }, answers, { hubSignature: "bot" });
    const client = new AbortController();
    const request = deliveryRequest({ endpoint: "act", payload: mainPush });
    const first = server.fetch(new Request(request, { signal: client.signal }));
    await expect.poll(() => requests).toContain(whoami);
    const second = server.receive(mainPush);
    await expect.poll(() => requests.filter((path) => path.includes("commits"))).toHaveLength(2);
    client.abort();
    expect((await first).status).toBe(503);
    release.resolve(account);
    expect(await second).toEqual(own);
    expect(requests.filter((path) => path === whoami)).toHaveLength(1);
  });

  test("requests the account again after a failure", async () => {
    const found = [undefined, account];
    const answers = { ...signed("bot"), "/api/whoami-v2": () => found.shift() ?? { error: "none" } };
    const { server } = createServer({ ignoreSelf: true }, answers, { hubSignature: "bot" });
    expect(await server.receive(mainPush)).toEqual(ran);
    expect(await server.receive(mainPush)).toEqual(own);
  });

  test("takes its name from SPACE_ID, and from the server else", async () => {
    const { server } = createServer({ ignoreSelf: true }, signed("server"));
    expect(await server.receive(mainPush)).toEqual(own);
    process.env.SPACE_ID = "me/bot";
    onTestFinished(() => void delete process.env.SPACE_ID);
    const { server: inSpace } = createServer({ ignoreSelf: true }, signed("me/bot"));
    expect(await inSpace.receive(mainPush)).toEqual(own);
  });

  test("may not be a text, and the name of the server may not be empty", () => {
    const invalid = expect.objectContaining({ code: "OPTION_INVALID" });
    // @ts-expect-error JavaScript users can pass any value.
    expect(() => createServer({ ignoreSelf: "yes" }, {})).toThrow(invalid);
    for (const hubSignature of ["", "x".repeat(201), "\ud800"]) {
      expect(() => new WebhooksServer({ hubSignature })).toThrow(invalid);
    }
  });
});

describe("The Hub client of a server", () => {
  test("can be passed to the server, which then signs and observes its changes", async () => {
    const server = new WebhooksServer({
      secret: false,
      logger: createMemoryLogger(),
      hub: new HubClient(answerWith({}).options),
    });
    let seen: unknown;
    server.webhook("act", async (_payload, { hub }) => {
      seen = hub;
      return (await hub.whoami()).name;
    });
    expect(await server.receive(mainPush)).toEqual({ status: "succeeded", result: "ada" });
    expect(seen).toBe(server.hub);
    expect(server.hub.hubUrl).toBe("http://hub.test");
  });

  test("is loaded when a handler calls a method, and handlers receive the client itself afterwards", async () => {
    const { server, requests } = createServer({}, {});
    const [before] = [server.hub];
    expect([before.hubUrl, requests]).toEqual(["http://hub.test", []]);
    expect((await before.whoami()).name).toBe("ada");
    expect(server.hub.constructor.name).toBe("HubClient");
    expect((await before.whoami()).name).toBe("ada");
  });

  test("is loaded again after invalid options are fixed", async () => {
    vi.stubEnv("HF_ENDPOINT", "no-url");
    const { hubUrl: _hubUrl, ...hub } = answerWith({}).options;
    const server = new WebhooksServer({ secret: false, logger: createMemoryLogger(), hub });
    await expect(server.hub.whoami()).rejects.toMatchObject({ code: "OPTION_INVALID" });
    vi.stubEnv("HF_ENDPOINT", "http://hub.test");
    expect((await server.hub.whoami()).name).toBe("ada");
  });

  test("has a token that is redacted in the log", async () => {
    const log = createMemoryLogger();
    const token = "hf_an-access-token-0123456789";
    const server = new WebhooksServer({ secret: false, logger: log, hub: { token } });
    server.webhook("act", (_payload, context) => context.log.info({ token }, "seen"));
    await server.receive(mainPush);
    expect(log.text()).not.toContain(token);
  });
});
