import { existsSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubClient } from "../../src/client.ts";
import { register } from "../../src/registration/register.ts";
import { holdsSecret } from "../faults/leak.ts";
import { baseUrl, openScene, secret, serverOf, urlOf } from "./test-hub.ts";

const retrain = { watch: "dataset:me/data", scope: "repo.content" } as const;
const dataset = { type: "dataset", name: "me/data" };

function refusal(status: number): Response {
  return Response.json({ error: "It cannot be done." }, { status });
}

describe("Registering a server", () => {
  test("makes what is missing: each endpoint that says what to watch gets its webhook", async () => {
    const scene = await openScene();
    const server = serverOf({ retrain, all: { watch: ["org:acme", "user:me"], domains: ["discussion"] } });
    const report = await scene.register(server);
    const webhooks = await scene.webhooks();
    expect(webhooks).toMatchObject([
      { url: urlOf("retrain"), watched: [dataset], domains: ["repo"], secret, disabled: false },
      {
        url: urlOf("all"),
        watched: [
          { type: "org", name: "acme" },
          { type: "user", name: "me" },
        ],
        domains: ["discussion"],
        secret,
      },
    ]);
    expect(report).toMatchObject({ hub: scene.hub.url, baseUrl, failed: [], left: [], unchanged: [] });
    expect(report.done.map(({ action, endpoint, id }) => ({ action, endpoint, id }))).toEqual([
      { action: "create", endpoint: "retrain", id: webhooks[0]?.id },
      { action: "create", endpoint: "all", id: webhooks[1]?.id },
    ]);
  });

  test("makes webhooks that the server accepts", async () => {
    const scene = await openScene();
    const server = serverOf({ retrain });
    await using _closed = server;
    const { port } = await server.launch({ port: 0, handleSignals: false });
    await scene.register(server, { baseUrl: `http://127.0.0.1:${port}` });
    expect(await scene.hub.push({ type: "dataset", name: "me/data" })).toMatchObject([{ status: 200 }]);
  });

  test("does nothing the second time, and writes nothing on the Hub", async () => {
    const scene = await openScene();
    const server = serverOf({ retrain, all: { watch: ["org:acme", "user:me"] } });
    await scene.register(server);
    const before = scene.writes.length;
    const { steps, done, unchanged } = await scene.register(server);
    expect({ steps, done }).toEqual({ steps: [], done: [] });
    expect(unchanged.map(({ endpoint }) => endpoint)).toEqual(["retrain", "all"]);
    expect(scene.writes.slice(before)).toEqual([]);
  });

  test("compares what is watched, and the domains, as sets", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ all: { watch: ["org:acme", "user:me"], domains: ["repo", "discussion"] } }));
    const [made] = await scene.webhooks();
    await scene.client.webhooks.update(made?.id ?? "", { domains: ["discussion", "repo"], secret });
    const { steps } = await scene.register(serverOf({ all: { watch: ["user:me", "org:acme", "user:me"] } }));
    expect(steps).toEqual([]);
  });

  test("updates what differs, and tells each field before and after", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const [before] = await scene.webhooks();
    const server = serverOf({ retrain: { watch: ["model:me/net", "dataset:me/data"] } }, { secret: "another" });
    const { done } = await scene.register(server, { baseUrl: "http://127.0.0.1:9000/bot/" });
    expect(done).toEqual([
      {
        ...{ action: "update", endpoint: "retrain", id: before?.id, isAdopted: false },
        changes: [
          { field: "url", before: urlOf("retrain"), after: "http://127.0.0.1:9000/bot/webhooks/retrain" },
          { field: "watched", before: "dataset:me/data", after: "dataset:me/data, model:me/net" },
          { field: "domains", before: "repo", after: "discussion, repo" },
          { field: "secret", change: "changed" },
        ],
      },
    ]);
    expect(await scene.webhooks()).toMatchObject([
      {
        ...{ id: before?.id, url: "http://127.0.0.1:9000/bot/webhooks/retrain", domains: ["repo", "discussion"] },
        secret: "another",
      },
    ]);
    expect((await scene.register(server, { baseUrl: "http://127.0.0.1:9000/bot" })).steps).toEqual([]);
  });

  test("enables what is disabled", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const [{ id } = { id: "" }] = await scene.webhooks();
    await scene.client.webhooks.disable(id);
    const { done } = await scene.register(serverOf({ retrain }));
    expect(done).toEqual([{ action: "enable", endpoint: "retrain", id, why: "it was disabled" }]);
    expect(await scene.webhooks()).toMatchObject([{ id, disabled: false, secret }]);
  });

  test("enables again what was suspended, says why, and where to look", async () => {
    const scene = await openScene({ suspendAfter: 1 });
    // Nobody listens at the discard port.
    await scene.register(serverOf({ retrain }), { baseUrl: "http://127.0.0.1:9" });
    await scene.hub.push({ type: "dataset", name: "me/data" });
    const [{ id, disabled } = { id: "" }] = await scene.webhooks();
    expect(disabled).toBe("suspended-after-failure");
    const { done } = await scene.register(serverOf({ retrain }));
    expect(done).toMatchObject([
      { action: "update", id },
      {
        ...{ action: "re-enable", endpoint: "retrain", id },
        why: expect.stringContaining("probably since they went to http://127.0.0.1:9/webhooks/retrain"),
        remedy: expect.stringContaining('endpoint "retrain" answers with 2xx'),
      },
    ]);
    expect(await scene.webhooks()).toMatchObject([{ id, disabled: false, url: urlOf("retrain") }]);
  });

  test("makes anew what is gone on the Hub", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const [before] = await scene.webhooks();
    await scene.client.webhooks.delete(before?.id ?? "");
    const { done } = await scene.register(serverOf({ retrain }));
    expect(done).toMatchObject([{ action: "create", endpoint: "retrain" }]);
    const [after] = await scene.webhooks();
    expect(after?.id).not.toBe(before?.id);
    expect((await scene.register(serverOf({ retrain }))).steps).toEqual([]);
  });

  test("says which endpoint does not say what to watch, and makes nothing for it", async () => {
    const scene = await openScene();
    const { left, steps } = await scene.register(serverOf({ quiet: {} }));
    expect(steps).toEqual([]);
    expect(left).toMatchObject([
      { reason: "not-watching", endpoint: "quiet", message: expect.stringContaining("{ watch:") },
    ]);
    expect(await scene.webhooks()).toEqual([]);
  });

  test("leaves alone what is not ours", async () => {
    const scene = await openScene();
    const other = await scene.create({ url: "http://127.0.0.1:7860/elsewhere", secret: "theirs" });
    await scene.register(serverOf({ retrain }), { prune: true, adopt: true });
    expect((await scene.webhooks())[0]).toEqual(other);
    expect(scene.writes).toEqual(["POST …"]);
  });
});

