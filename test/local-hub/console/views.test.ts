import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createHubApp } from "../../../src/local-hub/app.ts";
import { createHubConsole } from "../../../src/local-hub/console/hub-console.ts";
import type { HubContext } from "../../../src/local-hub/hub-context.ts";
import { holdsSecret } from "../../support/secrets.ts";
import { ConsoleClient } from "../support/console-client.ts";
import { openContext } from "../support/context.ts";
import { openLocalHub, secret, waitForJobs } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

async function open(options: Parameters<typeof openLocalHub>[0] = {}) {
  const hub = await openLocalHub(options);
  return { hub, client: await ConsoleClient.signIn(hub.hub.createConsoleLink()) };
}

test("The repositories of the console are listed with their refs and webhooks", async () => {
  const { hub, client } = await open();
  const { id } = await hub.create({ url: "http://127.0.0.1:1/" });
  await hub.trigger();
  await hub.trigger({
    repo: { type: "dataset", name: "me/data" },
    event: { scope: "discussion", action: "create" },
    discussion: { title: "Where is it from?" },
  });
  const { body: list } = await client.get("repositories");
  expect(list).toMatchObject({
    repositories: expect.arrayContaining([
      expect.objectContaining({ type: "dataset", name: "me/data", isPrivate: false, discussions: 1 }),
    ]),
    unlisted: 0,
  });
  expect((await client.get("repositories/one?type=dataset&name=me/data")).body).toMatchObject({
    headSha: expect.stringMatching(/^[0-9a-f]{40}$/),
    refs: [{ name: "refs/heads/main" }],
    discussions: 1,
    webhooks: [{ id }],
    pushCommand: expect.stringContaining("trigger dataset:me/data"),
  });
  for (const query of ["type=dataset&name=me/none", "type=none&name=x", "type=dataset&name="])
    expect(await client.get(`repositories/one?${query}`)).toMatchObject({ status: 404 });
});

describe("The events of the console", () => {
  test("are listed newest first, with the deliveries and the webhooks that did not fire", async () => {
    const { hub, client } = await open({ attempts: 1 });
    const target = await openTarget(200, 500);
    const fired = await hub.create({ url: target.url });
    const other = await hub.create({ url: target.url, domains: ["discussion"] });
    await hub.trigger();
    await hub.trigger();
    await hub.trigger({ repo: { type: "model", name: "me/unwatched" }, event: { scope: "repo", action: "update" } });
    const { body } = await client.get("events");
    const skipped = [{ webhookId: other.id, reason: expect.stringContaining("domains") }];
    expect(body).toMatchObject({
      events: [
        { scope: "repo", repository: { type: "model", name: "me/unwatched" }, deliveries: [], skipped: [] },
        { deliveries: [{ webhookId: fired.id, status: "dead", responseStatus: 500, attempts: 1 }], skipped },
        {
          ...{ scope: "repo.content", action: "update", user: "local-user", isPayloadOnly: false, unlisted: 0 },
          deliveries: [{ webhookId: fired.id, status: "succeeded", responseStatus: 200, logId: expect.any(String) }],
          skipped,
        },
      ],
    });
    await hub.delete(fired.id);
    const { body: later } = await client.get("events?limit=2");
    expect(later).toMatchObject({ events: [{}, { deliveries: [{ attempts: 0 }] }], next: expect.any(Number) });
    const next = Reflect.get(Object(later), "next");
    const { body: page } = await client.get(`events?limit=2&cursor=${next}`);
    expect(page).toMatchObject({ events: [{ scope: "repo.content" }] });
    expect(page).not.toHaveProperty("next");
  });

  test("show deliveries that wait for an attempt, are retried, or were canceled", async () => {
    const { hub, client } = await open({ backoff: "1h" });
    const requested = Promise.withResolvers<void>();
    const target = await openTarget((_request, response) => {
      requested.resolve();
      response.writeHead(503).end();
    });
    const { id } = await hub.create({ url: target.url });
    await hub.trigger(undefined, { wait: false });
    await requested.promise;
    const statusNow = async () => {
      const { body } = await client.get("events");
      return Reflect.get(Object(body), "events")[0].deliveries[0].status;
    };
    await expect.poll(statusNow).toBe("retrying");
    await hub.setState(id, "disable");
    expect(await statusNow()).toBe("dead");
  });

  test("are stored, and old ones are deleted", () => {
    const { context } = openContext();
    const { events } = context.store;
    for (let index = 0; index < 580; index += 1) {
      events.add({
        ...{ id: `e${index}`, at: index, scope: "repo", action: "update", repo: { type: "dataset", name: "me/data" } },
        ...{ user: "local-user", isPayloadOnly: false, skipped: [] },
        deliveries: Array.from({ length: 120 }, () => ({ webhookId: "w", deliveryId: "d", url: "u" })),
      });
    }
    const kept = events.list({ limit: 1_000 });
    expect(kept.length).toBeGreaterThanOrEqual(500);
    expect(kept.length).toBeLessThan(550);
    expect(kept[0]).toMatchObject({ id: "e579", unlisted: 20 });
    expect(events.get("e0")).toBeUndefined();
    events.clear();
    expect(events.list({ limit: 1 })).toEqual([]);
  });
});

