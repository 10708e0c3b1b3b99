import { rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { dirname } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { LocalHubOptions } from "../../src/local-hub.ts";
import { RegistrationFile } from "../../src/registration/state.ts";
import type { FailedDeletion } from "../../src/registration/temporary.ts";
import { deleteStaleWebhooks, TemporaryWebhooks } from "../../src/registration/temporary.ts";
import { listen } from "../support/listen.ts";
import { openTestHub, publicUrl, secret, serverOf, type TestHub, urlOf } from "./test-hub.ts";

const alive = { url: "http://127.0.0.1:9/alive", answer: "it lives" };
const longAnswer = "it lives and lives";
const session = { id: "this-session", alive };
const retrain = { name: "retrain", watch: [{ type: "dataset", name: "me/data" }], domains: ["repo"] } as const;
const other = { name: "other", watch: [{ type: "org", name: "acme" }], domains: ["repo"] } as const;
/** Without a secret, whose hash takes 50 ms. */
const target = { endpoints: [retrain, other], publicUrl, secret: null };

function open(testHub: TestHub, id = session.id): Promise<TemporaryWebhooks> {
  return TemporaryWebhooks.open({ client: testHub.client, state: testHub.state, session: { ...session, id } });
}

async function openSession(options?: LocalHubOptions) {
  const testHub = await openTestHub(options);
  return { testHub, webhooks: await open(testHub) };
}

function cleanUp(testHub: TestHub, options: Partial<Parameters<typeof deleteStaleWebhooks>[0]> = {}) {
  return deleteStaleWebhooks({ client: testHub.client, state: testHub.state, ...options });
}

/** Creates the webhooks of a session that has ended, with this `alive` URL. */
async function leaveBehind({ client, state }: TestHub, url: string): Promise<void> {
  const former = { id: "former", alive: { ...alive, url } };
  await (await TemporaryWebhooks.open({ client, state, session: former })).reconcile(target);
}

/** Serves the `alive` URL of a session until the test ends. */
function serveAlive(answer: string, status = 200): Promise<string> {
  return listenWith((_request, response) => void response.writeHead(status).end(answer));
}

/** Records an interrupted creation by a session that has ended. */
async function recordPending({ hub, state }: TestHub, startedAt = new Date().toISOString()): Promise<void> {
  const written = { url: urlOf("retrain"), watched: [...retrain.watch], domains: [...retrain.domains] };
  const entry = { key: "one", endpoint: "retrain", secret: null, written, existingIds: [], session };
  await new RegistrationFile({ path: state, hubUrl: hub.url }).change(({ pending }) => {
    pending.push({ ...entry, startedAt });
  });
}

async function listenWith(listener: RequestListener): Promise<string> {
  const { url } = await listen(createServer(listener));
  return `${url}/alive`;
}

describe("The webhooks of a session", () => {
  test("are created, updated and deleted with the session", async () => {
    const { testHub, webhooks } = await openSession();
    const created = await webhooks.reconcile({ ...target, secret });
    expect(created.done.map(({ action }) => action)).toEqual(["create", "create"]);
    const moved = { endpoints: [retrain], publicUrl: "http://127.0.0.1:9000", secret };
    const changed = await webhooks.reconcile(moved);
    expect(changed.done).toMatchObject([
      { action: "update", endpoint: "retrain", changes: [{ field: "url" }] },
      { action: "delete", endpoint: "other" },
    ]);
    expect(await testHub.webhooks()).toMatchObject([{ url: "http://127.0.0.1:9000/webhooks/retrain", secret }]);
    expect((await webhooks.reconcile(moved)).steps).toEqual([]);
    await webhooks.close();
    expect(await testHub.webhooks()).toEqual([]);
    expect(JSON.parse(testHub.stateText())).toEqual({ version: 1, hubs: {} });
  });

  test("are updated and deleted although the state file was deleted in between", async () => {
    const { testHub, webhooks } = await openSession();
    await webhooks.reconcile(target);
    const deleteFile = () => rmSync(dirname(testHub.state), { recursive: true });
    deleteFile();
    const moved = await webhooks.reconcile({ ...target, publicUrl: "http://127.0.0.1:9000" });
    expect(moved.done.map(({ action }) => action)).toEqual(["update", "update"]);
    deleteFile();
    await webhooks.close();
    expect(await testHub.webhooks()).toEqual([]);
  });

  test("may have no secret", async () => {
    const { testHub, webhooks } = await openSession();
    await webhooks.reconcile(target);
    expect(await testHub.webhooks()).not.toMatchObject([{ secret: expect.anything() }, {}]);
    expect((await webhooks.reconcile(target)).steps).toEqual([]);
  });

  test("are re-enabled after a suspension", async () => {
    const { testHub, webhooks } = await openSession({ suspendAfter: 1 });
    await webhooks.reconcile({ ...target, publicUrl: "http://127.0.0.1:9" });
    await testHub.hub.push({ type: "dataset", name: "me/data" });
    const { done } = await webhooks.reconcile({ ...target, publicUrl: "http://127.0.0.1:9" });
    expect(done).toMatchObject([{ action: "re-enable", endpoint: "retrain" }]);
    expect((await testHub.webhooks()).map(({ disabled }) => disabled)).toEqual([false, false]);
  });

  test("are reconciled by consecutive calls in order", async () => {
    const { testHub, webhooks } = await openSession();
    const urls = [9001, 9002, 9003].map((port) => `http://127.0.0.1:${port}`);
    await Promise.all(urls.map((url) => webhooks.reconcile({ ...target, publicUrl: url })));
    expect((await testHub.webhooks()).map(({ url }) => url)).toEqual([
      "http://127.0.0.1:9003/webhooks/retrain",
      "http://127.0.0.1:9003/webhooks/other",
    ]);
    const [, closed] = await Promise.all([webhooks.reconcile(target), webhooks.close(), webhooks.close()]);
    expect(closed).toBeUndefined();
    expect(await testHub.webhooks()).toEqual([]);
  });

  test("are reconciled and deleted by calls that wait for a call that fails", async () => {
    const { testHub, webhooks } = await openSession();
    const invalid = { ...target, publicUrl: "not a URL" };
    const [failed, reconciled] = await Promise.allSettled([webhooks.reconcile(invalid), webhooks.reconcile(target)]);
    expect(failed).toMatchObject({ status: "rejected", reason: { code: "OPTION_INVALID" } });
    expect(reconciled).toMatchObject({ status: "fulfilled", value: { done: [{}, {}] } });
    const [failedAgain] = await Promise.allSettled([webhooks.reconcile(invalid), webhooks.close()]);
    expect(failedAgain).toMatchObject({ status: "rejected", reason: { code: "OPTION_INVALID" } });
    await webhooks.close();
    expect(await testHub.webhooks()).toEqual([]);
  });

  test("do not touch the webhooks of the user, registered or not", async () => {
    const testHub = await openTestHub();
    const byHand = await testHub.create({ url: urlOf("other"), secret: "theirs" });
    await testHub.register(serverOf({ kept: { watch: "org:acme" } }));
    const before = await testHub.webhooks();
    const webhooks = await open(testHub);
    const { done, skipped } = await webhooks.reconcile(target);
    expect(done).toMatchObject([{ action: "create", endpoint: "retrain" }]);
    const message = expect.stringContaining("the current secret of the server");
    expect(skipped).toMatchObject([{ reason: "not-managed", endpoint: "other", id: byHand.id, message }]);
    await webhooks.close();
    await cleanUp(testHub);
    expect(await testHub.webhooks()).toEqual(before);
    expect((await testHub.register(serverOf({ kept: { watch: "org:acme" } }))).steps).toEqual([]);
  });

  test("are ignored by other sessions and by registrations", async () => {
    const testHub = await openTestHub();
    const [one, two] = [await open(testHub, "one"), await open(testHub, "two")];
    await one.reconcile({ ...target, endpoints: [retrain] });
    expect((await two.reconcile({ ...target, endpoints: [retrain] })).done).toMatchObject([{ action: "create" }]);
    const registered = await testHub.register(serverOf({ retrain: { watch: "dataset:me/data" } }), { adopt: true });
    expect(registered.done).toMatchObject([{ action: "create" }]);
    await one.close();
    expect(await testHub.webhooks()).toHaveLength(2);
    await two.close();
    expect(await testHub.webhooks()).toHaveLength(1);
  });

  test("that cannot be deleted are reported, stay recorded, and are deleted at the next start", async () => {
    const { testHub, webhooks } = await openSession();
    await webhooks.reconcile(target);
    const ids = (await testHub.webhooks()).map(({ id }) => id);
    testHub.intercept = async (request, send) =>
      request.url.endsWith(ids[0] ?? "") ? Response.json({ error: "Busy." }, { status: 503 }) : send(request);
    const error = await webhooks.close().catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "HUB_FAILED", retryable: true });
    expect(error.message).toContain(ids[0]);
    expect(error.message).not.toContain(ids[1]);
    expect((await testHub.webhooks()).map(({ id }) => id)).toEqual([ids[0]]);
    testHub.intercept = (request, send) => send(request);
    expect(await cleanUp(testHub)).toEqual([{ id: ids[0], endpoint: "retrain", url: urlOf("retrain") }]);
    expect(await testHub.webhooks()).toEqual([]);
  });

  test.each([
    ["another machine", { url: "http://bot.example/alive", answer: "it lives" }],
    ["an invalid URL", { url: "alive", answer: "it lives" }],
    ["no answer", { url: alive.url, answer: "" }],
  ])("are not created for a session whose alive check has %s", async (_what, unusable) => {
    const testHub = await openTestHub();
    const { client, state } = testHub;
    const opening = TemporaryWebhooks.open({ client, state, session: { id: "a", alive: unusable } });
    await expect(opening).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("A webhook that a session left behind", () => {
  test.each(["recorded", "created"])(
    "is deleted at the next start if the session ended right after it was %s",
    async (last) => {
      const testHub = await openTestHub();
      const [controller, reached] = [new AbortController(), Promise.withResolvers<void>()];
      testHub.intercept = async (request, send) => {
        if (request.method !== "POST") return send(request);
        if (last === "created") await send(request);
        reached.resolve();
        return new Promise(() => {});
      };
      const session = await open(testHub);
      const input = { ...target, endpoints: [retrain], secret };
      const ended = session.reconcile({ ...input, signal: controller.signal }).catch(() => {});
      await reached.promise;
      // This is also what a killed process leaves behind.
      const left = testHub.stateText();
      expect(JSON.parse(left).hubs[testHub.hub.url]).toMatchObject({ webhooks: [], pending: [{}] });
      controller.abort();
      await ended;
      testHub.intercept = (request, send) => send(request);
      expect(testHub.stateText()).toBe(left);
      const made = await testHub.webhooks();
      expect(made).toHaveLength(last === "created" ? 1 : 0);
      expect((await cleanUp(testHub)).map(({ id }) => id)).toEqual(made.map(({ id }) => id));
      expect(await testHub.webhooks()).toEqual([]);
      expect(testHub.stateText()).not.toContain(secret);
    },
  );

  test("is found later if the Hub creates it after the first check", async () => {
    const testHub = await openTestHub();
    await recordPending(testHub);
    expect(await cleanUp(testHub)).toEqual([]);
    // The Hub processes the delayed request now.
    const { id } = await testHub.create({ url: urlOf("retrain"), watched: [{ type: "dataset", name: "me/data" }] });
    expect(await cleanUp(testHub)).toMatchObject([{ id }]);
    expect(await testHub.webhooks()).toEqual([]);
  });

  test("is removed from the file if the Hub never created it", async () => {
    const testHub = await openTestHub();
    await recordPending(testHub, "2020-01-01T00:00:00Z");
    expect(await cleanUp(testHub)).toEqual([]);
    expect(JSON.parse(testHub.stateText()).hubs).toEqual({});
  });

  test("is kept while the session is running, and then deleted at the next start", async () => {
    const testHub = await openTestHub();
    let answer = alive.answer;
    await leaveBehind(testHub, await listenWith((_request, response) => void response.end(answer)));
    expect(await cleanUp(testHub)).toEqual([]);
    expect(await testHub.webhooks()).toHaveLength(2);
    answer = "it is gone";
    expect(await cleanUp(testHub, { dryRun: true })).toHaveLength(2);
    expect(await testHub.webhooks()).toHaveLength(2);
    expect(await cleanUp(testHub)).toMatchObject([{ endpoint: "retrain" }, { endpoint: "other" }]);
    expect(await testHub.webhooks()).toEqual([]);
  });

  test.each([
    ["nothing answers", () => alive.url],
    ["the response is longer", () => serveAlive(longAnswer)],
    ["the response is an error", () => serveAlive("it lives", 404)],
  ])("is deleted if %s", async (_what, address) => {
    const testHub = await openTestHub();
    await leaveBehind(testHub, await address());
    expect(await cleanUp(testHub)).toHaveLength(2);
    expect(await testHub.webhooks()).toEqual([]);
  });

  test("is deleted without a request if its URL is on another machine, as in a file of another user", async () => {
    const testHub = await openTestHub();
    const { hub, state } = testHub;
    const alive = { url: "http://bot.example/alive", answer: "it lives" };
    await new RegistrationFile({ path: state, hubUrl: hub.url }).change(({ webhooks }) => {
      webhooks.push({ id: "654bbbc16f2ec14d77f109c1", endpoint: "retrain", session: { id: "former", alive } });
    });
    const requested = vi.spyOn(globalThis, "fetch");
    onTestFinished(() => requested.mockRestore());
    expect(await cleanUp(testHub)).toMatchObject([{ endpoint: "retrain" }]);
    expect(requested.mock.calls.filter(([url]) => String(url) === alive.url)).toEqual([]);
  });

  test.each<[string, RequestListener, waits: boolean]>([
    ["after 5 s without an answer", () => {}, true],
    [
      "immediately if the response is too long and does not end",
      (_, response) => void response.write(longAnswer),
      false,
    ],
  ])("is deleted %s", async (_when, listener, waits) => {
    const testHub = await openTestHub();
    await leaveBehind(testHub, await listenWith(listener));
    const deadlines: [number, AbortSignal][] = [];
    const { timeout } = AbortSignal;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      const deadline = timeout(waits ? 1 : milliseconds);
      deadlines.push([milliseconds, deadline]);
      return deadline;
    });
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await cleanUp(testHub)).toHaveLength(2);
    expect(deadlines).toMatchObject([[5_000, { aborted: waits }]]);
  });

  test("stays recorded if the Hub does not list its webhooks, which is reported", async () => {
    const testHub = await openTestHub();
    await recordPending(testHub);
    testHub.intercept = async () => Response.json({ error: "Busy." }, { status: 503 });
    const failures: FailedDeletion[] = [];
    expect(await cleanUp(testHub, { onFailed: (failure) => failures.push(failure) })).toEqual([]);
    expect(failures).toMatchObject([{ error: { code: "HUB_FAILED" } }]);
    expect(JSON.parse(testHub.stateText()).hubs[testHub.hub.url].pending).toHaveLength(1);
  });

  test.each(["GET", "DELETE"])("stays recorded if the signal aborts during a %s", async (method) => {
    const testHub = await openTestHub();
    await (await open(testHub)).reconcile({ ...target, endpoints: [retrain] });
    if (method === "GET") await recordPending(testHub);
    const controller = new AbortController();
    const reason = new Error("enough");
    testHub.intercept = (request, send) => {
      if (request.method !== method) return send(request);
      controller.abort(reason);
      return new Promise(() => {});
    };
    await expect(cleanUp(testHub, { signal: controller.signal })).rejects.toBe(reason);
    expect(await testHub.webhooks()).toHaveLength(1);
    expect(JSON.parse(testHub.stateText()).hubs[testHub.hub.url].webhooks).toHaveLength(1);
    await expect(cleanUp(testHub, { dryRun: true, signal: controller.signal })).rejects.toBe(reason);
  });

  test("causes no request to the Hub if there is none", async () => {
    const testHub = await openTestHub();
    expect(await cleanUp(testHub)).toEqual([]);
    expect(testHub.calls).toEqual([]);
  });

  test("on another Hub stays recorded", async () => {
    const [testHub, elsewhere] = [await openTestHub(), await openTestHub()];
    await (await open(testHub)).reconcile(target);
    expect(await deleteStaleWebhooks({ client: elsewhere.client, state: testHub.state })).toEqual([]);
    expect(await cleanUp(testHub)).toHaveLength(2);
  });

  test("is removed from the file if it no longer exists on the Hub", async () => {
    const testHub = await openTestHub();
    await (await open(testHub)).reconcile(target);
    testHub.hub.reset();
    expect(await cleanUp(testHub)).toHaveLength(2);
    expect(JSON.parse(testHub.stateText()).hubs).toEqual({});
  });
});