describe("A dry run", () => {
  test("tells the steps, does none of them, and makes no file", async () => {
    const scene = await openScene();
    const { steps, done } = await scene.register(serverOf({ retrain }), { dryRun: true });
    expect(steps).toEqual([
      {
        ...{ action: "create", endpoint: "retrain", url: urlOf("retrain") },
        ...{ watched: [dataset], domains: ["repo"], secretIsSet: true },
      },
    ]);
    expect(done).toEqual([]);
    expect(scene.writes).toEqual([]);
    expect(existsSync(scene.state)).toBe(false);
  });

  test("changes nothing of what is there", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const [webhooks, state] = [await scene.webhooks(), scene.stateText()];
    const { steps } = await scene.register(serverOf({}), { dryRun: true, prune: true });
    expect(steps).toMatchObject([{ action: "delete" }]);
    expect([await scene.webhooks(), scene.stateText()]).toEqual([webhooks, state]);
  });
});

describe("A webhook of ours whose endpoint is gone", () => {
  test("is told and left, unless pruning is asked for", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain, former: { watch: "org:acme" } }));
    const [, { id } = { id: "" }] = await scene.webhooks();
    const left = await scene.register(serverOf({ retrain }));
    expect(left.steps).toEqual([]);
    expect(left.left).toMatchObject([
      { reason: "endpoint-gone", endpoint: "former", id, message: expect.stringContaining("--prune") },
    ]);
    const pruned = await scene.register(serverOf({ retrain }), { prune: true });
    expect(pruned.done).toEqual([{ action: "delete", endpoint: "former", id, why: "the endpoint is gone" }]);
    expect((await scene.webhooks()).map(({ url }) => url)).toEqual([urlOf("retrain")]);
    expect(await scene.register(serverOf({ retrain }))).toMatchObject({ steps: [], left: [] });
  });

  test("is told too where the endpoint only says no longer what to watch", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const { left } = await scene.register(serverOf({ retrain: {} }));
    expect(left.map(({ reason }) => reason)).toEqual(["not-watching", "endpoint-gone"]);
    expect(left[1]?.message).toContain("no longer says what to watch");
  });
});