test("The jobs of the console are listed with their logs", async () => {
  const { hub, client } = await open({ runJobs: true });
  const id = await hub.runJob({ command: ["sh", "-c", "echo one; echo two; exit 3"], dockerImage: "python" });
  await waitForJobs(hub);
  expect((await client.get("jobs")).body).toMatchObject({
    runsJobs: true,
    jobs: [{ id, stage: "ERROR", isActive: false, command: expect.stringContaining("echo one"), message: /.+/ }],
  });
  const { body } = await client.get(`jobs/one?id=${id}`);
  expect(body).toMatchObject({
    logs: [{ number: 1 }, { number: 2, text: "one" }, { number: 3, text: "two" }],
    image: "python",
    flavor: "cpu-basic",
  });
  expect((await client.get(`jobs/one?id=${id}&after=2`)).body).toMatchObject({ logs: [{ text: "two" }] });
  expect(await client.get("jobs/one?id=none")).toMatchObject({ status: 404 });
});

test("The stream of the console reports which features changed", async () => {
  const { hub, client } = await open();
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const reader = (await client.stream({ signal: stop.signal })).getReader();
  await reader.read();
  await hub.create({ url: "http://127.0.0.1:1/" });
  const { value } = await reader.read();
  expect(JSON.parse(value?.replace("data: ", "") ?? "")).toEqual({
    type: "changed",
    features: ["webhooks", "events", "send"],
  });
});

const watched = [{ type: "dataset", name: "me/data" }];

