import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { FailedRemoval } from "../../src/registration/sessions.ts";
import { StateFile } from "../../src/registration/state-file.ts";
import { cleanUpTemporary, TemporaryWebhooks } from "../../src/registration/temporary-webhooks.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";
import { baseUrl, openScene, type Scene, secret, serverOf, urlOf } from "./test-hub.ts";

const alive = { url: "http://127.0.0.1:9/alive", answer: "it lives" };
const session = { id: "this-session", alive };
const retrain = { name: "retrain", watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] } as const;
const other = { name: "other", watched: [{ type: "org", name: "acme" }], domains: ["repo"] } as const;
const wish = { endpoints: [retrain, other], baseUrl, secret };

function open(scene: Scene, id = session.id): Promise<TemporaryWebhooks> {
  return TemporaryWebhooks.open({ hub: scene.client, state: scene.state, session: { ...session, id } });
}

function cleanUp(scene: Scene, options: Partial<Parameters<typeof cleanUpTemporary>[0]> = {}) {
  return cleanUpTemporary({ hub: scene.client, state: scene.state, ...options });
}

/** Says on this machine that a session is alive, until the test is over. */
function serveAlive(answer: string, status = 200): Promise<string> {
  return listenWith((_request, response) => void response.writeHead(status).end(answer));
}

/** Notes a webhook that a session which is over was about to make. */
async function notePending({ hub, state }: Scene): Promise<void> {
  const written = { url: urlOf("retrain"), watched: [...retrain.watched], domains: [...retrain.domains] };
  const noted = { key: "one", endpoint: "retrain", secret: null, written, before: [], session };
  await new StateFile({ path: state, hub: hub.url }).change(({ pending }) => {
    pending.push({ ...noted, notedAt: new Date().toISOString() });
  });
}

async function listenWith(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("It does not listen.");
  return `http://127.0.0.1:${address.port}/alive`;
}