describe("A webhook that is not ours and delivers to an endpoint", () => {
  test("is told, not touched, and no second one is made beside it", async () => {
    const scene = await openScene();
    const theirs = await scene.create({ url: urlOf("retrain"), secret: "theirs" });
    const { steps, left } = await scene.register(serverOf({ retrain }));
    expect(steps).toEqual([]);
    expect(left).toMatchObject([
      { reason: "not-ours", endpoint: "retrain", id: theirs.id, message: expect.stringContaining("--adopt") },
    ]);
    expect(await scene.webhooks()).toEqual([theirs]);
  });

  test("is taken over when that is asked for, and ours from then on", async () => {
    const scene = await openScene();
    const { id } = await scene.create({ url: urlOf("retrain"), secret: "theirs" });
    const { done } = await scene.register(serverOf({ retrain }), { adopt: true });
    expect(done).toMatchObject([
      { action: "update", id, isAdopted: true, changes: [{ field: "watched" }, { field: "secret" }] },
    ]);
    expect(await scene.webhooks()).toMatchObject([{ id, watched: [dataset], secret }]);
    expect((await scene.register(serverOf({ retrain }))).steps).toEqual([]);
  });

  test("is told as well where the endpoint has one of ours already", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const { id } = await scene.create({ url: urlOf("retrain") });
    const { steps, left } = await scene.register(serverOf({ retrain }), { adopt: true, prune: true });
    expect(steps).toEqual([]);
    expect(left).toMatchObject([{ reason: "not-ours", id, message: expect.stringContaining("may come twice") }]);
  });
});

