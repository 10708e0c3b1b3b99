import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Hono } from "hono";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SendRequest } from "../../../src/console/protocol/send.ts";
import { HubClient } from "../../../src/hub/client.ts";
import { createHubConsole, hubResources } from "../../../src/local-hub/console/hub-console.ts";
import { listScenarioFiles, readScenarioFile } from "../../../src/local-hub/console/scenario-files.ts";
import { parseScenario } from "../../../src/local-hub/events/event-request.ts";
import { contextOf } from "../../../src/local-hub/hub-context.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { ConsoleClient } from "../support/console-client.ts";
import { openContext } from "../support/context.ts";
import { openLocalHub, pushed } from "../support/hub.ts";
import { openTarget } from "../support/target.ts";

/** Opens the console of a local Hub with a webhook of `me/data`. */
async function open() {
  const hub = await openLocalHub({ attempts: 1 });
  const target = await openTarget();
  const { id: webhookId } = await hub.create({ url: target.url });
  const client = await ConsoleClient.signIn(hub.hub.createConsoleLink());
  return {
    ...{ hub, client, target, webhookId },
    draft: (event: string, repository?: string) => draft(client, event, repository),
    /** Reads a part of the repository, such as `commits/main`. */
    async read(path: string): Promise<unknown> {
      const { status, body } = await client.get(`repositories/read?type=dataset&name=me/data&path=${path}`);
      return status === 404 ? [] : Reflect.get(Object(body), "value");
    },
    /** Sends, and waits for the deliveries. */
    async send(request: SendRequest) {
      const answer = await client.post("send", request);
      await hub.hub.settled();
      return answer;
    },
  };
}

/** Returns the payload that the console fills in. */
async function draft(client: ConsoleClient, event: string, repository = "dataset:me/data"): Promise<string> {
  const [scope = "", action = ""] = event.split(" ");
  const { status, body, text } = await client.get(`send/payload?${new URLSearchParams({ scope, action, repository })}`);
  expect(status, text).toBe(200);
  return String(Reflect.get(Object(body), "body"));
}

/** Edits a payload with a function that changes the parsed JSON. */
function edit(text: string, change: (payload: Record<string, Record<string, unknown>>) => void): SendRequest {
  const payload = JSON.parse(text);
  change(payload);
  return { body: JSON.stringify(payload), draft: text };
}

test("The options list the events, the repositories of webhooks first, and samples", async () => {
  const { client, draft } = await open();
  const { body } = await client.get("send/options");
  expect(body).toMatchObject({
    defaultRepository: "dataset:me/data",
    scopes: expect.arrayContaining([{ scope: "discussion.comment", actions: ["create", "update"] }]),
    repositories: expect.arrayContaining(["dataset:me/data", "dataset:local-user/notes"]),
    samples: expect.arrayContaining([
      { name: "repo.content update (bucket)", scope: "repo.content", action: "update", repoType: "bucket" },
    ]),
  });
  const { samples } = Object(body);
  for (const { scope, action, repoType } of samples)
    expect(JSON.parse(await draft(`${scope} ${action}`, `${repoType}:acme/data`))).toMatchObject({
      event: { scope, action },
      repo: { type: repoType, name: "acme/data" },
    });
});

describe("A draft", () => {
  test("changes nothing", async () => {
    const { client, target, draft, read } = await open();
    await draft("repo.content update");
    await draft("repo delete", "dataset:local-user/notes");
    expect(await read("commits/main")).toEqual([]);
    expect((await client.get("repositories/one?type=dataset&name=local-user/notes")).status).toBe(200);
    expect((await client.get("events")).body).toMatchObject({ events: [] });
    expect(target.requests).toEqual([]);
  });

  test("needs a valid repository", async () => {
    const { client } = await open();
    for (const repository of ["data", "dataset:", "dataset:a/b/c", "sweater:me/data"]) {
      const query = new URLSearchParams({ scope: "repo", action: "update", repository });
      const refused = { status: 400, body: { code: "ARGUMENT_INVALID" } };
      expect(await client.get(`send/payload?${query}`), repository).toMatchObject(refused);
    }
  });
});

