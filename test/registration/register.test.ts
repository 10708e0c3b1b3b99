import { existsSync } from "node:fs";
import { inspect } from "node:util";
import { EdgeVM } from "@edge-runtime/vm";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HubError } from "../../src/core/errors.ts";
import type { LandingInfo } from "../../src/index.ts";
import { RegistrationFile } from "../../src/registration/state.ts";
import { holdsSecret } from "../support/secrets.ts";
import { bundleForWorker } from "../support/worker-bundle.ts";
import { type Intercept, openTestHub, publicUrl, secret, serverOf, type TestHub, urlOf } from "./test-hub.ts";

const retrain = { watch: "dataset:me/data", scope: "repo.content" } as const;
const dataset = { type: "dataset", name: "me/data" };

function refusal(status: number): Response {
  return Response.json({ error: "It cannot be done." }, { status });
}

/** Changes the webhooks in the answers of the Hub. */
function changeWebhooks(change: (webhook: Record<string, unknown>) => object): Intercept {
  return async (request, send) => {
    const body: unknown = await (await send(request)).json();
    if (Array.isArray(body)) return Response.json(body.map(change));
    return Response.json({ webhook: change(Object(body).webhook) });
  };
}

/** Opens a test Hub on which the endpoint "retrain" is registered. */
async function openRegistered(options: { secret: string | false } = { secret: false }): Promise<TestHub> {
  const testHub = await openTestHub();
  await testHub.register(serverOf({ retrain }, options));
  return testHub;
}

describe("Registering a server", () => {
  test("creates a webhook for each endpoint that declares what to watch", async () => {
    const testHub = await openTestHub();
    const server = serverOf({ retrain, all: { watch: ["org:acme", "user:me"], domains: ["discussion"] } }, { secret });
    const report = await testHub.register(server);
    const webhooks = await testHub.webhooks();
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
    expect(report).toMatchObject({ hubUrl: testHub.hub.url, publicUrl, failed: [], skipped: [], unchanged: [] });
    expect(report.done.map(({ action, endpoint, id }) => ({ action, endpoint, id }))).toEqual([
      { action: "create", endpoint: "retrain", id: webhooks[0]?.id },
      { action: "create", endpoint: "all", id: webhooks[1]?.id },
    ]);
  });

  test("creates webhooks whose deliveries the server accepts", async () => {
    const testHub = await openTestHub();
    const server = serverOf({ retrain });
    await using _closed = server;
    const { port } = await server.launch({ port: 0, handleSignals: false });
    await testHub.register(server, { publicUrl: `http://127.0.0.1:${port}` });
    expect(await testHub.hub.push({ type: "dataset", name: "me/data" })).toMatchObject([{ status: 200 }]);
  });

  test("shows on the landing page which endpoints have a webhook", async () => {
    const testHub = await openTestHub();
    const states: unknown[] = [];
    const landingPage = ({ endpoints }: LandingInfo) => {
      states.push(endpoints.map(({ registration }) => registration));
      return "";
    };
    const server = serverOf({ retrain, unwatched: {} }, { secret: false, landingPage });
    for (const options of [undefined, { dryRun: true }, {}, { dryRun: true }]) {
      if (options) await testHub.register(server, options);
      await server.request("/");
    }
    expect(states).toEqual([
      ["unknown", "unknown"],
      ["missing", "unknown"],
      ["registered", "unknown"],
      ["registered", "unknown"],
    ]);
  });

  test("updates fields that differ, and reports each before and after", { tags: "slow" }, async () => {
    const testHub = await openRegistered({ secret });
    const [before] = await testHub.webhooks();
    const server = serverOf({ retrain: { watch: ["model:me/net", "dataset:me/data"] } }, { secret: "another" });
    const { done } = await testHub.register(server, { publicUrl: "http://127.0.0.1:9000/bot/" });
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
    expect(await testHub.webhooks()).toMatchObject([
      {
        ...{ id: before?.id, url: "http://127.0.0.1:9000/bot/webhooks/retrain", domains: ["repo", "discussion"] },
        secret: "another",
      },
    ]);
    expect((await testHub.register(server, { publicUrl: "http://127.0.0.1:9000/bot" })).steps).toEqual([]);
  });

  test("enables a disabled webhook", async () => {
    const testHub = await openRegistered({ secret });
    const [{ id } = { id: "" }] = await testHub.webhooks();
    await testHub.client.webhooks.disable(id);
    const { done } = await testHub.register(serverOf({ retrain }, { secret }));
    expect(done).toEqual([{ action: "enable", endpoint: "retrain", id, reason: "the webhook was disabled" }]);
    expect(await testHub.webhooks()).toMatchObject([{ id, disabled: false, secret }]);
  });

  test("re-enables a suspended webhook, with the probable cause and what to check", async () => {
    const testHub = await openTestHub({ suspendAfter: 1 });
    // No server listens on the discard port.
    await testHub.register(serverOf({ retrain }), { publicUrl: "http://127.0.0.1:9" });
    await testHub.hub.push({ type: "dataset", name: "me/data" });
    const [{ id, disabled } = { id: "" }] = await testHub.webhooks();
    expect(disabled).toBe("suspended-after-failure");
    const { done } = await testHub.register(serverOf({ retrain }));
    expect(done).toMatchObject([
      { action: "update", id },
      {
        ...{ action: "re-enable", endpoint: "retrain", id },
        reason: expect.stringContaining("the URL was http://127.0.0.1:9/webhooks/retrain"),
        remedy: expect.stringContaining('endpoint "retrain" returns a 2xx'),
      },
    ]);
    expect(await testHub.webhooks()).toMatchObject([{ id, disabled: false, url: urlOf("retrain") }]);
  });

  test("does not touch unrelated webhooks that were created elsewhere", async () => {
    const testHub = await openTestHub();
    const other = await testHub.create({ url: "http://127.0.0.1:7860/elsewhere", secret: "theirs" });
    await testHub.register(serverOf({ retrain }), { prune: true, adopt: true });
    expect((await testHub.webhooks())[0]).toEqual(other);
    expect(testHub.writes).toEqual(["POST …"]);
  });
});