/** A session in a process of its own. */
function startSession(scene: Scene, environment: Record<string, string>) {
  const script = fileURLToPath(new URL("session-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: { PATH: process.env.PATH, HUB: scene.hub.url, STATE: scene.state, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return { child, ended, said: once(child.stdout, "data") };
}

describe("The webhooks of a session", () => {
  test("are made, followed when they change, and deleted at its end", async () => {
    const scene = await openScene();
    const webhooks = await open(scene);
    expect((await webhooks.sync(wish)).done.map(({ action }) => action)).toEqual(["create", "create"]);
    const changed = await webhooks.sync({ ...wish, endpoints: [retrain], baseUrl: "http://127.0.0.1:9000" });
    expect(changed.done).toMatchObject([
      { action: "update", endpoint: "retrain", changes: [{ field: "url" }] },
      { action: "delete", endpoint: "other" },
    ]);
    expect(await scene.webhooks()).toMatchObject([{ url: "http://127.0.0.1:9000/webhooks/retrain", secret }]);
    expect((await webhooks.sync({ ...wish, endpoints: [retrain], baseUrl: "http://127.0.0.1:9000" })).steps).toEqual(
      [],
    );
    await webhooks.close();
    expect(await scene.webhooks()).toEqual([]);
    expect(JSON.parse(scene.stateText())).toEqual({ version: 1, hubs: {} });
  });

  test("may have no secret", async () => {
    const scene = await openScene();
    const webhooks = await open(scene);
    await webhooks.sync({ ...wish, secret: null });
    expect(await scene.webhooks()).not.toMatchObject([{ secret: expect.anything() }, {}]);
    expect((await webhooks.sync({ ...wish, secret: undefined })).steps).toEqual([]);
  });

  test("deliver again after they were suspended", async () => {
    const scene = await openScene({ suspendAfter: 1 });
    const webhooks = await open(scene);
    await webhooks.sync({ ...wish, baseUrl: "http://127.0.0.1:9" });
    await scene.hub.push({ type: "dataset", name: "me/data" });
    const { done } = await webhooks.sync({ ...wish, baseUrl: "http://127.0.0.1:9" });
    expect(done).toMatchObject([{ action: "re-enable", endpoint: "retrain" }]);
    expect((await scene.webhooks()).map(({ disabled }) => disabled)).toEqual([false, false]);
  });

  test("are brought in step one call after the other", async () => {
    const scene = await openScene();
    const webhooks = await open(scene);
    const urls = [9001, 9002, 9003].map((port) => `http://127.0.0.1:${port}`);
    await Promise.all(urls.map((url) => webhooks.sync({ ...wish, baseUrl: url })));
    expect((await scene.webhooks()).map(({ url }) => url)).toEqual([
      "http://127.0.0.1:9003/webhooks/retrain",
      "http://127.0.0.1:9003/webhooks/other",
    ]);
    const [, closed] = await Promise.all([webhooks.sync(wish), webhooks.close(), webhooks.close()]);
    expect(closed).toBeUndefined();
    expect(await scene.webhooks()).toEqual([]);
  });

  test("are made no more once it is closed", async () => {
    const scene = await openScene();
    const webhooks = await open(scene);
    await webhooks.close();
    await expect(webhooks.sync(wish)).rejects.toMatchObject({ code: "CLOSING" });
  });

  test("leave those of the user alone, also the registered ones and also at the end", async () => {
    const scene = await openScene();
    const byHand = await scene.create({ url: urlOf("other"), secret: "theirs" });
    await scene.register(serverOf({ kept: { watch: "org:acme" } }));
    const before = await scene.webhooks();
    const webhooks = await open(scene);
    const { done, left } = await webhooks.sync(wish);
    expect(done).toMatchObject([{ action: "create", endpoint: "retrain" }]);
    expect(left).toMatchObject([
      {
        reason: "not-ours",
        endpoint: "other",
        id: byHand.id,
        message: expect.stringContaining("the secret that the server asks"),
      },
    ]);
    await webhooks.close();
    await cleanUp(scene, { force: true });
    expect(await scene.webhooks()).toEqual(before);
    expect((await scene.register(serverOf({ kept: { watch: "org:acme" } }))).steps).toEqual([]);
  });

  test("are not those of another session, and no registration takes them for its own", async () => {
    const scene = await openScene();
    const [one, two] = [await open(scene, "one"), await open(scene, "two")];
    await one.sync({ ...wish, endpoints: [retrain] });
    expect((await two.sync({ ...wish, endpoints: [retrain] })).done).toMatchObject([{ action: "create" }]);
    const registered = await scene.register(serverOf({ retrain: { watch: "dataset:me/data" } }), { adopt: true });
    expect(registered.done).toMatchObject([{ action: "create" }]);
    await one.close();
    expect(await scene.webhooks()).toHaveLength(2);
    await two.close();
    expect(await scene.webhooks()).toHaveLength(1);
  });

  test("that cannot be deleted are told, stay noted, and are deleted at the next start", async () => {
    const scene = await openScene();
    const log = createMemoryLogger();
    const webhooks = await TemporaryWebhooks.open({ hub: scene.client, state: scene.state, session, log });
    await webhooks.sync(wish);
    const ids = (await scene.webhooks()).map(({ id }) => id);
    scene.onTheWay = async (request, send) =>
      request.url.endsWith(ids[0] ?? "") ? Response.json({ error: "Busy." }, { status: 503 }) : send(request);
    const error = await webhooks.close().catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "HUB_FAILED", retryable: true });
    expect(error.message).toContain(ids[0]);
    expect(error.message).not.toContain(ids[1]);
    expect(error.message).toContain("hub-webhooks sync --clean");
    expect((await scene.webhooks()).map(({ id }) => id)).toEqual([ids[0]]);
    scene.onTheWay = (request, send) => send(request);
    expect(await cleanUp(scene)).toEqual([{ id: ids[0], endpoint: "retrain", url: urlOf("retrain") }]);
    expect(await scene.webhooks()).toEqual([]);
    expect(log.lines.map(({ msg }) => msg)).toEqual(["create", "create", "delete"]);
  });

  test.each([
    ["another machine", { url: "http://bot.example/alive", answer: "it lives" }],
    ["no address", { url: "alive", answer: "it lives" }],
    ["nothing to recognise it by", { url: alive.url, answer: "" }],
  ])("are not made for a session that names %s to ask whether it lives", async (_what, unusable) => {
    const scene = await openScene();
    const opening = TemporaryWebhooks.open({
      hub: scene.client,
      state: scene.state,
      session: { id: "a", alive: unusable },
    });
    await expect(opening).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("What a session leaves behind", () => {
  test.each(["noted", "created"])(
    "is gone at the next start when it is killed right after its webhook is %s",
    async (die) => {
      const scene = await openScene();
      const { ended } = startSession(scene, { DIE: die });
      expect(await ended).toEqual([null, "SIGKILL"]);
      expect(JSON.parse(scene.stateText()).hubs[scene.hub.url]).toMatchObject({ webhooks: [], pending: [{}] });
      const made = await scene.webhooks();
      expect(made).toHaveLength(die === "created" ? 1 : 0);
      expect((await cleanUp(scene)).map(({ id }) => id)).toEqual(made.map(({ id }) => id));
      expect(await scene.webhooks()).toEqual([]);
      expect(scene.stateText()).not.toContain(secret);
    },
  );

  test("is found later too, when the Hub had not made it yet at the first look", async () => {
    const scene = await openScene();
    await startSession(scene, { DIE: "noted" }).ended;
    expect(await cleanUp(scene)).toEqual([]);
    // The request arrives only now.
    const { id } = await scene.create({ url: urlOf("retrain"), watched: [{ type: "dataset", name: "me/data" }] });
    expect(await cleanUp(scene)).toMatchObject([{ id }]);
    expect(await scene.webhooks()).toEqual([]);
  });

  test("is forgotten where the Hub has never made it", async () => {
    const scene = await openScene();
    await startSession(scene, { DIE: "noted" }).ended;
    const yearsAgo = scene.stateText().replace(/"notedAt": "[^"]*"/, '"notedAt": "2020-01-01T00:00:00Z"');
    writeFileSync(scene.state, yearsAgo);
    expect(await cleanUp(scene)).toEqual([]);
    expect(JSON.parse(scene.stateText()).hubs).toEqual({});
  });

  test("is gone at the next start when it is killed while it runs", async () => {
    const scene = await openScene();
    const { child, ended, said } = startSession(scene, { ALIVE: await serveAlive("it lives") });
    await said;
    expect(await cleanUp(scene)).toEqual([]);
    expect(await scene.webhooks()).toHaveLength(1);
    child.kill("SIGKILL");
    await ended;
    // Somebody still answers in its place, as it would: a forced clean-up does not ask.
    expect(await cleanUp(scene, { force: true, dryRun: true })).toMatchObject([{ endpoint: "retrain" }]);
    expect(await scene.webhooks()).toHaveLength(1);
    expect(await cleanUp(scene, { force: true })).toMatchObject([{ endpoint: "retrain" }]);
    expect(await scene.webhooks()).toEqual([]);
  });

  test.each([
    ["nobody answers", () => alive.url],
    ["somebody else answers there now", () => serveAlive("hello")],
    ["somebody answers with more than that", () => serveAlive("it lives and lives")],
    ["the answer is an error", () => serveAlive("it lives", 404)],
  ])("is deleted where %s", async (_what, address) => {
    const scene = await openScene();
    const url = await address();
    const of = { id: "former", alive: { url, answer: "it lives" } };
    await (await TemporaryWebhooks.open({ hub: scene.client, state: scene.state, session: of })).sync(wish);
    expect(await cleanUp(scene)).toHaveLength(2);
    expect(await scene.webhooks()).toEqual([]);
  });

  test("is deleted where nobody answers within five seconds", async () => {
    const scene = await openScene();
    const url = await listenWith(() => {});
    const of = { id: "former", alive: { url, answer: "it lives" } };
    await (await TemporaryWebhooks.open({ hub: scene.client, state: scene.state, session: of })).sync(wish);
    const deadlines: number[] = [];
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      deadlines.push(milliseconds);
      return timeout(1);
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await cleanUp(scene)).toHaveLength(2);
    expect(deadlines).toEqual([5_000]);
  });

  test("is deleted at once where the answer is longer than expected and does not end", async () => {
    const scene = await openScene();
    const url = await listenWith((_request, response) => void response.write("it lives and lives"));
    const of = { id: "former", alive: { url, answer: "it lives" } };
    await (await TemporaryWebhooks.open({ hub: scene.client, state: scene.state, session: of })).sync(wish);
    const deadlines: AbortSignal[] = [];
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      const deadline = timeout(milliseconds);
      deadlines.push(deadline);
      return deadline;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await cleanUp(scene)).toHaveLength(2);
    expect(deadlines).toMatchObject([{ aborted: false }]);
  });

  test("stays noted when the Hub does not list its webhooks, which is reported", async () => {
    const scene = await openScene();
    await notePending(scene);
    scene.onTheWay = async () => Response.json({ error: "Busy." }, { status: 503 });
    const failures: FailedRemoval[] = [];
    expect(await cleanUp(scene, { onFailed: (failure) => failures.push(failure) })).toEqual([]);
    expect(failures).toMatchObject([{ error: { code: "HUB_FAILED" } }]);
    expect(JSON.parse(scene.stateText()).hubs[scene.hub.url].pending).toHaveLength(1);
  });

  test.each(["GET", "DELETE"])("stays when the signal aborts during a %s", async (method) => {
    const scene = await openScene();
    await (await open(scene)).sync({ ...wish, endpoints: [retrain] });
    if (method === "GET") await notePending(scene);
    const controller = new AbortController();
    const reason = new Error("enough");
    scene.onTheWay = (request, send) => {
      if (request.method !== method) return send(request);
      controller.abort(reason);
      return new Promise(() => {});
    };
    await expect(cleanUp(scene, { signal: controller.signal })).rejects.toBe(reason);
    expect(await scene.webhooks()).toHaveLength(1);
    expect(JSON.parse(scene.stateText()).hubs[scene.hub.url].webhooks).toHaveLength(1);
    await expect(cleanUp(scene, { dryRun: true, signal: controller.signal })).rejects.toBe(reason);
  });

  test("is no reason to speak to the Hub where there is nothing", async () => {
    const scene = await openScene();
    expect(await cleanUp(scene)).toEqual([]);
    expect(scene.calls).toEqual([]);
  });

  test("on another Hub stays noted", async () => {
    const [scene, elsewhere] = [await openScene(), await openScene()];
    await (await open(scene)).sync(wish);
    expect(await cleanUpTemporary({ hub: elsewhere.client, state: scene.state })).toEqual([]);
    expect(await cleanUp(scene)).toHaveLength(2);
  });

  test("is forgotten where it is gone on the Hub already", async () => {
    const scene = await openScene();
    await (await open(scene)).sync(wish);
    scene.hub.reset();
    expect(await cleanUp(scene)).toHaveLength(2);
    expect(JSON.parse(scene.stateText()).hubs).toEqual({});
  });
});