describe("The secret", () => {
  test("is taken from the server, the first of several, and rotated when that changes", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }, { secret: "old" }));
    const { done } = await scene.register(serverOf({ retrain }, { secret: [secret, "old"] }));
    expect(done).toMatchObject([{ action: "update", changes: [{ field: "secret", change: "changed" }] }]);
    expect(await scene.webhooks()).toMatchObject([{ secret }]);
  });

  test("may be given, in place of that of the server", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }), { secret: "given" });
    expect(await scene.webhooks()).toMatchObject([{ secret: "given" }]);
  });

  test("is kept where the server has none any more, also through an update", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const kept = await scene.register(serverOf({ retrain }, { secret: false }));
    expect(kept).toMatchObject({ steps: [], failed: [], left: [{ reason: "secret-kept" }] });
    const updated = await scene.register(serverOf({ retrain: { watch: "model:me/net" } }, { secret: false }));
    expect(updated.done).toMatchObject([{ changes: [{ field: "watched" }, { field: "domains" }] }]);
    expect(await scene.webhooks()).toMatchObject([{ secret, watched: [{ type: "model" }] }]);
    expect((await scene.register(serverOf({ retrain: { watch: "model:me/net" } }))).steps).toEqual([]);
  });

  test("is not removed while one is given", async () => {
    const scene = await openScene();
    const error = await scene.register(serverOf({ retrain }), { removeSecret: true }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    expect(scene.calls).toEqual([]);
  });

  test("is removed on request, and set where the server has one now", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const removed = await scene.register(serverOf({ retrain }, { secret: false }), { removeSecret: true });
    expect(removed.done).toMatchObject([{ changes: [{ field: "secret", change: "removed" }] }]);
    expect(await scene.webhooks()).not.toMatchObject([{ secret: expect.anything() }]);
    expect((await scene.register(serverOf({ retrain }, { secret: false }))).steps).toEqual([]);
    const set = await scene.register(serverOf({ retrain }));
    expect(set.done).toMatchObject([{ changes: [{ field: "secret", change: "set" }] }]);
  });

  test.each<[string, (webhook: Record<string, unknown>) => object]>([
    ["leaves it out", ({ secret: _secret, ...rest }) => rest],
    ["says only that there is one", ({ secret: _secret, ...rest }) => ({ ...rest, hasSecret: true })],
    ["masks it", (webhook) => ({ ...webhook, secret: "********" })],
  ])("of a Hub that %s is recognised by its hash, and given anew with each update", async (_how, hide) => {
    const scene = await openScene();
    scene.onTheWay = async (request, send) => {
      const answer = await send(request);
      const body: unknown = await answer.json();
      if (Array.isArray(body)) return Response.json(body.map(hide));
      return Response.json({ webhook: hide(Object(body).webhook) });
    };
    await scene.register(serverOf({ retrain }));
    expect((await scene.register(serverOf({ retrain }))).steps).toEqual([]);
    await scene.register(serverOf({ retrain: { watch: "model:me/net" } }));
    expect(await scene.webhooks()).toMatchObject([{ secret, watched: [{ type: "model" }] }]);
    const rotated = await scene.register(serverOf({ retrain: { watch: "model:me/net" } }, { secret: "next" }));
    expect(rotated.done).toMatchObject([{ changes: [{ field: "secret", change: "changed" }] }]);
    expect(await scene.webhooks()).toMatchObject([{ secret: "next" }]);
    const kept = await scene.register(serverOf({ retrain }, { secret: false }));
    expect(kept).toMatchObject({ done: [], failed: [{ error: { code: "VALUE_UNREADABLE", fields: ["secret"] } }] });
    expect(await scene.webhooks()).toMatchObject([{ secret: "next", watched: [{ type: "model" }] }]);
  });

  test("that somebody has changed on the Hub is written again, where the Hub shows it", async () => {
    const scene = await openScene();
    await scene.register(serverOf({ retrain }));
    const [{ id } = { id: "" }] = await scene.webhooks();
    await scene.client.webhooks.update(id, { secret: "by hand" });
    const { done } = await scene.register(serverOf({ retrain }));
    expect(done).toMatchObject([{ action: "update", changes: [{ field: "secret", change: "changed" }] }]);
  });

  test.each([" with a space before", "with a line\nend", "gr\u00fc\u00dfe", ""])(
    "is refused where HTTP cannot carry it: %j",
    async (unusable) => {
      const scene = await openScene();
      const error = await scene.register(serverOf({ retrain }), { secret: unusable }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "OPTION_INVALID" });
      if (unusable !== "") expect(error.message).not.toContain(unusable);
      expect(scene.calls).toEqual([]);
    },
  );

  test("stands in no report, no error and no state file", async () => {
    const scene = await openScene();
    scene.onTheWay = (request, send) => (request.method === "POST" ? Promise.resolve(refusal(403)) : send(request));
    const failed = await scene.register(serverOf({ retrain }));
    scene.onTheWay = (request, send) => send(request);
    const made = await scene.register(serverOf({ retrain }));
    const rotated = await scene.register(serverOf({ retrain }, { secret: `${secret}-2` }));
    const told = [failed, made, rotated, scene.stateText()];
    expect(holdsSecret([told, inspect(told, { depth: 9 })], secret)).toBe(false);
    expect(scene.stateText()).not.toContain("hf_local");
  });
});