describe("A dry run", () => {
  test("reports the steps without executing them, and creates no file", async () => {
    const testHub = await openTestHub();
    const { steps, done } = await testHub.register(serverOf({ retrain }, { secret }), { dryRun: true });
    expect(steps).toEqual([
      {
        ...{ action: "create", endpoint: "retrain", url: urlOf("retrain") },
        ...{ watched: [dataset], domains: ["repo"], secretIsSet: true },
      },
    ]);
    expect(done).toEqual([]);
    expect(testHub.writes).toEqual([]);
    expect(existsSync(testHub.state)).toBe(false);
  });

  test("does not change existing webhooks or the state file", async () => {
    const testHub = await openRegistered();
    const [webhooks, state] = [await testHub.webhooks(), testHub.stateText()];
    const { steps } = await testHub.register(serverOf({}), { dryRun: true, prune: true });
    expect(steps).toMatchObject([{ action: "delete" }]);
    expect([await testHub.webhooks(), testHub.stateText()]).toEqual([webhooks, state]);
  });
});

describe("A managed webhook whose endpoint was removed", () => {
  test("is reported as skipped, and deleted with prune", async () => {
    const testHub = await openTestHub();
    await testHub.register(serverOf({ retrain, former: { watch: "org:acme" } }));
    const [, { id } = { id: "" }] = await testHub.webhooks();
    const report = await testHub.register(serverOf({ retrain }));
    expect(report.steps).toEqual([]);
    expect(report.skipped).toMatchObject([{ reason: "endpoint-removed", endpoint: "former", id }]);
    const pruned = await testHub.register(serverOf({ retrain }), { prune: true });
    expect(pruned.done).toEqual([
      { action: "delete", endpoint: "former", id, reason: "the endpoint no longer exists" },
    ]);
    expect((await testHub.webhooks()).map(({ url }) => url)).toEqual([urlOf("retrain")]);
    expect(await testHub.register(serverOf({ retrain }))).toMatchObject({ steps: [], skipped: [] });
  });
});

