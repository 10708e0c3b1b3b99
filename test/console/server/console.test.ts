import { readdirSync, readFileSync } from "node:fs";
import files from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import * as z from "zod/mini";
import type { ConsoleFeature } from "../../../src/console/protocol/session.ts";
import { type ConsoleResource, FieldError, readBody, readQuery } from "../../../src/console/server/api.ts";
import { createFileReader } from "../../../src/console/server/console.ts";
import { packageRoot } from "../../../src/core/files.ts";
import { WebhookError, WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";
import { codeOf, consoleToken, openTestConsole } from "./open-test-console.ts";

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const secureHeaders = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Returns the headers of a response that {@link secureHeaders} contains. */
function secureHeadersOf({ headers }: Response): Record<string, string | null> {
  return Object.fromEntries(Object.keys(secureHeaders).map((name) => [name, headers.get(name)]));
}

describeOverBothTransports("The console of a server", (send) => {
  const open = () => {
    const server = new WebhooksServer({ secret: false, consoleToken, logger: createMemoryLogger() });
    server.webhook("inline", () => {});
    return server;
  };
  const get = (path: string, init: RequestInit = {}) => send(open(), new Request(`http://localhost${path}`, init));
  const owner = { headers: { authorization: `Bearer ${consoleToken}` } };

  test.each([
    ["the app", "/_console/", {}, 200],
    ["the redirect to the app", "/_console", {}, 308],
    ["a path that is not there", "/_console/nowhere", {}, 404],
    ["an asset that is not there", "/_console/assets/nowhere.js", {}, 404],
    ["the session", "/_console/api/session", {}, 200],
    ["data without a session", "/_console/api/deliveries", {}, 401],
    ["the stream without a session", "/_console/api/stream", {}, 401],
    ["data", "/_console/api/deliveries", owner, 200],
    ["a delivery that is not there", "/_console/api/deliveries/one?endpoint=a&id=b", owner, 404],
    ["a bad query", "/_console/api/deliveries?limit=no", owner, 400],
    ["a wrong token", "/_console/api/deliveries", { headers: { authorization: "Bearer no" } }, 401],
    ["a change as a form", "/_console/api/endpoints/pause", { method: "POST", ...owner }, 415],
  ] as const)("sends secure headers with %s", async (_what, path, init, status) => {
    const response = await get(path, init);
    expect([response.status, secureHeadersOf(response)]).toEqual([status, secureHeaders]);
    for (const name of ["access-control-allow-origin", "server", "x-powered-by"]) {
      expect(response.headers.get(name)).toBeNull();
    }
  });

  test("sends the same headers with assets, except that they are cached", async () => {
    const page = await (await get("/_console/")).text();
    const [, asset = ""] = /src="\.\/([^"]+)"/.exec(page) ?? [];
    const response = await get(`/_console/${asset}`);
    expect(secureHeadersOf(response)).toEqual({
      ...secureHeaders,
      "cache-control": "public, max-age=31536000, immutable",
    });
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("has no page for %s", async (method) => {
    for (const path of ["/_console/", "/_console/assets/index.js"]) {
      expect(await codeOf(await get(path, { method }))).toEqual([404, "NOT_FOUND"]);
    }
  });

  test("does not answer preflight requests of other sites", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const response = await get("/_console/api/deliveries/replay", { method: "OPTIONS", headers });
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(await codeOf(response)).toEqual([401, "SIGN_IN_REQUIRED"]);
  });

  test("answers HEAD like GET, without the body", async () => {
    for (const path of ["/_console/", "/_console/api/deliveries"]) {
      const [head, answer] = [await get(path, { ...owner, method: "HEAD" }), await get(path, owner)];
      expect([head.status, await head.text()]).toEqual([200, ""]);
      expect(head.headers.get("content-type")).toBe(answer.headers.get("content-type"));
    }
  });

  test.each(["iframe", "frame", "embed", "object", "fencedframe"])(
    "shows a page that opens its own tab in an %s of the Hub",
    async (destination) => {
      const response = await get("/_console/", { headers: { "sec-fetch-dest": destination } });
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      const page = await response.text();
      const [, nonce] = /<style nonce="([\w-]{36})">/.exec(page) ?? [];
      expect(response.headers.get("content-security-policy")).toBe(
        `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'self' https://huggingface.co https://*.huggingface.co https://*.hf.space`,
      );
      expect(page).toMatch(/<a href="" target="_blank" rel="noopener">/);
      expect(page).not.toMatch(/<script|style=|<style>|unsafe/);
    },
  );

  test.each(["document", "empty", "script"])("shows the app to a request for a %s", async (destination) => {
    const response = await get("/_console/", { headers: { "sec-fetch-dest": destination } });
    expect(response.headers.get("content-security-policy")).toBe(policy);
  });

  test("is not reachable by other spellings of its path", async () => {
    const spellings = ["/%5Fconsole/api/session", "/_console%2Fapi/session", "//_console/api/deliveries", "/_consolex"];
    for (const path of spellings) expect([path, (await codeOf(await get(path)))[0] >= 400]).toEqual([path, true]);
  });
});

