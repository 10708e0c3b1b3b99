import { EdgeVM } from "@edge-runtime/vm";
import { transform } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleBuiltPackage, bundleForWorker } from "./support/worker-bundle.ts";

/** What a user deploys to a worker, with its own log kept where the test can read it. */
const script = `
  import { Hono } from "hono";
  import { webhookEndpoint, WebhookError, WebhooksServer } from "./index.ts";
  import { webhookPayload } from "./testing.ts";

  export const lines = [];
  for (const level of ["debug", "info", "warn", "error"]) console[level] = (line) => lines.push(JSON.parse(line));

  const server = new WebhooksServer();
  server.webhook(async function on_change(payload, { delivery, log }) {
    log.info({ repo: payload.repo.name }, "handled");
    return { repo: payload.repo.name, id: delivery.id };
  });
  server.webhook("slow", { timeout: 5 }, () => new Promise(() => {}));
  webhookEndpoint(function never_launched() {});

  const app = new Hono();
  app.use(async (context, next) => {
    if (context.req.header("x-webhook-secret") === undefined) return context.json({ refused: context.req.path }, 403);
    await next();
  });
  const guarded = new WebhooksServer({ app, basePath: "/hub" });
  guarded.webhook("on_change", (payload) => payload.repo.name);

  export async function post(path, secret, bindings, body = JSON.stringify(webhookPayload("repo.content")), receiver = server) {
    const headers = { "content-type": "application/json", ...(secret && { "x-webhook-secret": secret }) };
    const response = await receiver.fetch(new Request("https://worker.example" + path, { method: "POST", headers, body }), bindings);
    return { status: response.status, body: await response.json() };
  }
  export const postGuarded = (path, secret, bindings) => post(path, secret, bindings, undefined, guarded);
  export async function get(path, bindings) {
    const response = await server.fetch(new Request("https://worker.example" + path), bindings);
    return { status: response.status, type: response.headers.get("content-type"), body: await response.text() };
  }
  /** Registers a background endpoint, and returns what is thrown and the names of the endpoints then. */
  export function background(options) {
    const other = new WebhooksServer(options);
    try {
      other.webhook("later", { background: true }, () => {});
      return { names: other.endpointNames };
    } catch (error) {
      return { isOurs: WebhookError.isInstance(error), code: error.code, message: error.message, names: other.endpointNames };
    }
  }
  export async function metrics() {
    const other = new WebhooksServer({ metrics: true, dashboardToken: "t0ken" });
    const headers = { authorization: "Basic " + btoa("owner:t0ken") };
    const response = await other.fetch(new Request("https://worker.example/metrics", { headers }));
    return (await response.json()).code;
  }
  export async function dashboard() {
    const other = new WebhooksServer({ inbox: {}, dashboardToken: "t0ken" });
    other.webhook("later", { background: true }, () => {});
    const headers = { authorization: "Basic " + btoa("owner:t0ken") };
    const response = await other.fetch(new Request("https://worker.example/_deliveries", { headers }));
    return { status: response.status, code: (await response.json()).code };
  }
  export async function launch() {
    return server.launch().then(
      () => "launched",
      (error) => [WebhookError.isInstance(error), error.code, error.message],
    );
  }
`;

let bundle: string;
beforeAll(async () => {
  bundle = await bundleForWorker(script);
});

/** Calls the script in a runtime of its own, which has web standards and nothing else. */
function createWorker({ before = "" } = {}) {
  const vm = new EdgeVM();
  vm.evaluate(before);
  vm.evaluate(bundle);
  return {
    run: async (call: string): Promise<unknown> =>
      JSON.parse(await vm.evaluate(`(async () => JSON.stringify(await ${call}))()`)),
  };
}