describe("An unedited payload", () => {
  test("makes the change of the event, and sends the payload of this change", async () => {
    const { client, target, webhookId, draft, read, send } = await open();
    const body = await draft("repo.content update");
    expect((await client.post("send/preview", { body, draft: body })).body).toMatchObject({
      problems: [],
      effect: "change",
      recipients: [{ kind: "webhook", url: target.url, webhookId }],
    });
    expect(await read("commits/main")).toEqual([]);
    const sent = await send({ body, draft: body });
    expect(sent).toMatchObject({
      status: 200,
      body: { eventId: expect.any(String), deliveries: [{ recipient: target.url, webhookId, id: expect.any(String) }] },
    });
    const [commit] = Object(await read("commits/main"));
    const payload = JSON.parse(target.requests[0]?.body ?? "");
    expect(payload).toMatchObject({
      webhook: { id: webhookId },
      repo: { headSha: Reflect.get(commit, "id") },
    });
    const { eventId } = Object(sent.body);
    expect((await client.get(`events/one?id=${eventId}`)).body).toMatchObject({
      isPayloadOnly: false,
      deliveries: [{ status: "succeeded" }],
    });
  });

  test("of a pull request returns the requested event", async () => {
    const { client, draft, send } = await open();
    const body = await draft("discussion create");
    const request = edit(body, ({ discussion = {} }) => {
      discussion.isPullRequest = true;
    });
    const { eventId } = Object((await send(request)).body);
    expect((await client.get(`events/one?id=${eventId}`)).body).toMatchObject({ scope: "discussion" });
  });
});

describe("A payload with edits that describe the event", () => {
  test.each([
    {
      event: "discussion.comment create",
      change: { comment: { content: "@bot hello" } },
      path: "discussions",
      check: { discussions: [{ numComments: 2 }] },
    },
    {
      event: "discussion create",
      change: { discussion: { title: "Where is it from?" } },
      path: "discussions",
      check: { discussions: [{ title: "Where is it from?" }] },
    },
    { event: "repo.config update", change: { updatedConfig: { private: true } }, path: "", check: { isPrivate: true } },
  ])("makes the change of $event with these edits", async ({ event, change, path, check }) => {
    const { client, target, draft, read, send } = await open();
    const request = edit(await draft(event), (payload) => {
      for (const [name, fields] of Object.entries(change)) payload[name] = { ...payload[name], ...fields };
    });
    expect((await client.post("send/preview", request)).body).toMatchObject({ effect: "change" });
    await send(request);
    const { body } = await client.get("repositories/one?type=dataset&name=me/data");
    expect(path === "" ? body : await read(path)).toMatchObject(check);
    expect(JSON.parse(target.requests[0]?.body ?? "")).toMatchObject(change);
  });

  test("moves a repository to the edited name", async () => {
    const { client, draft, send } = await open();
    const request = edit(await draft("repo move"), ({ movedTo = {} }) => {
      movedTo.name = "me/other";
    });
    await send(request);
    expect((await client.get("repositories/one?type=dataset&name=me/other")).status).toBe(200);
  });
});

describe("Files", () => {
  const files = { "data/train.csv": "id;text\n", "logo.png": { base64: "iVBORw0KGgo=" } };

  test("are pushed by the change of the event", async () => {
    const { hub, target, draft, send } = await open();
    const body = await draft("repo.content update");
    expect(await send({ body, draft: body, files })).toMatchObject({ status: 200 });
    expect(await send({ body, draft: body, files: { "logo.png": null } })).toMatchObject({ status: 200 });
    const { headSha } = JSON.parse(target.requests[1]?.body ?? "").repo;
    const listed = await hub.request(`GET /api/datasets/me/data/tree/${headSha}?recursive=true`);
    expect(JSON.stringify(listed.body)).toContain("data/train.csv");
    expect(JSON.stringify(listed.body)).not.toContain("logo.png");
  });

  test("are in a new pull request, whose two events decide who receives it", async () => {
    const { hub, client, target, send } = await open();
    const { id: pushesOnly } = await hub.create({ url: target.url, domains: ["repo"] });
    const query = { scope: "discussion", action: "create", repository: "dataset:me/data", pr: "true" };
    const { body } = Object((await client.get(`send/payload?${new URLSearchParams(query)}`)).body);
    expect(JSON.parse(body)).toMatchObject({ discussion: { isPullRequest: true } });
    const request = { body, draft: body, files };
    const { recipients } = Object((await client.post("send/preview", request)).body);
    const recipient = recipients.find(({ webhookId }: { webhookId: string }) => webhookId === pushesOnly);
    expect(recipient).toEqual({ kind: "webhook", name: target.url, url: target.url, webhookId: pushesOnly });
    await send(request);
    const refs = target.requests.map(({ body: sent }) => JSON.parse(sent).updatedRefs?.[0]?.ref);
    expect(refs.filter((ref) => ref === "refs/pr/1")).toHaveLength(2);
    const listed = await hub.request("GET /api/datasets/me/data/tree/refs%2Fpr%2F1?recursive=true");
    expect(JSON.stringify(listed.body)).toContain("data/train.csv");
  });

  test("are refused with an invalid path, and with a payload that is sent as it is", async () => {
    const { client, target, draft } = await open();
    const body = await draft("repo.content update");
    const edited = edit(body, (payload) => {
      payload.future = {};
    });
    const refused = { status: 400, body: { code: "ARGUMENT_INVALID" } };
    for (const request of [
      { body, draft: body, files: { "../a": "" } },
      { body, draft: body, files: { missing: null } },
      { body, draft: body, files: {} },
      { ...edited, files },
      { body, files },
    ]) {
      expect(await client.post("send", request), JSON.stringify(request.files)).toMatchObject(refused);
    }
    expect(target.requests).toEqual([]);
  });
});