describe("A webhook that was created elsewhere and delivers to an endpoint", () => {
  test("is reported and not touched, and no second one is created", async () => {
    const testHub = await openTestHub();
    const theirs = await testHub.create({ url: urlOf("retrain"), secret: "theirs" });
    const { steps, skipped } = await testHub.register(serverOf({ retrain }));
    expect(steps).toEqual([]);
    expect(skipped).toMatchObject([{ reason: "not-managed", endpoint: "retrain", id: theirs.id }]);
    expect(await testHub.webhooks()).toEqual([theirs]);
  });

  test("is adopted on request, and managed from then on", async () => {
    const testHub = await openTestHub();
    const { id } = await testHub.create({ url: urlOf("retrain"), secret: "theirs" });
    const { done } = await testHub.register(serverOf({ retrain }, { secret }), { adopt: true });
    expect(done).toMatchObject([
      { action: "update", id, isAdopted: true, changes: [{ field: "watched" }, { field: "secret" }] },
    ]);
    expect(await testHub.webhooks()).toMatchObject([{ id, watched: [dataset], secret }]);
    expect((await testHub.register(serverOf({ retrain }, { secret }))).steps).toEqual([]);
  });
});

test.each([
  ["ARGUMENT_INVALID", undefined],
  ["HUB_TOKEN_MISSING", undefined],
  ["HUB_TOKEN_INVALID", undefined],
  ["HUB_FORBIDDEN", 403],
] as const)(
  "A creation that fails with %s, so that the Hub created nothing, is not recorded as interrupted",
  async (code, status) => {
    const testHub = await openTestHub();
    vi.spyOn(testHub.client.webhooks, "create").mockRejectedValueOnce(new HubError("No.", { code, status }));
    const { failed } = await testHub.register(serverOf({ retrain }));
    expect(failed).toMatchObject([{ step: { action: "create" }, error: { code } }]);
    const file = new RegistrationFile({ path: testHub.state, hubUrl: testHub.hub.url });
    expect(file.read()).toMatchObject({ webhooks: [], pending: [] });
  },
);