describe("A redirect to the app", () => {
  test.each(["", "/hub", "/tenants/a/hub"])("is relative below the prefix %j, and keeps the query", async (prefix) => {
    const { console: opened } = openTestConsole();
    const url = `http://localhost${prefix}/_console?__theme=dark`;
    const response = await opened.fetch(new Request(url));
    const location = response.headers.get("location") ?? "";
    expect([response.status, location]).toEqual([308, "./_console/?__theme=dark"]);
    expect(new URL(location, url).href).toBe(`http://localhost${prefix}/_console/?__theme=dark`);
  });

  test("never points to another site", async () => {
    const { console: opened } = openTestConsole();
    const url = "http://localhost//evil.example/_console";
    const response = await opened.fetch(new Request(url));
    expect(new URL(response.headers.get("location") ?? "", url).origin).toBe("http://localhost");
  });
});

describe("A resource", () => {
  /** Returns the answer of a resource that throws an error, and the errors that the console logged. */
  const getFailing = async (error: unknown, options: Parameters<typeof openTestConsole>[0] = {}) => {
    const resource: ConsoleResource = (app) =>
      app.get("/fails", () => {
        throw error;
      });
    const { signIn, errors } = openTestConsole({ resources: [resource], ...options });
    return { response: await (await signIn()).get("fails"), errors };
  };

  test.each([
    ["its own status", new WebhookError("Gone.", { code: "DELIVERY_UNKNOWN", status: 404 }), 404, "DELIVERY_UNKNOWN"],
    ["an invalid option", new WebhookError("Bad.", { code: "OPTION_INVALID" }), 400, "OPTION_INVALID"],
    ["no status", new WebhookError("Down.", { code: "INBOX_UNAVAILABLE" }), 503, "INBOX_UNAVAILABLE"],
  ])("answers an error with %s", async (_what, error, status, code) => {
    const { response, errors } = await getFailing(error);
    expect(secureHeadersOf(response)).toEqual(secureHeaders);
    expect([response.status, await response.json()]).toEqual([status, { error: error.message, code }]);
    expect(errors).toEqual(status >= 500 ? [error] : []);
  });

  test.each([
    ["an error", new Error("password=hunter2")],
    ["an internal error", new WebhookError("password=hunter2", { code: "INTERNAL", status: 500 })],
  ])("hides %s, and logs it", async (_what, error) => {
    const { response, errors } = await getFailing(error);
    expect(await response.clone().text()).not.toContain("hunter2");
    expect(await codeOf(response)).toEqual([500, "INTERNAL"]);
    expect(errors).toEqual([error]);
  });

  test("masks secrets in messages, for which the place knows them", async () => {
    const error = new WebhookError("No answer from redis://hunter2@host.", { code: "INBOX_UNAVAILABLE" });
    const { response } = await getFailing(error, { mask: (message) => message.replaceAll("hunter2", "***") });
    expect(await response.json()).toMatchObject({ error: "No answer from redis://***@host." });
  });

  test("answers an invalid payload with its fields", async () => {
    const cause = new WebhookError("Invalid payload.", { code: "PAYLOAD_INVALID", status: 422 });
    const fields = [{ path: ["repo", "type"], problem: "required" }];
    const { response } = await getFailing(new FieldError(cause, fields));
    const answer = { error: "Invalid payload.", code: "PAYLOAD_INVALID", fields };
    expect([response.status, await response.json()]).toEqual([422, answer]);
  });

  test("does not run without a session", async () => {
    let runs = 0;
    const counting: ConsoleResource = (app) =>
      app.all("/count", (context) => {
        runs += 1;
        return context.json({ runs });
      });
    const { send, signIn } = openTestConsole({ resources: [counting] });
    for (const method of ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "PROPFIND"]) {
      expect((await send("api/count", { method })).status).toBe(401);
    }
    expect(runs).toBe(0);
    expect(await (await signIn()).read("count")).toEqual({ runs: 1 });
  });

  test("that does not exist is answered with 404 only to the owner", async () => {
    const { connect, signIn } = openTestConsole();
    expect(await codeOf(await connect().get("nowhere"))).toEqual([401, "SIGN_IN_REQUIRED"]);
    expect(await codeOf(await (await signIn()).get("nowhere"))).toEqual([404, "NOT_FOUND"]);
  });
});