describe("A payload with other edits", () => {
  test.each([
    ["another commit", { repo: { headSha: "a".repeat(40) } }],
    ["an unknown field", { future: { field: 1 } }],
    ["a removed field", { repo: { headSha: undefined } }],
    ["another action", { event: { action: "create" } }],
    ["another owner", { repo: { owner: { id: "f".repeat(24) } } }],
  ])("is sent as it is, without a change: %s", async (_what, change) => {
    const { client, target, webhookId, draft, read, send } = await open();
    const request = edit(await draft("repo.content update"), (payload) => {
      for (const [name, fields] of Object.entries(change)) payload[name] = { ...payload[name], ...fields };
    });
    expect((await client.post("send/preview", request)).body).toMatchObject({
      effect: "payload",
      recipients: [{ webhookId }],
    });
    const { eventId } = Object((await send(request)).body);
    const { webhook: _draft, ...edited } = JSON.parse(request.body);
    expect(JSON.parse(target.requests[0]?.body ?? "")).toEqual({ ...edited, webhook: { id: webhookId, version: 3 } });
    expect(await read("commits/main")).toEqual([]);
    expect((await client.get(`events/one?id=${eventId}`)).body).toMatchObject({ isPayloadOnly: true });
  });

  test("is sent as it is if it starts from a past delivery, without a draft", async () => {
    const { hub, target, read, send } = await open();
    await hub.trigger();
    const body = target.requests[0]?.body ?? "";
    await send({ body });
    expect(JSON.parse(target.requests[1]?.body ?? "")).toEqual(JSON.parse(body));
    expect(await read("commits/main")).toHaveLength(2);
  });
});

test("An invalid payload is not sent, and its problems have paths", async () => {
  const { client, target, draft } = await open();
  const base = JSON.parse(await draft("repo.content update"));
  const rows: [body: string, path: (string | number)[]][] = [
    ["{", []],
    ["[".repeat(200) + "]".repeat(200), []],
    ["[]", []],
    [JSON.stringify({ ...base, repo: { ...base.repo, private: "yes" } }), ["repo", "private"]],
    [JSON.stringify({ ...base, updatedRefs: undefined }), ["updatedRefs"]],
    [JSON.stringify({ ...base, updatedRefs: [{ ref: 1 }] }), ["updatedRefs", 0, "ref"]],
  ];
  for (const [body, path] of rows) {
    const fields = expect.arrayContaining([expect.objectContaining({ path })]);
    expect((await client.post("send/preview", { body })).body).toMatchObject({ problems: fields, recipients: [] });
    const refused = { status: 422, body: { code: "PAYLOAD_INVALID", fields } };
    expect(await client.post("send", { body }), body).toMatchObject(refused);
  }
  expect(target.requests).toEqual([]);
});

test("A request that chooses endpoints is refused, because the local Hub sends to webhooks", async () => {
  const { client, target, draft } = await open();
  const body = await draft("repo.content update");
  expect(await client.post("send", { body, endpoints: ["retrain"] })).toMatchObject({
    status: 400,
    body: { code: "ARGUMENT_INVALID" },
  });
  expect(target.requests).toEqual([]);
});