describe("The secret", () => {
  test("is the first secret of the server, and is rotated with it", async () => {
    const testHub = await openRegistered({ secret: "old" });
    const { done } = await testHub.register(serverOf({ retrain }, { secret: [secret, "old"] }));
    expect(done).toMatchObject([{ action: "update", changes: [{ field: "secret", change: "changed" }] }]);
    expect(await testHub.webhooks()).toMatchObject([{ secret }]);
  });

  test("can be set instead of the server's secret", async () => {
    const testHub = await openTestHub();
    await testHub.register(serverOf({ retrain }, { secret }), { secret: "given" });
    expect(await testHub.webhooks()).toMatchObject([{ secret: "given" }]);
  });

  test("is kept if the server no longer has one, even through an update", async () => {
    const testHub = await openRegistered({ secret });
    const kept = await testHub.register(serverOf({ retrain }, { secret: false }));
    expect(kept).toMatchObject({ steps: [], failed: [], skipped: [{ reason: "secret-kept" }] });
    const updated = await testHub.register(serverOf({ retrain: { watch: "model:me/net" } }, { secret: false }));
    expect(updated.done).toMatchObject([{ changes: [{ field: "watched" }, { field: "domains" }] }]);
    expect(await testHub.webhooks()).toMatchObject([{ secret, watched: [{ type: "model" }] }]);
    // The state file still contains the hash of the secret, which a Hub that no longer returns the secret requires.
    testHub.intercept = changeWebhooks(({ secret: _secret, ...rest }) => rest);
    expect((await testHub.register(serverOf({ retrain: { watch: "model:me/net" } }, { secret }))).steps).toEqual([]);
  });

  test("is removed on request, and set if the server has one again", async () => {
    const testHub = await openRegistered({ secret });
    const removed = await testHub.register(serverOf({ retrain }, { secret: false }), { removeSecret: true });
    expect(removed.done).toMatchObject([{ changes: [{ field: "secret", change: "removed" }] }]);
    expect(await testHub.webhooks()).not.toMatchObject([{ secret: expect.anything() }]);
    expect((await testHub.register(serverOf({ retrain }, { secret: false }))).steps).toEqual([]);
    const set = await testHub.register(serverOf({ retrain }, { secret }));
    expect(set.done).toMatchObject([{ changes: [{ field: "secret", change: "set" }] }]);
  });

  test("of a Hub that omits it is recognized by its hash, and sent with each update", async () => {
    const testHub = await openTestHub();
    testHub.intercept = changeWebhooks(({ secret: _secret, ...rest }) => rest);
    await testHub.register(serverOf({ retrain }, { secret }));
    expect((await testHub.register(serverOf({ retrain }, { secret }))).steps).toEqual([]);
    await testHub.register(serverOf({ retrain: { watch: "model:me/net" } }, { secret }));
    expect(await testHub.webhooks()).toMatchObject([{ secret, watched: [{ type: "model" }] }]);
    const rotated = await testHub.register(serverOf({ retrain: { watch: "model:me/net" } }, { secret: "next" }));
    expect(rotated.done).toMatchObject([{ changes: [{ field: "secret", change: "changed" }] }]);
    expect(await testHub.webhooks()).toMatchObject([{ secret: "next" }]);
    const preview = await testHub.register(serverOf({ retrain }, { secret: false }), { dryRun: true });
    expect(preview).toMatchObject({ failed: [{ step: { action: "update" }, error: { code: "VALUE_UNREADABLE" } }] });
    const kept = await testHub.register(serverOf({ retrain }, { secret: false }));
    expect(kept).toMatchObject({ done: [], failed: [{ error: { code: "VALUE_UNREADABLE", fields: ["secret"] } }] });
    expect(await testHub.webhooks()).toMatchObject([{ secret: "next", watched: [{ type: "model" }] }]);
  });

  test.each([
    ["lost", [502], "changed"],
    ["lost, and whose repetition was a rejection", [502, 429], "changed"],
    ["a rejection", [403], undefined],
  ])(
    "is set again after a rotation whose response was %s and that was undone, if the Hub does not return it",
    async (_how, statuses, change) => {
      const testHub = await openTestHub({}, statuses.length);
      const hide = changeWebhooks(({ secret: _secret, ...rest }) => ({ ...rest, hasSecret: true }));
      testHub.intercept = hide;
      await testHub.register(serverOf({ retrain }, { secret }));
      testHub.intercept = async (request, send) => {
        if (request.method === "GET") return hide(request, send);
        const status = statuses.length > 1 ? statuses.shift() : statuses[0];
        if (status === 502) await send(request);
        return refusal(status ?? 502);
      };
      expect((await testHub.register(serverOf({ retrain }, { secret: "next" }))).failed).toHaveLength(1);
      testHub.intercept = hide;
      const { done } = await testHub.register(serverOf({ retrain }, { secret }));
      expect(done).toMatchObject(change === undefined ? [] : [{ changes: [{ field: "secret", change }] }]);
      expect(await testHub.webhooks()).toMatchObject([{ secret }]);
      expect((await testHub.register(serverOf({ retrain }, { secret }))).steps).toEqual([]);
    },
  );

  test.each([" with a space before", "with a line\nend", "gr\u00fc\u00dfe", ""])(
    "is rejected if it cannot be sent as a header: %j",
    async (unusable) => {
      const testHub = await openTestHub();
      const error = await testHub
        .register(serverOf({ retrain }, { secret }), { secret: unusable })
        .catch((thrown) => thrown);
      expect(error).toMatchObject({ code: "OPTION_INVALID" });
      if (unusable !== "") expect(error.message).not.toContain(unusable);
      expect(testHub.calls).toEqual([]);
    },
  );

  test("appears in no report, error or state file", async () => {
    const testHub = await openTestHub();
    testHub.intercept = (request, send) => (request.method === "POST" ? Promise.resolve(refusal(403)) : send(request));
    const failed = await testHub.register(serverOf({ retrain }, { secret }));
    testHub.intercept = (request, send) => send(request);
    const made = await testHub.register(serverOf({ retrain }, { secret }));
    const rotated = await testHub.register(serverOf({ retrain }, { secret: `${secret}-2` }));
    const reported = [failed, made, rotated, testHub.stateText()];
    expect(holdsSecret([reported, inspect(reported, { depth: 9 })], secret)).toBe(false);
    expect(testHub.stateText()).not.toContain("hf_local");
  });
});