describe("A Hub", () => {
  test("that writes a URL with a slash at its end, or its host in capitals, means the same", async () => {
    const scene = await openScene();
    const { id } = await scene.create({ url: `${urlOf("retrain").replace("http:", "HTTP:")}/` });
    const { left } = await scene.register(serverOf({ retrain }));
    expect(left).toMatchObject([{ reason: "not-ours", id }]);
  });

  test("that puts a URL or a name in words of its own makes no difference for ever", async () => {
    const scene = await openScene();
    scene.onTheWay = async (request, send) => {
      const answer = await send(request);
      const text = (await answer.text())
        .replaceAll(`${urlOf("retrain")}"`, `${urlOf("retrain").replace("127.0.0.1", "localhost")}"`)
        .replaceAll("me/data", "Me/Data")
        .replaceAll('["repo"]', '["repo","security"]');
      return new Response(text, answer);
    };
    await scene.register(serverOf({ retrain }));
    expect((await scene.register(serverOf({ retrain }))).steps).toEqual([]);
    // What is wished for differently is written all the same.
    const { done } = await scene.register(serverOf({ retrain: { watch: "dataset:me/other" } }));
    expect(done).toMatchObject([{ action: "update" }]);
    expect(await scene.webhooks()).toMatchObject([{ watched: [{ name: "me/other" }] }]);
  });

  test("that fails for one webhook does not keep the others from being made", async () => {
    const scene = await openScene();
    scene.onTheWay = async (request, send) =>
      (await request.clone().text()).includes("webhooks/second") ? refusal(500) : send(request);
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" }, third: { watch: "org:c" } });
    const { done, failed } = await scene.register(server);
    expect(done.map(({ endpoint }) => endpoint)).toEqual(["first", "third"]);
    expect(failed).toMatchObject([{ step: { endpoint: "second" }, error: { code: "HUB_FAILED", status: 500 } }]);
    scene.onTheWay = (request, send) => send(request);
    expect((await scene.register(server)).done).toMatchObject([{ action: "create", endpoint: "second" }]);
    expect(await scene.webhooks()).toHaveLength(3);
  });

  test("that does not let a suspended webhook be mended does not see it enabled either", async () => {
    const scene = await openScene({ suspendAfter: 1 });
    await scene.register(serverOf({ retrain }), { baseUrl: "http://127.0.0.1:9" });
    await scene.hub.push({ type: "dataset", name: "me/data" });
    scene.onTheWay = async (request, send) => (request.method === "POST" ? refusal(503) : send(request));
    const { steps, done, failed } = await scene.register(serverOf({ retrain }));
    expect(steps.map(({ action }) => action)).toEqual(["update", "re-enable"]);
    expect({ done, failed }).toMatchObject({ done: [], failed: [{ step: { action: "update" } }] });
    expect(scene.calls.at(-1)).not.toContain("enable");
  });

  test.each([
    {
      how: "was lost",
      code: "HUB_UNREACHABLE",
      answerInstead: () => {
        throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
      },
    },
    { how: "was the error of a proxy", code: "HUB_FAILED", answerInstead: () => refusal(502) },
  ])("that has made a webhook and whose answer $how does not make a second one", async ({ code, answerInstead }) => {
    const scene = await openScene();
    scene.onTheWay = async (request, send) => {
      const answer = await send(request);
      return request.method === "GET" ? answer : answerInstead();
    };
    const lost = await scene.register(serverOf({ retrain }));
    expect(lost.failed).toMatchObject([{ error: { code } }]);
    scene.onTheWay = (request, send) => send(request);
    const { steps, unchanged } = await scene.register(serverOf({ retrain }));
    expect(steps).toEqual([]);
    expect(unchanged).toMatchObject([{ endpoint: "retrain" }]);
    expect(await scene.webhooks()).toHaveLength(1);
  });

  test("that has refused to make a webhook leaves nothing of it behind: one made by hand is not ours", async () => {
    const scene = await openScene();
    scene.onTheWay = (request, send) => (request.method === "POST" ? Promise.resolve(refusal(403)) : send(request));
    expect((await scene.register(serverOf({ retrain }))).failed).toMatchObject([{ error: { code: "HUB_FORBIDDEN" } }]);
    scene.onTheWay = (request, send) => send(request);
    await scene.create({ url: urlOf("retrain"), watched: [{ type: "dataset", name: "me/data" }] });
    const { steps, left } = await scene.register(serverOf({ retrain }));
    expect({ steps, left }).toMatchObject({ steps: [], left: [{ reason: "not-ours" }] });
  });

  test("that cannot be asked at all is told as it is", async () => {
    const scene = await openScene();
    scene.onTheWay = () => Promise.resolve(refusal(401));
    await expect(scene.register(serverOf({ retrain }))).rejects.toMatchObject({ code: "HUB_UNAUTHORIZED" });
  });

  test("of another address has webhooks of its own in the same file", async () => {
    const [scene, other] = [await openScene(), await openScene()];
    await scene.register(serverOf({ retrain }));
    await other.register(serverOf({ retrain }), { state: scene.state });
    expect([await scene.webhooks(), await other.webhooks()]).toMatchObject([[{}], [{}]]);
    expect((await scene.register(serverOf({ retrain }))).steps).toEqual([]);
    expect(Object.keys(JSON.parse(scene.stateText()).hubs)).toEqual([scene.hub.url, other.hub.url]);
  });
});