test("The features of a session are read at each request", async () => {
  const features: ConsoleFeature[] = ["deliveries"];
  const { signIn } = openTestConsole({ features: () => features });
  const client = await signIn();
  features.push("tunnel");
  expect(await client.read("session")).toMatchObject({ features: ["deliveries", "tunnel"] });
});

test.each([
  ["dev", "dev"],
  ["receiver", "log"],
  ["hub", "hub"],
] as const)("The sign-in page of the place %s names where its link is printed", async (place, linkFrom) => {
  const { connect } = openTestConsole({ place });
  expect(await connect().read("session")).toMatchObject({ place, methods: { linkFrom } });
});

describe("A request", () => {
  const query = z.object({ name: z.string(), limit: z.optional(z.coerce.number().check(z.maximum(200))) });
  const body = z.strictObject({ key: z.strictObject({ id: z.string() }) });
  const resource: ConsoleResource = (app) => {
    app.get("/read", (context) => context.json(readQuery(context, query)));
    app.post("/change", async (context) => context.json(await readBody(context, body)));
  };
  const signIn = () => openTestConsole({ resources: [resource] }).signIn();

  test("is parsed with its schema", async () => {
    const client = await signIn();
    expect(await client.read("read?name=caf%C3%A9%20x&limit=20&other=1")).toEqual({ name: "café x", limit: 20 });
    expect(await client.change("change", { key: { id: "1" } })).toEqual({ status: 200, body: { key: { id: "1" } } });
    const { body: answer } = await client.change("change", { key: { id: 7 } });
    expect(answer.error).toContain("key.id:");
  });

  test.each([
    ["a missing field", "read", "name:"],
    ["a number that is not one", "read?name=x&limit=abc", "limit:"],
    ["an infinite number", "read?name=x&limit=1e999", "limit:"],
    ["a number over its maximum", "read?name=x&limit=201", "limit:"],
  ])("whose query has %s is a bad request that names the field", async (_what, path, problem) => {
    const response = await (await signIn()).get(path);
    expect((await response.clone().json()).error).toContain(problem);
    expect(await codeOf(response)).toEqual([400, "ARGUMENT_INVALID"]);
  });

  test.each([
    ["without a field", "{}", 400, "ARGUMENT_INVALID"],
    ["a field that is not known", '{"key":{"id":"1"},"other":1}', 400, "ARGUMENT_INVALID"],
    ["a value of another type", '{"key":{"id":1}}', 400, "ARGUMENT_INVALID"],
    ["no JSON", "{", 400, "BODY_NOT_JSON"],
    ["nothing", "", 400, "BODY_NOT_JSON"],
    ["null", "null", 400, "ARGUMENT_INVALID"],
    ["a deep value", `{"key":${"[".repeat(20_000)}${"]".repeat(20_000)}}`, 400, "BODY_TOO_DEEP"],
    ["more than 11 MiB", `"${"x".repeat(11 * 1_024 * 1_024)}"`, 413, "BODY_TOO_LARGE"],
  ])("whose body is %s is refused", async (_what, text, status, code) => {
    const { send, signIn } = openTestConsole({ resources: [resource] });
    const { cookie, csrfToken } = await signIn();
    const headers = { cookie, "x-csrf-token": csrfToken, "content-type": "application/json" };
    expect(await codeOf(await send("api/change", { method: "POST", headers, body: text }))).toEqual([status, code]);
  });
});