describe("A Hub", () => {
  test("may return a normalized URL or name without causing endless updates", async () => {
    const testHub = await openTestHub();
    testHub.intercept = async (request, send) => {
      const answer = await send(request);
      const text = (await answer.text())
        .replaceAll(`${urlOf("retrain")}"`, `${urlOf("retrain").replace("127.0.0.1", "localhost")}"`)
        .replaceAll("me/data", "Me/Data")
        .replaceAll('["repo"]', '["repo","security"]');
      return new Response(text, answer);
    };
    await testHub.register(serverOf({ retrain }));
    expect((await testHub.register(serverOf({ retrain }))).steps).toEqual([]);
    // A changed endpoint is still updated.
    const { done } = await testHub.register(serverOf({ retrain: { watch: "dataset:me/other" } }));
    expect(done).toMatchObject([{ action: "update" }]);
    expect(await testHub.webhooks()).toMatchObject([{ watched: [{ name: "me/other" }] }]);
  });

  test("that fails for one webhook does not affect the others", async () => {
    const testHub = await openTestHub();
    testHub.intercept = async (request, send) =>
      (await request.clone().text()).includes("webhooks/second") ? refusal(500) : send(request);
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" }, third: { watch: "org:c" } });
    const { done, failed } = await testHub.register(server);
    expect(done.map(({ endpoint }) => endpoint)).toEqual(["first", "third"]);
    expect(failed).toMatchObject([{ step: { endpoint: "second" }, error: { code: "HUB_FAILED", status: 500 } }]);
    testHub.intercept = (request, send) => send(request);
    expect((await testHub.register(server)).done).toMatchObject([{ action: "create", endpoint: "second" }]);
    expect(await testHub.webhooks()).toHaveLength(3);
  });

  test("that rejects the update of a suspended webhook does not get a request to enable it", async () => {
    const testHub = await openTestHub({ suspendAfter: 1 });
    await testHub.register(serverOf({ retrain }), { publicUrl: "http://127.0.0.1:9" });
    await testHub.hub.push({ type: "dataset", name: "me/data" });
    testHub.intercept = async (request, send) => (request.method === "POST" ? refusal(503) : send(request));
    const { steps, done, failed } = await testHub.register(serverOf({ retrain }));
    expect(steps.map(({ action }) => action)).toEqual(["update", "re-enable"]);
    expect({ done, failed }).toMatchObject({ done: [], failed: [{ step: { action: "update" } }] });
    expect(testHub.calls.at(-1)).not.toContain("enable");
  });

  test("that created a webhook but whose response was lost does not get a second one", async () => {
    const testHub = await openTestHub();
    testHub.intercept = async (request, send) => {
      const answer = await send(request);
      if (request.method === "GET") return answer;
      throw new TypeError("fetch failed", { cause: Object.assign(new Error("reset"), { code: "ECONNRESET" }) });
    };
    const lost = await testHub.register(serverOf({ retrain }));
    expect(lost.failed).toMatchObject([{ error: { code: "HUB_UNREACHABLE" } }]);
    testHub.intercept = (request, send) => send(request);
    const { steps, unchanged } = await testHub.register(serverOf({ retrain }));
    expect(steps).toEqual([]);
    expect(unchanged).toMatchObject([{ endpoint: "retrain" }]);
    expect(await testHub.webhooks()).toHaveLength(1);
  });

  test("that does not list webhooks causes a rejection", async () => {
    const testHub = await openTestHub();
    testHub.intercept = () => Promise.resolve(refusal(401));
    await expect(testHub.register(serverOf({ retrain }))).rejects.toMatchObject({ code: "HUB_UNAUTHORIZED" });
  });
});