describe("Who registers", () => {
  test.each([
    ["no address", "me-bot.hf.space"],
    ["another protocol", "ftp://me-bot.hf.space"],
    ["a query", "https://me-bot.hf.space/?secret=x"],
    ["a fragment", "https://me-bot.hf.space/#top"],
    ["a password", "https://me:horse@me-bot.hf.space"],
  ])("may not give %s for the public address", async (_what, address) => {
    const scene = await openScene();
    const error = await scene.register(serverOf({ retrain }), { baseUrl: address }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "OPTION_INVALID", message: expect.stringContaining("--base-url") });
    expect(error.message).not.toContain("horse");
  });

  test("may not give an address that the Hub cannot reach", async () => {
    const hub = new HubClient({ endpoint: "https://huggingface.co", token: "hf_local" });
    await expect(register(serverOf({ retrain }), hub, { baseUrl })).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining("hub-webhooks dev"),
    });
  });

  test("may end it between two steps, and what was done is known", async () => {
    const scene = await openScene();
    const controller = new AbortController();
    scene.onTheWay = async (request, send) => {
      const answer = await send(request);
      if (request.method === "POST") setImmediate(() => controller.abort(new Error("enough")));
      return answer;
    };
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" } });
    await expect(scene.register(server, { signal: controller.signal })).rejects.toThrow("enough");
    scene.onTheWay = (request, send) => send(request);
    expect((await scene.register(server)).steps.length).toBeGreaterThanOrEqual(1);
    expect((await scene.webhooks()).map(({ url }) => url)).toEqual([urlOf("first"), urlOf("second")]);
  });

  test("notes nothing of a step that does not begin any more", async () => {
    const scene = await openScene();
    const controller = new AbortController();
    const reason = new Error("enough");
    const { create } = scene.client.webhooks;
    const made = vi.spyOn(scene.client.webhooks, "create").mockImplementation(async (request) => {
      const webhook = await create.call(scene.client.webhooks, request);
      controller.abort(reason);
      return webhook;
    });
    onTestFinished(() => void made.mockRestore());
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" } });
    await expect(scene.register(server, { signal: controller.signal })).rejects.toBe(reason);
    expect(JSON.parse(scene.stateText()).hubs[scene.hub.url]).toMatchObject({
      webhooks: [{ endpoint: "first" }],
      pending: [],
    });
  });

  test.each(["create", "update", "enable", "delete"])("may end it in the middle of a call: %s", async (action) => {
    const scene = await openScene();
    const server = serverOf({ retrain });
    if (action !== "create") await scene.register(server);
    if (action === "delete") await scene.register(serverOf({ retrain, other: { watch: "org:b" } }));
    if (action === "enable") for (const { id } of await scene.webhooks()) await scene.client.webhooks.disable(id);
    const controller = new AbortController();
    const reason = new Error("enough");
    scene.onTheWay = (request, send) => {
      if (request.method === "GET") return send(request);
      controller.abort(reason);
      return new Promise(() => {});
    };
    const changes = action === "update" ? { secret: "another one" } : {};
    const registering = scene.register(server, { ...changes, prune: true, signal: controller.signal });
    await expect(registering).rejects.toBe(reason);
  });

  test("may do so twice at the same time: each webhook is made once", async () => {
    const scene = await openScene();
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" } });
    const reports = await Promise.all([scene.register(server), scene.register(server), scene.register(server)]);
    expect(reports.flatMap(({ done }) => done)).toHaveLength(2);
    expect(await scene.webhooks()).toHaveLength(2);
  });

  test("gives a server, and nothing else", async () => {
    const scene = await openScene();
    await expect(register(Object({}), scene.client, { baseUrl })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