describe("The preview", () => {
  test("explains which webhooks do not receive the event, and why", async () => {
    const hub = await openLocalHub({ attempts: 1, triggersPerDay: 1 });
    const client = await ConsoleClient.signIn(hub.hub.createConsoleLink());
    const url = "http://127.0.0.1:1/";
    const limited = await hub.create({ url });
    await hub.trigger();
    const receiving = await hub.create({ url });
    const unwatched = await hub.create({ url, watched: [{ type: "model", name: "me/net" }] });
    const domain = await hub.create({ url, domains: ["discussion"] });
    const disabled = await hub.create({ url });
    await hub.setState(disabled.id, "disable");
    const suspended = await hub.create({ url });
    await client.post("webhooks/suspend", { id: suspended.id });
    const foreign = await hub.create({ url }, { token: "hf_other" });
    const body = edit(await draft(client, "repo.content update"), ({ repo = {} }) => {
      repo.private = true;
    });
    const { recipients } = Object((await client.post("send/preview", body)).body);
    expect(recipients[0]).not.toHaveProperty("skipped");
    const reasons = Object.fromEntries(
      recipients.map(({ webhookId, skipped }: { webhookId: string; skipped?: string }) => [webhookId, skipped]),
    );
    const skipped = { [limited.id]: /daily limit/, [unwatched.id]: /watch/, [domain.id]: /domain/ };
    const others = { [disabled.id]: /^Disabled/, [suspended.id]: /^Suspended/, [foreign.id]: /private/ };
    for (const [id, reason] of Object.entries({ ...skipped, ...others })) expect(reasons[id]).toMatch(reason);
    expect(recipients.map(({ webhookId }: { webhookId: string }) => webhookId)[0]).toBe(receiving.id);
  });

  test("names the endpoints of a dev session, and why their filters ignore the event", async () => {
    const { hub, target, draft } = await open();
    const body = await draft("repo.content update");
    const app = new Hono();
    const source = {
      repositories: () => ["model:me/watched"],
      predict: (endpoint: string, _payload: unknown, paths: readonly string[] | undefined) =>
        endpoint === "other" ? { ignored: `Only models, not ${paths}.` } : {},
      endpointOf: (url: string) => (url === target.url ? "other" : undefined),
    };
    for (const add of hubResources(contextOf(hub.hub), source)) add(app);
    const post = async (path: string) =>
      (
        await app.request(path, {
          method: "POST",
          body: JSON.stringify({ body, draft: body, files: { a: "", b: "" } }),
        })
      ).json();
    expect(await (await app.request("/send/options")).json()).toMatchObject({
      repositories: expect.arrayContaining(["model:me/watched"]),
    });
    expect(await post("/send/preview")).toMatchObject({
      recipients: [{ kind: "webhook", url: target.url, endpoint: "other", ignored: "Only models, not a,b." }],
    });
    expect(await post("/send")).toMatchObject({ deliveries: [{ endpoint: "other", recipient: target.url }] });
    await hub.hub.settled();
  });
});

test("A console in memory sends without a socket of its own", async () => {
  const { context } = openContext();
  const console = createHubConsole(context);
  onTestFinished(() => console.close());
  const client = await ConsoleClient.signIn(console.createSignInLink(context.hubUrl), (path, init) =>
    console.fetch(new Request(`${context.hubUrl}${path}`, init)),
  );
  const body = await draft(client, "repo.content update");
  expect((await client.post("send", { body, draft: body })).body).toMatchObject({
    deliveries: [{ recipient: "http://127.0.0.1:1/" }],
  });
});

const scenario = JSON.stringify({ events: [pushed, { ...pushed, files: { "a.txt": "a", "b.txt": null } }] });