describe("The webhooks of the console", () => {
  test("are created, listed, updated, and deleted", async () => {
    const { hub, client } = await open();
    const target = await openTarget();
    const created = await client.post("webhooks", { url: target.url, watched, domains: ["repo"], secret });
    expect(created).toMatchObject({
      status: 200,
      body: {
        ...{ owner: "local-user", target: { kind: "url", url: target.url }, state: "enabled", watched },
        ...{ domains: ["repo"], isSecretSet: true, today: { deliveries: 0, limit: 1_000 }, attempts: [], pending: 0 },
        failures: { count: 0, limit: 5 },
        triggerCommand: expect.stringContaining("trigger dataset:me/data"),
      },
    });
    const { id } = await hub.get(String(Reflect.get(Object(created.body), "id")));
    await hub.trigger();
    expect(target.requests[0]?.headers["x-webhook-secret"]).toBe(secret);

    const list = await client.get("webhooks");
    expect(list.body).toMatchObject({
      webhooks: [
        {
          id,
          lastTriggerAt: expect.any(Number),
          today: { deliveries: 1 },
          last: { status: 200, event: { scope: "repo.content", action: "update" }, repository: watched[0] },
        },
      ],
      unlisted: 0,
      createCommand: expect.stringContaining("create"),
    });

    const changes = { id, watched: [...watched, { type: "org", name: "acme" }], domains: ["repo", "discussion"] };
    expect((await client.post("webhooks/update", changes)).body).toMatchObject({
      isSecretSet: true,
      target: { kind: "url", url: target.url },
      watched: changes.watched,
    });
    expect((await client.post("webhooks/update", { ...changes, secret: null })).body).toMatchObject({
      isSecretSet: false,
    });

    expect(await client.post("webhooks/delete", { id })).toMatchObject({ status: 200, body: {} });
    expect((await client.get("webhooks")).body).toMatchObject({ webhooks: [] });
    expect(await client.get(`webhooks/one?id=${id}`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  });

  test("report invalid fields with their paths", async () => {
    const { client } = await open();
    const invalid = { url: "ftp://example.com", watched: [{ type: "datset", name: "" }], domains: [], secret: "é" };
    const answer = await client.post("webhooks", invalid);
    const paths = [["url"], ["watched", 0, "type"], ["watched", 0, "name"], ["domains"], ["secret"]];
    const fields = expect.arrayContaining(paths.map((path) => expect.objectContaining({ path })));
    expect(answer).toMatchObject({ status: 422, body: { code: "ARGUMENT_INVALID", fields } });
    const refused = { status: 400, body: { code: "ARGUMENT_INVALID" } };
    expect(await client.post("webhooks", { url: 1 })).toMatchObject(refused);
  });

  test("are disabled, enabled, and suspended, as the Hub would do it", async () => {
    const { hub, client } = await open();
    const target = await openTarget();
    const { id } = await hub.create({ url: target.url });
    expect((await client.post("webhooks/disable", { id })).body).toMatchObject({ state: "disabled" });
    expect(await hub.trigger()).toEqual([]);
    expect((await client.post("webhooks/suspend", { id })).body).toMatchObject({ state: "suspended" });
    expect(await hub.get(id)).toMatchObject({ disabled: "suspended-after-failure" });
    expect(await hub.trigger()).toEqual([]);
    expect((await client.post("webhooks/enable", { id })).body).toMatchObject({ state: "enabled" });
    expect(await hub.trigger()).toMatchObject([{ status: 200 }]);
  });

  test("are replayed, and show each attempt with its request and response", async () => {
    const { hub, client } = await open({ attempts: 1 });
    const target = await openTarget(500, 202);
    const { id } = await hub.create({ url: target.url, secret });
    const [delivery] = await hub.trigger();
    const details = await client.get(`webhooks/one?id=${id}`);
    expect(details.body).toMatchObject({
      failures: { count: 1 },
      attempts: [{ logId: delivery?.logId, attempt: 1, status: 500, error: expect.stringContaining("500") }],
    });
    const replayed = await client.post("webhooks/replay", { id, logId: delivery?.logId });
    expect(replayed).toMatchObject({ status: 200, body: { attempt: 2, status: 202 } });
    expect(replayed.body).not.toHaveProperty("error");
    const attempt = await client.get(`webhooks/attempt?id=${id}&logId=${delivery?.logId}`);
    expect(attempt.body).toMatchObject({
      url: target.url,
      request: { headers: expect.arrayContaining([["x-webhook-secret", "***"]]), body: target.requests[0]?.body },
      response: { isTruncated: false },
    });
    expect(await client.get(`webhooks/attempt?id=${id}&logId=none`)).toMatchObject({ status: 404 });
  });

  test("never contain a secret", async () => {
    const { hub, client } = await open({ attempts: 1 });
    const target = await openTarget((request, response) => response.end(String(request.headers["x-webhook-secret"])));
    const url = new URL(target.url);
    url.password = secret;
    url.search = `?secret=${secret}`;
    const created = await client.post("webhooks", { url: url.href, watched, domains: ["repo"], secret });
    const id = String(Reflect.get(Object(created.body), "id"));
    const [delivery] = await hub.trigger();
    await hub.create({
      url: undefined,
      job: { flavor: "cpu-basic", dockerImage: "python", command: ["python"], secrets: { TOKEN: secret } },
    });
    await hub.trigger();
    const [job] = hub.hub.jobs();
    const answers = [
      created,
      await client.get("webhooks"),
      await client.get(`webhooks/one?id=${id}`),
      await client.get(`webhooks/attempt?id=${id}&logId=${delivery?.logId}`),
      await client.get("events"),
      await client.get("jobs"),
      await client.get(`jobs/one?id=${job?.id}`),
      await client.post("send/preview", { body: target.requests[0]?.body }),
      await client.post("webhooks/replay", { id, logId: delivery?.logId }),
    ];
    for (const { status, text, headers } of answers) {
      expect(status).toBe(200);
      expect(holdsSecret([text, [...headers]], secret), text).toBe(false);
    }
  });
});

type Files = Readonly<Record<string, string | Uint8Array | null>>;

let context: HubContext;
let client: ConsoleClient;
let send: (path: string, init?: RequestInit) => Promise<Response>;
/** Sends a request of a bot to the Hub's API. */
let bot: (line: string, body?: object, token?: string) => Promise<unknown>;

const repo = "/api/datasets/me/data";

beforeEach(async () => {
  ({ context } = openContext());
  const console = createHubConsole(context);
  const app = createHubApp(context, { console });
  send = async (path, init) => console.fetch(new Request(new URL(path, context.hubUrl), init));
  client = await ConsoleClient.signIn(console.createSignInLink(context.hubUrl), send);
  bot = async (line, body, token = "hf_local") => {
    const [method = "", path = ""] = line.split(" ");
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", host: "127.0.0.1:5050" };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await app.fetch(new Request(new URL(path, context.hubUrl), init));
    expect(response.status, `${line}: ${await response.clone().text()}`).toBe(200);
    return response.json();
  };
  await bot("POST /api/repos/create", { type: "dataset", name: "data", organization: "me" });
});

/** Commits files, where `null` deletes a file, and returns the ID of the commit. */
async function commit(files: Files, { query = "", branch = "main" } = {}): Promise<string> {
  const changed = Object.entries(files);
  const answer = await bot(`POST ${repo}/commit/${encodeURIComponent(branch)}${query}`, {
    summary: "Change files",
    description: "Because of a test.",
    files: changed.flatMap(([path, content]) =>
      content === null ? [] : { path, content: Buffer.from(content).toString("base64"), encoding: "base64" },
    ),
    deletedEntries: changed.flatMap(([path, content]) => (content === null ? { path } : [])),
  });
  return String(Reflect.get(Object(answer), "commitOid"));
}

function queryOf(path: string, { type = "dataset", name = "me/data" } = {}): string {
  return `${new URLSearchParams({ type, name, path })}`;
}

/** Reads a part of the repository as the console does. */
const read = (path: string, key: { type?: string; name?: string } = {}) =>
  client.get(`repositories/read?${queryOf(path, key)}`);

const encode = (path: string) => path.split("/").map(encodeURIComponent).join("/");

describe("The console reads a repository", () => {
  test("with its folders, commits, and discussions, page by page", async () => {
    await commit({ "a.txt": "a", "b/c.txt": "c" });
    const first = await read("tree/main?limit=2");
    expect(first.body).toMatchObject({ value: [{ path: ".gitattributes" }, { path: "a.txt", size: 1 }] });
    const next = String(Reflect.get(Object(first.body), "next"));
    expect((await read(next)).body).toEqual({ value: [expect.objectContaining({ path: "b", type: "directory" })] });
    expect((await read("tree/main/b")).body).toMatchObject({ value: [{ path: "b/c.txt" }] });

    const commits = await read("commits/refs%2Fheads%2Fmain?limit=1");
    expect(commits.body).toMatchObject({ value: [{ title: "Change files" }], next: expect.stringContaining("p=1") });

    for (let num = 1; num <= 51; num += 1)
      await bot(`POST ${repo}/discussions`, { title: `Topic ${num}`, description: "" });
    expect((await read("discussions")).body).toMatchObject({
      value: { discussions: expect.arrayContaining([expect.objectContaining({ num: 51, title: "Topic 51" })]) },
      next: "discussions?p=1",
    });
    expect((await read("discussions?p=1")).body).toEqual({ value: expect.objectContaining({ start: 50 }) });
  });

  test("with the thread of a pull request, and its diff after the merge", async () => {
    await commit({ "a.txt": "one\n" });
    await commit({ "a.txt": "one\ntwo\n" }, { query: "?create_pr=1" });
    await commit({ "c.txt": "three\n" }, { branch: "refs/pr/1" });
    await bot(`POST ${repo}/discussions/1/comment`, { comment: "Looks good." });
    await bot(`POST ${repo}/discussions/1/merge`, {});
    await commit({ "b.txt": "later\n" });
    expect((await read("discussions/1")).body).toMatchObject({
      value: {
        ...{ isPullRequest: true, status: "merged", changes: { mergeCommitId: expect.any(String) } },
        events: expect.arrayContaining([
          expect.objectContaining({ type: "commit" }),
          expect.objectContaining({ type: "comment" }),
          expect.objectContaining({ type: "status-change" }),
        ]),
      },
    });
    expect((await read("changes/refs%2Fpr%2F1")).body).toMatchObject({
      value: {
        files: [{ path: "a.txt", added: 1, removed: 0, patch: "@@ -1 +1,2 @@\n one\n+two\n" }, { path: "c.txt" }],
      },
    });
  });

  test.each(["model", "dataset"])("without an owner, such as an old %s", async (type) => {
    const event = { scope: "repo.content", action: "update" };
    await bot("POST /_local/events", { repo: { type, name: "gpt2" }, event, files: { "a.txt": "one" } });
    const key = { type, name: "gpt2" };
    const paths = ["tree/main", "resolve/main/a.txt", "commits/main", "discussions", "changes/main"];
    for (const path of paths) expect((await read(path, key)).status, path).toBe(200);
  });

  test("as its owner, also if it is private, and by its previous name", async () => {
    await bot("POST /api/repos/create", { type: "model", name: "secret", private: true }, "hf_other");
    for (const path of ["tree/main", "resolve/main/.gitattributes", "discussions"]) {
      expect((await read(path, { type: "model", name: "other-user/secret" })).status, path).toBe(200);
    }
    await bot("POST /api/repos/move", { fromRepo: "me/data", toRepo: "me/renamed", type: "dataset" });
    expect((await read("tree/main")).status).toBe(200);
    expect((await client.get("repositories/one?type=dataset&name=me/data")).body).toMatchObject({ name: "me/renamed" });
  });
});

describe("A changed file", () => {
  const numbers = Array.from({ length: 30_000 }, (_, number) => `${number}\n`).join("");
  test.each<[string, { before?: string | Uint8Array; after: string | Uint8Array | null; file: object }]>([
    ["is new", { after: "a\n", file: { change: "new", sizes: [2], added: 1, removed: 0 } }],
    ["is deleted", { before: "a\n", after: null, file: { change: "deleted", sizes: [2], removed: 1 } }],
    ["is changed", { before: "a\n", after: "b\n", file: { change: "changed", patch: "@@ -1 +1 @@\n-a\n+b\n" } }],
    ["is empty", { after: "", file: { change: "new", sizes: [0], added: 0 } }],
    ["is binary", { before: "a", after: new Uint8Array([0, 1]), file: { reason: "binary", sizes: [1, 2] } }],
    ["is large", { before: "a", after: "x".repeat(300_000), file: { reason: "large", sizes: [1, 300_000] } }],
    ["is long", { after: numbers, file: { isCut: true, added: 30_000, patch: expect.stringMatching(/^.{64000}$/s) } }],
  ])("%s", async (_, { before, after, file }) => {
    if (before !== undefined) await commit({ "file.txt": before });
    const id = await commit({ "file.txt": after });
    const { body } = await read(`changes/${id}`);
    expect(body).toMatchObject({
      value: {
        commit: { sha: id, title: "Change files", message: "Because of a test.", author: "local-user" },
        skip: 0,
      },
    });
    expect(body).toMatchObject({ value: { files: [{ path: "file.txt", isCut: false, ...file }], total: 1 } });
  });

  test("is renamed", async () => {
    await commit({ "old.txt": "text" });
    const id = await commit({ "old.txt": null, "new.txt": "text" });
    const file = { change: "renamed", path: "new.txt", previousPath: "old.txt", added: 0, removed: 0, isCut: false };
    expect((await read(`changes/${id}`)).body).toMatchObject({ value: { files: [file] } });
  });

  test("is in LFS, and neither compared nor shown", async () => {
    const content = Buffer.from("large\n");
    const lfs = { oid: createHash("sha256").update(content).digest("hex"), size: content.byteLength };
    const { store } = context;
    const id = store.repositories.get({ type: "dataset", name: "me/data" })?.id ?? "";
    await store.content.saveLarge(id, lfs, Readable.from([content]));
    const lfsFile = { path: "a.bin", algo: "sha256", ...lfs };
    await bot(`POST ${repo}/commit/main`, { summary: "Add a file", lfsFiles: [lfsFile] });
    expect((await read("changes/main")).body).toMatchObject({ value: { files: [{ reason: "LFS", sizes: [6] }] } });
    const open = vi.spyOn(store.content, "openLarge");
    expect((await read("resolve/main/a.bin")).body).toEqual({ value: { size: 6, isInLfs: true, isCut: false } });
    expect(open.mock.results).toMatchObject([{ value: { destroyed: true } }]);
    await client.download(`repositories/download?${queryOf("resolve/main/a.bin")}`, { method: "HEAD" });
    expect(open).toHaveBeenCalledTimes(1);
    const downloaded = await client.download(`repositories/download?${queryOf("resolve/main/a.bin")}`);
    expect(await downloaded.text()).toBe("large\n");
  });

  test("is on a later page if there are many, also in the first commit of a branch", async () => {
    await commit(Object.fromEntries(Array.from({ length: 21 }, (_, number) => [`${number}.txt`, "text"])));
    await bot(`POST ${repo}/super-squash/main`, {});
    const first = await read("changes/main");
    expect(first.body).toMatchObject({ value: { total: 22, files: { length: 20 } }, next: "changes/main?skip=20" });
    expect((await read("changes/main?skip=20")).body).toEqual({ value: expect.objectContaining({ skip: 20 }) });
  });
});

describe("A file", () => {
  test.each([
    ["of text", "line one\nline two", { text: "line one\nline two", size: 17 }],
    ["that is empty", "", { text: "", size: 0 }],
    ["that is binary", new Uint8Array([1, 0, 2]), { size: 3 }],
  ])("%s", async (_, content, value) => {
    await commit({ file: content });
    expect((await read("resolve/main/file")).body).toEqual({ value: { isInLfs: false, isCut: false, ...value } });
  });

  test("that is large is cut between two characters", async () => {
    await commit({ file: `a${"é".repeat(200_000)}` });
    const text = `a${"é".repeat(131_071)}`;
    expect((await read("resolve/main/file")).body).toEqual({
      value: { size: 400_001, isInLfs: false, text, isCut: true },
    });
  });

  test.each(["a b/<img src=x>.html", "%2e%2e/?#&+.html", "…/é\"'.svg", "..a/refs"])(
    "named %j is downloaded",
    async (path) => {
      const html = "<script>alert(1)</script>";
      await commit({ [path]: html });
      const file = `resolve/refs%2Fheads%2Fmain/${encode(path)}`;
      expect((await read(file)).body).toMatchObject({ value: { text: html } });
      const response = await client.download(`repositories/download?${queryOf(file)}`);
      expect(await response.text()).toBe(html);
      const headers = Object.fromEntries(response.headers);
      expect(headers).toMatchObject({
        "content-type": "application/octet-stream",
        "content-disposition": expect.stringMatching(/^attachment; filename\*=UTF-8''[\w.%-]+; filename="[ -~]+";$/),
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
      });
    },
  );
});

describe("The console does not read", () => {
  test("other paths than the parts of the repository", async () => {
    await bot("POST /api/repos/create", { type: "dataset", name: "other", organization: "me" });
    const outside = ["../../acme/other/tree/main", "/api/settings/webhooks", "//acme/other/tree/main", "http://"];
    const urls = [
      "https://huggingface.co/api/datasets/me/other/tree/main",
      "../other/tree/main",
      "../%6Fther/tree/main",
    ];
    const nested = ["resolve/../../other/resolve/main/.gitattributes", "resolve/../../../../api/whoami-v2"];
    const missing = ["tree/gone", "tree/main/gone", "commits/gone", "changes/gone", "resolve/main/gone"];
    const others = ["", "settings", "discussions/1", "discussions/%00"];
    for (const path of [...outside, ...urls, ...nested, ...missing, ...others]) {
      const answer = await read(path);
      expect(answer, path).toMatchObject({ status: 404, body: { code: "NOT_FOUND", error: expect.any(String) } });
      expect((await client.get(`repositories/download?${queryOf(path)}`)).status, path).toBe(404);
    }
  });

  test("a repository that does not exist", async () => {
    for (const key of ["dataset:me/none", "bucket:me/data", "none:me/data", "dataset:../me"]) {
      const [type = "", name = ""] = key.split(":");
      expect(await read("tree/main", { type, name }), key).toMatchObject({ status: 404 });
    }
  });

  test("a repository or a branch that was deleted meanwhile", async () => {
    await bot(`POST ${repo}/branch/dev`, {});
    expect((await read("tree/dev")).status).toBe(200);
    await bot(`DELETE ${repo}/branch/dev`);
    expect((await read("tree/dev")).status).toBe(404);
    await bot("DELETE /api/repos/delete", { type: "dataset", name: "data", organization: "me" });
    expect((await read("tree/main")).status).toBe(404);
    expect((await client.get("repositories/one?type=dataset&name=me/data")).status).toBe(404);
  });

  test("an invalid page", async () => {
    expect(await read("tree/main?limit=none")).toMatchObject({ status: 400, body: { code: "ARGUMENT_INVALID" } });
  });

  test("a body for HEAD", async () => {
    for (const [route, path, status] of [
      ["read", "tree/main", 200],
      ["read", "tree/gone", 404],
      ["download", "resolve/main/.gitattributes", 200],
      ["download", "resolve/main/gone", 404],
    ] as const) {
      const response = await client.download(`repositories/${route}?${queryOf(path)}`, { method: "HEAD" });
      expect([response.status, await response.text()], path).toEqual([status, ""]);
    }
  });

  test("for a client that is not signed in", async () => {
    for (const route of ["read", "download", "one"]) {
      const path = `/_console/api/repositories/${route}?${queryOf("tree/main")}`;
      expect((await send(path)).status).toBe(401);
      expect((await send(path, { headers: { authorization: "Bearer hf_local" } })).status).toBe(401);
    }
  });

  test("with a request to change something, which changes nothing", async () => {
    await bot(`POST ${repo}/discussions`, { title: "Topic", description: "" });
    const path = `repositories/read?${queryOf("discussions/1")}`;
    for (const method of ["POST", "PUT", "DELETE"])
      expect((await send(`/_console/api/${path}`, { method })).status).toBe(401);
    expect((await client.post(path, {})).status).toBe(404);
    expect((await read("discussions/1")).status).toBe(200);
  });
});
