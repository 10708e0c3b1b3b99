import { EdgeVM } from "@edge-runtime/vm";
import { transform } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { bundleBuiltPackage, bundleForWorker } from "./support/worker-bundle.ts";

/** The script of a user's worker. It collects its log lines for the test. */
const script = `
  import { Hono } from "hono";
  import { webhookEndpoint, WebhookError, WebhooksServer } from "./index.ts";
  import { HubClient } from "./client.ts";
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
  /** Registers a background endpoint, and returns the error and the registered endpoints. */
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
    const other = new WebhooksServer({ metrics: true, consoleToken: "t0ken-of-the-owner" });
    const headers = { authorization: "Basic " + btoa("owner:t0ken-of-the-owner") };
    const response = await other.fetch(new Request("https://worker.example/metrics", { headers }));
    return (await response.json()).code;
  }
  export async function openConsole() {
    const other = new WebhooksServer({ inbox: {}, consoleToken: "t0ken-of-the-owner" });
    other.webhook("later", { background: true }, () => {});
    const headers = { authorization: "Bearer t0ken-of-the-owner" };
    const response = await other.fetch(new Request("https://worker.example/_console/api/deliveries", { headers }));
    return { status: response.status, code: (await response.json()).code };
  }
  export async function hub() {
    const without = await new WebhooksServer().hub.whoami().catch(({ code }) => code);
    const fetch = async (input) => Response.json({ path: new URL(input).pathname });
    const other = new WebhooksServer({ hub: new HubClient({ token: "hf_local", fetch }) });
    other.webhook("act", async (payload, { hub }) => (await hub.fetch("/api/any")).json());
    return { without, outcome: await other.receive(webhookPayload("repo")) };
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

/** Runs the script in a separate runtime that supports only web standards. */
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
  test("there is no process, no require, and no eval", async () => {
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

  test("the server handles a delivery with the secret from the bindings", async () => {
    const { run } = createWorker();
    expect(await run('worker.post("/webhooks/on_change", "s3cret", { WEBHOOK_SECRET: "s3cret" })')).toEqual({
      status: 200,
      body: { repo: "acme/data", id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
  });

  test("the server rejects a delivery without the secret or with a wrong one", async () => {
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

  test("the server runs the middleware of the given app first, and matches a base path", async () => {
    const { run } = createWorker();
    const call = (secret: string | undefined) =>
      `worker.postGuarded("/hub/webhooks/on_change", ${JSON.stringify(secret)}, { WEBHOOK_SECRET: "s3cret" })`;
    expect(await run(call(undefined))).toEqual({ status: 403, body: { refused: "/webhooks/on_change" } });
    expect(await run(call("s3cret"))).toEqual({ status: 200, body: "acme/data" });
  });

  test("the server accepts every delivery without bindings, and warns", async () => {
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
    ["a handler that exceeds its timeout", "/webhooks/slow", undefined, 504, "HANDLER_TIMED_OUT"],
  ])("the server responds to %s as on Node", async (_what, path, body, status, code) => {
    const { run } = createWorker();
    const call = [path, undefined, undefined, body].map((argument) => JSON.stringify(argument) ?? "undefined").join();
    expect(await run(`worker.post(${call})`)).toMatchObject({ status, body: { code } });
  });

  test("the server returns a small landing page without assets", async () => {
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

  test("the server writes a log line per delivery to the console, as JSON", async () => {
    const { run } = createWorker();
    await run('worker.post("/webhooks/on_change")');
    expect(await run("worker.lines")).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: "info", msg: "handled", endpoint: "on_change", repo: "acme/data" }),
        expect.objectContaining({ level: "info", msg: "delivery succeeded", endpoint: "on_change", status: 200 }),
      ]),
    );
  });

  test("registering a background endpoint throws an error with the alternatives", async () => {
    const { run } = createWorker();
    expect(await run("worker.background()")).toEqual({
      isOurs: true,
      code: "INBOX_UNUSABLE",
      message: expect.stringMatching(/^Endpoint "later" .*background: true.*new WebhooksServer\({ inbox }\).*Node/),
      names: [],
    });
    // The URL of an inbox is rejected too, but a custom inbox is accepted.
    expect(await run('worker.background({ inbox: "redis://localhost" })')).toMatchObject({ code: "INBOX_UNUSABLE" });
    expect(await run("worker.background({ inbox: {} })")).toEqual({ names: ["later"] });
  });

  test("registering a background endpoint also throws if there is a `process`, as with nodejs_compat on Cloudflare", async () => {
    const { run } = createWorker({ before: 'globalThis.process = { env: {}, versions: { node: "22.18.0" } };' });
    expect(await run("worker.background()")).toMatchObject({ code: "INBOX_UNUSABLE", names: [] });
  });

  test("the metrics option is rejected, because it requires Node", async () => {
    const { run } = createWorker();
    expect(await run("worker.metrics()")).toBe("OPTION_INVALID");
  });

  test("the console is not included, because it requires files and an inbox", async () => {
    const { run } = createWorker();
    expect(await run("worker.openConsole()")).toEqual({ status: 404, code: "NOT_FOUND" });
  });

  test("the Hub client is available if it is passed to the server, and is not included else", async () => {
    const { run } = createWorker();
    expect(await run("worker.hub()")).toEqual({
      without: "OPTION_INVALID",
      outcome: { status: "succeeded", result: { path: "/api/any" } },
    });
  });

  test.each([
    ["of the sources", () => bundle],
    ["of the built package", bundleBuiltPackage],
  ])("the bundle %s has no import() of a variable, which bundlers and workers reject", async (_what, of) => {
    // Removes comments, because some contain "import()".
    const { code } = await transform(await of(), { minify: true });
    expect(code).toContain("This runtime does not support the built-in inbox");
    expect(code.match(/\bimport\([^)]*\)?/g) ?? []).toEqual([]);
  });

  test("the platform exports all names of the original, which TypeScript checks instead", async () => {
    const [original, replacement] = await Promise.all([
      import("../src/receiver/platform.node.ts"),
      import("../src/receiver/platform.worker.ts"),
    ]);
    const ofOtherFolders = ["objectSchema", "registerServer"];
    expect(Object.keys(replacement).sort()).toEqual([...Object.keys(original), ...ofOtherFolders].sort());
  });

  test("launch() throws an error that recommends server.fetch", async () => {
    const { run } = createWorker();
    expect(await run("worker.launch()")).toEqual([true, "LISTEN_FAILED", expect.stringContaining("server.fetch")]);
  });
});