/** Writes files to a new folder. */
function write(files: Readonly<Record<string, string>>): string {
  const folder = createFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

describe("The scenario files of a folder", () => {
  test("have a name or a folder of their own, and are not in dependencies or hidden folders", () => {
    const listed = ["a.scenario.json", "one/scenarios/c.json", "one/two/b.scenario.json", "scenarios/d.json"];
    const others = ["e.json", "scenarios/f.txt", "scenarios/deep/g.json", "node_modules/h.scenario.json"];
    const hidden = [".git/i.scenario.json", "1/2/3/4/5/6/j.scenario.json"];
    const folder = write(Object.fromEntries([...listed, ...others, ...hidden].map((path) => [path, scenario])));
    expect(listScenarioFiles(folder)).toEqual({ files: listed, isCut: false });
  });

  test("are never outside of the folder", () => {
    const outside = write({ "secret.scenario.json": scenario });
    const folder = write({ "a.scenario.json": scenario });
    symlinkSync(outside, join(folder, "scenarios"));
    symlinkSync(join(outside, "secret.scenario.json"), join(folder, "b.scenario.json"));
    expect(listScenarioFiles(folder).files).toEqual(["a.scenario.json"]);
    for (const path of [
      "b.scenario.json",
      "scenarios/secret.scenario.json",
      `../${outside}/secret.scenario.json`,
      "x",
    ]) {
      expect(() => readScenarioFile(folder, path), path).toThrow(expect.objectContaining({ status: 404 }));
    }
  });

  test("are at most 100", () => {
    const names = Array.from({ length: 101 }, (_, index) => `${index}.scenario.json`);
    const { files, isCut } = listScenarioFiles(write(Object.fromEntries(names.map((name) => [name, scenario]))));
    expect([files.length, isCut]).toEqual([100, true]);
  });

  test("of a folder that does not exist are an empty list", () => {
    expect(listScenarioFiles("/missing/folder")).toEqual({ files: [], isCut: false });
  });

  test.each([
    ['{\n  "events": [,]\n}', /not valid JSON/],
    [JSON.stringify({ events: [pushed, { ...pushed, event: { scope: "repo" } }] }), /events\[1\]\.event\.action/],
    ["[]", /scenario/],
  ])("name the invalid fields of %j", (text, message) => {
    const error = expect.objectContaining({ status: 400, message: expect.stringMatching(message) });
    expect(() => readScenarioFile(write({ "a.scenario.json": text }), "a.scenario.json")).toThrow(error);
  });
});

test("The steps of a scenario run one by one, and report failed deliveries", async () => {
  const hub = await openLocalHub({ attempts: 1 });
  const target = await openTarget(200, 500);
  await hub.create({ url: target.url });
  const file = "a.scenario.json";
  const app = new Hono();
  const broken = { ...pushed, files: { "../x": "" } };
  const folder = write({
    [file]: scenario,
    "b.scenario.json": JSON.stringify({ events: [broken] }),
    "c.scenario.json": "{",
  });
  for (const add of hubResources(contextOf(hub.hub), { folder })) add(app);
  app.onError((error) => Response.json({ status: Reflect.get(error, "status"), error: error.message }));
  const get = async (path: string) => (await app.request(path)).json();
  const run = async (body: object) =>
    (await app.request("/scenarios/step", { method: "POST", body: JSON.stringify(body) })).json();
  expect(await get("/scenarios")).toEqual({
    folder,
    files: [file, "b.scenario.json", "c.scenario.json"],
    isCut: false,
  });
  const push = "repo.content update of dataset:me/data";
  expect(await get(`/scenarios/one?file=${file}`)).toEqual({ steps: [push, `${push}: a.txt, without b.txt`] });
  expect(await get("/scenarios/one?file=c.scenario.json")).toEqual({ steps: [], invalidJson: "{" });
  expect(await run({ file, step: 0 })).toEqual({ deliveries: 1, problems: [] });
  // The file to delete does not exist.
  expect(await run({ file, step: 1 })).toMatchObject({ status: 400 });
  expect(await run({ file, step: 0 })).toMatchObject({ problems: [expect.stringContaining("500")] });
  expect(await run({ file: "b.scenario.json", step: 0 })).toMatchObject({ status: 400 });
  expect(await run({ file, step: 2 })).toMatchObject({ status: 400, error: expect.stringContaining("step 3") });
});

test("The console records what happens on the local Hub, and names what it left out", async () => {
  const { hub, url } = await openLocalHub();
  const client = await ConsoleClient.signIn(hub.createConsoleLink());
  expect((await client.get("recording")).body).toEqual({});
  await client.post("recording/start", {});
  await hub.trigger(pushed);
  const bot = new HubClient({ hubUrl: url, token: "hf_server" }).repo(pushed.repo);
  await bot.openDiscussion({ title: "Thank you", marker: "thanks" });
  const account = new HubClient({ hubUrl: url, token: "hf_local" }).repo(pushed.repo);
  await account.comment(1, "You are welcome.");
  expect((await client.get("recording")).body).toEqual({ steps: 3 });
  const { body } = await client.post("recording/stop", {});
  const { scenario: text, steps, notes } = Object(body);
  expect(steps).toBe(3);
  expect(notes).toEqual(expect.arrayContaining([expect.stringMatching(/by the server/)]));
  const events = parseScenario(JSON.parse(text));
  expect(events.map(({ event: { scope }, silent = false }) => [scope, silent])).toEqual([
    ["repo.content", false],
    ["discussion", true],
    ["discussion.comment", false],
  ]);
  const { hub: other } = await openLocalHub();
  await other.run(JSON.parse(text));
});