describe("In a runtime without Node", () => {
  test("there is no process, no require, and no code made from strings", async () => {
    const { run } = createWorker();
    expect(await run("[typeof process, typeof require, typeof Buffer]")).toEqual([
      "undefined",
      "undefined",
      "undefined",
    ]);
    expect(await run("new Promise((resolve) => { try { resolve(eval('1')) } catch { resolve('refused') } })")).toBe(
      "refused",
    );
  });

  test("a delivery is handled, with the secret from the bindings", async () => {
    const { run } = createWorker();
    expect(await run('worker.post("/webhooks/on_change", "s3cret", { WEBHOOK_SECRET: "s3cret" })')).toEqual({
      status: 200,
      body: { repo: "acme/data", id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
  });

  test("it is refused without the secret, and with a wrong one", async () => {
    const { run } = createWorker();
    expect(await run('worker.post("/webhooks/on_change", undefined, { WEBHOOK_SECRET: "s3cret" })')).toEqual({
      status: 401,
      body: { error: "x-webhook-secret header not set.", code: "SECRET_MISSING" },
    });
    expect(await run('worker.post("/webhooks/on_change", "other", { WEBHOOK_SECRET: "s3cret" })')).toEqual({
      status: 403,
      body: { error: "Invalid webhook secret.", code: "SECRET_INVALID" },
    });
  });

  test("middleware of the given app runs first, and a base path is matched", async () => {
    const { run } = createWorker();
    const call = (secret: string | undefined) =>
      `worker.postGuarded("/hub/webhooks/on_change", ${JSON.stringify(secret)}, { WEBHOOK_SECRET: "s3cret" })`;
    expect(await run(call(undefined))).toEqual({ status: 403, body: { refused: "/webhooks/on_change" } });
    expect(await run(call("s3cret"))).toEqual({ status: 200, body: "acme/data" });
  });

  test("without bindings it is open, with a warning", async () => {
    const { run } = createWorker();
    expect(await run('worker.post("/webhooks/on_change")')).toMatchObject({ status: 200 });
    expect(await run("worker.lines")).toContainEqual({
      level: "warn",
      time: expect.any(Number),
      msg: expect.stringContaining("No webhook secret is set"),
    });
  });

  test.each([
    ["an unknown endpoint", "/webhooks/none", undefined, 404, "ENDPOINT_UNKNOWN"],
    ["a body that is not JSON", "/webhooks/on_change", "{", 400, "BODY_NOT_JSON"],
    ["a payload of the wrong shape", "/webhooks/on_change", "{}", 422, "PAYLOAD_INVALID"],
    ["a handler over its time limit", "/webhooks/slow", undefined, 504, "HANDLER_TIMED_OUT"],
  ])("%s is answered as anywhere", async (_what, path, body, status, code) => {
    const { run } = createWorker();
    const call = [path, undefined, undefined, body].map((argument) => JSON.stringify(argument) ?? "undefined").join();
    expect(await run(`worker.post(${call})`)).toMatchObject({ status, body: { code } });
  });

  test("a small landing page is served, without a style sheet of its own", async () => {
    const { run } = createWorker();
    const page = await run('worker.get("/", { WEBHOOK_SECRET: "s3cret" })');
    expect(page).toEqual({
      status: 200,
      type: "text/html; charset=utf-8",
      body: expect.stringContaining("https://worker.example/webhooks/on_change"),
    });
    expect(JSON.stringify(page)).not.toContain("_landing/");
    expect(await run('worker.get("/_landing/styles.css")')).toMatchObject({ status: 404 });
  });

  test("each delivery has its log line on the console, as JSON", async () => {
    const { run } = createWorker();
    await run('worker.post("/webhooks/on_change")');
    expect(await run("worker.lines")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: "info", msg: "handled", endpoint: "on_change", repo: "acme/data" }),
        expect.objectContaining({ level: "info", msg: "delivery succeeded", endpoint: "on_change", status: 200 }),
      ]),
    );
  });

  test("a background endpoint is refused when it is registered, with the remedies", async () => {
    const { run } = createWorker();
    expect(await run("worker.background()")).toEqual({
      isOurs: true,
      code: "INBOX_UNUSABLE",
      message: expect.stringMatching(/^Endpoint "later" .*background: true.*new WebhooksServer\({ inbox }\).*Node/),
      names: [],
    });
    // The URL of an inbox is of no use either, and an inbox of one's own is.
    expect(await run('worker.background({ inbox: "redis://localhost" })')).toMatchObject({ code: "INBOX_UNUSABLE" });
    expect(await run("worker.background({ inbox: {} })")).toEqual({ names: ["later"] });
  });

  test("it is refused where a worker has a `process` as well, as nodejs_compat of Cloudflare makes one", async () => {
    const { run } = createWorker({ before: 'globalThis.process = { env: {}, versions: { node: "22.18.0" } };' });
    expect(await run("worker.background()")).toMatchObject({ code: "INBOX_UNUSABLE", names: [] });
  });

  test("metrics are refused, which need Node", async () => {
    const { run } = createWorker();
    expect(await run("worker.metrics()")).toBe("OPTION_INVALID");
  });

  test("the dashboard is left out, which would be a sixth of the bundle", async () => {
    const { run } = createWorker();
    expect(await run("worker.dashboard()")).toEqual({ status: 404, code: "NOT_FOUND" });
  });

  test.each([
    ["of the sources", () => bundle],
    ["of the built package", bundleBuiltPackage],
  ])(
    "the bundle %s imports nothing while it runs: bundlers and workers refuse import() of a variable",
    async (_what, of) => {
      // Without its comments, some of which mention it.
      const { code } = await transform(await of(), { minify: true });
      expect(code).toContain("This runtime has no inbox");
      expect(code.match(/\bimport\([^)]*\)?/g) ?? []).toEqual([]);
    },
  );

  test("a launch says that there is nothing to listen on, and what to do", async () => {
    const { run } = createWorker();
    expect(await run("worker.launch()")).toEqual([true, "LISTEN_FAILED", expect.stringContaining("server.fetch")]);
  });
});