const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes);

describe("The files of the app", () => {
  test("are found by their path, with their type", async () => {
    const read = createFileReader();
    const page = await read("index.html");
    expect(page?.mediaType).toBe("text/html; charset=utf-8");
    const assets = [...text(page?.bytes).matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(assets.length).toBeGreaterThan(1);
    const types = await Promise.all(assets.map(async (path) => (await read(path))?.mediaType));
    expect(new Set(types)).toEqual(new Set(["text/javascript; charset=utf-8", "text/css; charset=utf-8"]));
  });

  test.each([
    ...["", "index", "/index.html", "assets", "assets/", "assets/../index.html", "../../package.json"],
    ...["assets/..", "assets/%2e%2e/index.html", "__proto__", "constructor"],
  ])("do not include %j", async (path) => {
    expect(await createFileReader()(path)).toBeUndefined();
  });

  test("have a page without inline scripts and styles, whose addresses are relative", async () => {
    const html = text((await createFileReader()("index.html"))?.bytes);
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=/i);
    for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^(?:\.\/|data:)/);
  });

  test("are read again after they could not be read", async () => {
    const readdir = vi.spyOn(files, "readdir").mockRejectedValueOnce(new Error("EMFILE"));
    syncBuiltinESMExports();
    onTestFinished(() => {
      readdir.mockRestore();
      syncBuiltinESMExports();
    });
    const { send, errors } = openTestConsole();
    expect(await codeOf(await send(""))).toEqual([503, "CONSOLE_NOT_BUILT"]);
    expect(errors).toMatchObject([{ cause: { message: "EMFILE" } }]);
    expect((await send("")).status).toBe(200);
  });

  test("are served with the bytes of the build", async () => {
    const { send } = openTestConsole();
    const [, asset = ""] = /src="\.\/(assets\/[^"]+\.js)"/.exec(await (await send("")).text()) ?? [];
    expect(await (await send(asset)).text()).toBe(text((await createFileReader()(asset))?.bytes));
  });

  test("are at most 59 kB with gzip, 12 kB for the views that are loaded when they are opened, and 1 kB for the checks", () => {
    const folder = new URL("dist/console/", packageRoot);
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(entries.length).toBeGreaterThan(2);
    const later = /-view-/;
    const checks = /^checks-panel-/;
    const sizeOf = (isIncluded: (name: string) => boolean) =>
      entries
        .filter(({ name }) => isIncluded(name))
        .map(({ parentPath, name }) => gzipSync(readFileSync(`${parentPath}/${name}`)).length)
        .reduce((sum, size) => sum + size);
    expect(sizeOf((name) => !later.test(name) && !checks.test(name))).toBeLessThanOrEqual(59_000);
    expect(sizeOf((name) => later.test(name))).toBeLessThanOrEqual(12_000);
    expect(sizeOf((name) => checks.test(name))).toBeLessThanOrEqual(1_000);
  });
});