describe("A registration", () => {
  test.each([
    ["no URL", "me-bot.hf.space"],
    ["a query", "https://me-bot.hf.space/?secret=x"],
    ["a password", "https://me:horse@me-bot.hf.space"],
  ])("rejects %s as public URL", async (_what, address) => {
    const testHub = await openTestHub();
    const error = await testHub.register(serverOf({ retrain }), { publicUrl: address }).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "OPTION_INVALID" });
    expect(error.message).not.toContain("horse");
  });

  test("can be cancelled between two steps, and records nothing of a step that is not started", async () => {
    const testHub = await openTestHub();
    const controller = new AbortController();
    const reason = new Error("enough");
    const { create } = testHub.client.webhooks;
    const made = vi.spyOn(testHub.client.webhooks, "create").mockImplementation(async (request) => {
      const webhook = await create.call(testHub.client.webhooks, request);
      controller.abort(reason);
      return webhook;
    });
    onTestFinished(() => void made.mockRestore());
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" } });
    await expect(testHub.register(server, { signal: controller.signal })).rejects.toBe(reason);
    expect(JSON.parse(testHub.stateText()).hubs[testHub.hub.url]).toMatchObject({
      webhooks: [{ endpoint: "first" }],
      pending: [],
    });
  });

  test.each(["create", "update", "enable", "delete"])("can be cancelled during a request: %s", async (action) => {
    const testHub = await openTestHub();
    const server = serverOf({ retrain });
    if (action !== "create") await testHub.register(server);
    if (action === "delete") await testHub.register(serverOf({ retrain, other: { watch: "org:b" } }));
    if (action === "enable") for (const { id } of await testHub.webhooks()) await testHub.client.webhooks.disable(id);
    const controller = new AbortController();
    const reason = new Error("enough");
    testHub.intercept = (request, send) => {
      if (request.method === "GET") return send(request);
      controller.abort(reason);
      return new Promise(() => {});
    };
    const changes = action === "update" ? { secret: "another one" } : {};
    const registering = testHub.register(server, { ...changes, prune: true, signal: controller.signal });
    await expect(registering).rejects.toBe(reason);
  });

  test("can run concurrently, and creates each webhook once", async () => {
    const testHub = await openTestHub();
    const server = serverOf({ first: { watch: "org:a" }, second: { watch: "org:b" } });
    const reports = await Promise.all([testHub.register(server), testHub.register(server), testHub.register(server)]);
    expect(reports.flatMap(({ done }) => done)).toHaveLength(2);
    expect(await testHub.webhooks()).toHaveLength(2);
  });
});

test("register() in a bundle for a worker needs no Node module, and rejects with the reason", async () => {
  const bundle = await bundleForWorker(`
    import { register } from "./client.ts";
    export const registering = register({}, {}, { publicUrl: "https://bot.example" }).catch(({ code }) => code);
  `);
  const vm = new EdgeVM();
  vm.evaluate(bundle);
  expect(await vm.evaluate("worker.registering")).toBe("STATE_UNUSABLE");
});
