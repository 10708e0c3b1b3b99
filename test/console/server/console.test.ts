import { describe, expect, test } from "vitest";
import type { ConsoleFeature } from "../../../src/console/protocol/session.ts";
import type { ConsoleResource } from "../../../src/console/server/api.ts";
import { FieldError } from "../../../src/console/server/api.ts";
import { WebhookError, WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";
import { codeOf, openTestConsole } from "./open-test-console.ts";

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
    const server = new WebhooksServer({
      secret: false,
      consoleToken: "t0ken-of-the-owner",
      logger: createMemoryLogger(),
    });
    server.webhook("inline", () => {});
    return server;
  };
  const authorization = "Bearer t0ken-of-the-owner";

  test.each([
    ["the app", "/_console/", {}, 200],
    ["the redirect to the app", "/_console", {}, 308],
    ["a path that is not there", "/_console/nowhere", {}, 404],
    ["an asset that is not there", "/_console/assets/nowhere.js", {}, 404],
    ["the session", "/_console/api/session", {}, 200],
    ["data without a session", "/_console/api/deliveries", {}, 401],
    ["data", "/_console/api/deliveries", { headers: { authorization } }, 200],
    [
      "a delivery that is not there",
      "/_console/api/deliveries/one?endpoint=a&id=b",
      { headers: { authorization } },
      404,
    ],
    ["a bad query", "/_console/api/deliveries?limit=no", { headers: { authorization } }, 400],
    ["a wrong token", "/_console/api/deliveries", { headers: { authorization: "Bearer no" } }, 401],
    ["a change as a form", "/_console/api/endpoints/pause", { method: "POST", headers: { authorization } }, 415],
  ] as const)("sends secure headers with %s", async (_what, path, init, status) => {
    const response = await send(open(), new Request(`http://localhost${path}`, init));
    expect([response.status, secureHeadersOf(response)]).toEqual([status, secureHeaders]);
    for (const name of ["access-control-allow-origin", "server", "x-powered-by"]) {
      expect(response.headers.get(name)).toBeNull();
    }
  });

  test("sends the same headers with assets, except that they are cached", async () => {
    const page = await (await send(open(), new Request("http://localhost/_console/"))).text();
    const [, asset = ""] = /src="\.\/([^"]+)"/.exec(page) ?? [];
    const response = await send(open(), new Request(`http://localhost/_console/${asset}`));
    expect(secureHeadersOf(response)).toEqual({
      ...secureHeaders,
      "cache-control": "public, max-age=31536000, immutable",
    });
  });

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])("has no page for %s", async (method) => {
    for (const path of ["/_console/", "/_console/assets/index.js"]) {
      const response = await send(open(), new Request(`http://localhost${path}`, { method }));
      expect(await codeOf(response)).toEqual([404, "NOT_FOUND"]);
    }
  });

  test("does not answer preflight requests of other sites", async () => {
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const request = new Request("http://localhost/_console/api/deliveries/replay", { method: "OPTIONS", headers });
    const response = await send(open(), request);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(await codeOf(response)).toEqual([401, "SIGN_IN_REQUIRED"]);
  });

  test("answers HEAD like GET, without the body", async () => {
    for (const path of ["/_console/", "/_console/api/deliveries"]) {
      const ask = (method: string) =>
        send(open(), new Request(`http://localhost${path}`, { method, headers: { authorization } }));
      const [head, get] = [await ask("HEAD"), await ask("GET")];
      expect([head.status, await head.text()]).toEqual([200, ""]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    }
  });

  test.each(["iframe", "frame", "embed", "object", "fencedframe"])(
    "shows a page that opens its own tab in an %s of the Hub",
    async (destination) => {
      const headers = { "sec-fetch-dest": destination };
      const response = await send(open(), new Request("http://localhost/_console/", { headers }));
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
    const headers = { "sec-fetch-dest": destination };
    const response = await send(open(), new Request("http://localhost/_console/", { headers }));
    expect(response.headers.get("content-security-policy")).toBe(policy);
  });

  test("is not reachable by other spellings of its path", async () => {
    for (const path of [
      "/%5Fconsole/api/session",
      "/_console%2Fapi/session",
      "//_console/api/deliveries",
      "/_consolex",
    ]) {
      const response = await send(open(), new Request(`http://localhost${path}`));
      expect([path, (await codeOf(response))[0] >= 400]).toEqual([path, true]);
    }
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
  const failing =
    (error: unknown): ConsoleResource =>
    (app) =>
      app.get("/fails", () => {
        throw error;
      });

  test.each([
    ["its own status", new WebhookError("Gone.", { code: "DELIVERY_UNKNOWN", status: 404 }), 404, "DELIVERY_UNKNOWN"],
    ["an invalid option", new WebhookError("Bad.", { code: "OPTION_INVALID" }), 400, "OPTION_INVALID"],
    ["no status", new WebhookError("Down.", { code: "INBOX_UNAVAILABLE" }), 503, "INBOX_UNAVAILABLE"],
  ])("answers an error with %s", async (_what, error, status, code) => {
    const { signIn, errors } = openTestConsole({ resources: [failing(error)] });
    const response = await (await signIn()).get("fails");
    expect(secureHeadersOf(response)).toEqual(secureHeaders);
    expect([response.status, await response.json()]).toEqual([status, { error: error.message, code }]);
    expect(errors).toEqual(status >= 500 ? [error] : []);
  });

  test.each([
    ["an error", new Error("password=hunter2")],
    ["an internal error", new WebhookError("password=hunter2", { code: "INTERNAL", status: 500 })],
  ])("hides %s, and logs it", async (_what, error) => {
    const { signIn, errors } = openTestConsole({ resources: [failing(error)] });
    const response = await (await signIn()).get("fails");
    const text = await response.clone().text();
    expect(text).not.toContain("hunter2");
    expect(await codeOf(response)).toEqual([500, "INTERNAL"]);
    expect(errors).toEqual([error]);
  });

  test("masks secrets in messages, for which the place knows them", async () => {
    const error = new WebhookError("No answer from redis://hunter2@host.", { code: "INBOX_UNAVAILABLE" });
    const mask = (message: string) => message.replaceAll("hunter2", "***");
    const { signIn } = openTestConsole({ resources: [failing(error)], mask });
    const response = await (await signIn()).get("fails");
    expect(await response.json()).toMatchObject({ error: "No answer from redis://***@host." });
  });

  test("answers an invalid payload with its fields", async () => {
    const cause = new WebhookError("Invalid payload.", { code: "PAYLOAD_INVALID", status: 422 });
    const fields = [{ path: ["repo", "type"], problem: "required" }];
    const { signIn } = openTestConsole({ resources: [failing(new FieldError(cause, fields))] });
    const response = await (await signIn()).get("fails");
    expect([response.status, await response.json()]).toEqual([
      422,
      { error: "Invalid payload.", code: "PAYLOAD_INVALID", fields },
    ]);
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
