import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import type { HubFetchInit } from "../../../src/client.ts";
import type { Operation } from "../../../src/hub/operation.ts";
import { repeatable } from "../../../src/hub/schemas.ts";
import { type OperationInput, prepareRequest } from "../../../src/hub/transport/request.ts";
import { holdsSecret } from "../../support/secrets.ts";
import {
  closedAddress,
  connect,
  openClient,
  openHub,
  rejectionOf,
  type ScriptedAnswer,
  token,
} from "../scripted-hub.ts";

const path = "/api/datasets/acme/data/discussions";
const post: HubFetchInit = { method: "POST", body: JSON.stringify({ title: "Hello" }) };

describe("hub.fetch", () => {
  test("returns the response, and sends the token", async () => {
    const hub = await openHub({ json: { num: 4 }, headers: { "x-request-id": "r-1" } });
    const client = openClient(hub);
    const response = await client.fetch(`${path}?author=ada&p=1`);
    expect([response.status, response.headers.get("x-request-id")]).toEqual([200, "r-1"]);
    expect(await response.json()).toEqual({ num: 4 });
    expect(hub.calls).toEqual([`GET ${path}?author=ada&p=1`]);
    expect(hub.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
  });

  test("sends method, headers and body unchanged, with JSON as the default content type", async () => {
    const hub = await openHub({});
    const { fetch } = connect(hub.url);
    await fetch(path, post);
    await fetch(path, { method: "PUT", body: "a,b", headers: { "Content-Type": "text/csv", "X-Note": "seen" } });
    await fetch(path, { method: "DELETE" });
    expect(hub.requests.map(({ method, body, headers }) => [method, body, headers["content-type"]])).toEqual([
      ["POST", '{"title":"Hello"}', "application/json"],
      ["PUT", "a,b", "text/csv"],
      ["DELETE", "", undefined],
    ]);
    expect(hub.requests[1]?.headers["x-note"]).toBe("seen");
  });

  test("inserts params into the path, which they cannot leave", async () => {
    const hub = await openHub({});
    const { fetch } = connect(hub.url);
    const template = "/api/{type}s/{name}/discussions/{num}?author={name}";
    await fetch(template, { params: { type: "dataset", name: "acme/my data", num: 4 } });
    await fetch(template, { params: { type: "model", name: "acme/x?y=1#z{num}%2f", num: 4 } });
    expect(hub.calls).toEqual([
      "GET /api/datasets/acme/my%20data/discussions/4?author=acme/my%20data",
      "GET /api/models/acme/x%3Fy%3D1%23z%7Bnum%7D%252f/discussions/4?author=acme/x%3Fy%3D1%23z%7Bnum%7D%252f",
    ]);
  });

  test("appends the path to a Hub URL with a path", async () => {
    const hub = await openHub({});
    await connect(`${hub.url}/hub`).fetch("/api/whoami-v2");
    expect(hub.calls).toEqual(["GET /hub/api/whoami-v2"]);
  });

  test("streams the body until the signal is aborted", async () => {
    const hub = await openHub((_request, response) => void response.writeHead(200).write("begun"));
    const controller = new AbortController();
    const response = await connect(hub.url).fetch(path, { signal: controller.signal });
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(response.text()).rejects.toBe(reason);
  });
});

describe("hub.fetch throws ARGUMENT_INVALID before it sends a request, for", () => {
  const outside: readonly (readonly [string, unknown])[] = [
    ["no path", undefined],
    ["an empty path", ""],
    ["a path without a slash", "api/whoami-v2"],
    ["another host", "https://evil.example/api"],
    ["another host, in short", "//evil.example/api"],
    ["a host behind a backslash", "/\\evil.example/api"],
    ["a backslash further on", "/api\\..\\..\\evil"],
    ["what makes a user name of the address", "@evil.example/api"],
    ["what makes a port of it", ":81/api"],
    ["a step up", "/.."],
    ["a step up further on", "/api/../../settings"],
    ["a step up that is encoded", "/%2e%2E/api"],
    ["a step up half encoded", "/api/.%2e/x"],
    ["a step on the spot", "/api/./x"],
    ["a tab, which parsers leave out", "/\t/evil.example"],
    ["a line feed", "/api\n/x"],
    ["a space", "/api/my data"],
    ["half a character", "/api/\ud800"],
    ["a name that is not encoded", "/api/models/é"],
    ["a fragment", "/api/models#x"],
  ];
  test.each(outside)("%s", async (_what, given) => {
    const hub = await openHub({});
    for (const endpoint of [hub.url, `${hub.url}/hub`]) {
      expect(await rejectionOf(Reflect.apply(connect(endpoint).fetch, undefined, [given]))).toMatchObject({
        code: "ARGUMENT_INVALID",
        fields: ["path"],
      });
    }
    expect(hub.calls).toEqual([]);
  });

  const wrong: readonly (readonly [string, string, object])[] = [
    ["a param that is missing", "params.name", { path: "/api/{name}", params: { other: "x" } }],
    ["a param that every object has", "params.toString", { path: "/api/{toString}", params: {} }],
    ["placeholders without a value", "path", { path: "/api/{name}" }],
    ["a step up in a param", "path", { path: "/api/{name}/x", params: { name: "acme/../../settings" } }],
    ["an empty param", "params.name", { path: "/api/{name}/x", params: { name: "" } }],
    ["a param with two slashes in a row", "params.name", { path: "/api/{name}", params: { name: "acme//x" } }],
    ["half a character in a param", "params.name", { path: "/api/{name}", params: { name: "\ud800" } }],
    ["a method that there is not", "method", { method: "TRACE" }],
    ["a method in small letters", "method", { method: "post" }],
    ["a body that is no text", "body", { method: "POST", body: { title: "Hello" } }],
    ["a body of a GET", "body", { body: "{}" }],
    ["a token of the caller's", "headers", { headers: { Authorization: "Bearer other" } }],
    ["a header of the connection", "headers", { headers: { "Transfer-Encoding": "chunked" } }],
    ["a length that is counted anyway", "headers", { headers: { "content-length": "5" } }],
    ["a header that HTTP cannot carry", "headers", { headers: { "x-note": "a\nsecret" } }],
  ];
  test.each(wrong)("%s", async (_what, field, given) => {
    const hub = await openHub({});
    const { path: asked, ...init } = { path, ...given };
    const error = await rejectionOf(Reflect.apply(connect(hub.url).fetch, undefined, [asked, init]));
    expect(error).toMatchObject({ code: "ARGUMENT_INVALID", fields: [field] });
    expect(inspect(error)).not.toContain("secret");
    expect(hub.calls).toEqual([]);
  });

  test("but accepts encoded names in the path and in the query", async () => {
    const hub = await openHub({});
    const name = encodeURIComponent("a/..é '()*!~b");
    await connect(hub.url).fetch(`/api/${name}?q=${name}`);
    expect(hub.requests[0]?.path).toContain(`/api/${name}?q=`);
  });

  test("and without a token", async () => {
    const hub = await openHub({});
    const client = openClient(hub, { token: "with a space" });
    expect(await rejectionOf(client.fetch(path))).toMatchObject({ code: "HUB_TOKEN_INVALID" });
    expect(hub.calls).toEqual([]);
  });
});

describe("hub.fetch throws a HubError", () => {
  test("with the method and the path, and the reason of the Hub", async () => {
    const hub = await openHub({ status: 409, json: { error: "not today" } });
    const message = expect.stringContaining(`Could not POST ${path}: the Hub returned status 409: not today.`);
    const error = await rejectionOf(connect(hub.url).fetch(`${path}?q=1`, post));
    expect(error).toMatchObject({ name: "HubError", status: 409, code: "HUB_REFUSED", message });
  });

  test("without the token, and without the secrets of its body and its query", async () => {
    const planted = [token, "Planted-b0dy", "Planted-qu3ry"];
    const hub = await openHub((request, response) => {
      response.writeHead(400);
      response.end(JSON.stringify({ error: [JSON.stringify(request.headers), ...planted].join(" ") }));
    });
    const body = JSON.stringify({ secret: "Planted-b0dy" });
    const sent = connect(hub.url).fetch(`/api/${token}?token=Planted-qu3ry`, { method: "POST", body });
    const error = await rejectionOf(sent);
    expect(error).toMatchObject({ code: "HUB_REQUEST_INVALID", message: expect.stringContaining("[redacted]") });
    for (const secret of planted) expect(holdsSecret([inspect(error, { depth: 10 }), error], secret)).toBe(false);
  });

  test.each([
    ["of its headers", { headers: { "x-api-key": "Planted-h3ader" } }, "Planted-h3ader"],
    [
      "of a form",
      { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "a=1&secret=Planted%20f0rm" },
      "Planted f0rm",
    ],
  ])("without the secrets %s", async (_what, init, planted) => {
    const hub = await openHub((_request, response) => {
      response.writeHead(400);
      response.end(JSON.stringify({ error: `${planted} and ${encodeURIComponent(planted)}` }));
    });
    const error = await rejectionOf(connect(hub.url).fetch(path, { method: "POST", ...init }));
    expect(error).toMatchObject({ message: expect.stringContaining("[redacted]") });
    expect(holdsSecret([inspect(error, { depth: 10 }), error], planted)).toBe(false);
  });
});

describe("hub.fetch retries", () => {
  const reset: ScriptedAnswer = (request) => request.socket.resetAndDestroy();

  test.each(["GET", "HEAD", "PUT", "DELETE"] as const)("a %s without a complete response", async (method) => {
    const hub = await openHub({ status: 503 }, reset, {});
    const { fetch, waits } = connect(hub.url);
    expect((await fetch(path, { method })).status).toBe(200);
    expect(hub.calls).toEqual(Array(3).fill(`${method} ${path}`));
    expect(waits).toEqual([500, 1_000]);
  });

  test.each(["POST", "PATCH"] as const)("but no %s that the Hub may have processed", async (method) => {
    for (const answer of [{ status: 503 }, reset]) {
      const hub = await openHub(answer);
      const error = await rejectionOf(connect(hub.url).fetch(path, { method, body: "{}" }));
      expect(error).toMatchObject({ retryable: true, message: expect.stringContaining("check before you try again") });
      expect(hub.calls).toHaveLength(1);
    }
  });

  test.each(["POST", "PATCH"] as const)("a %s that the Hub cannot have processed, with its body", async (method) => {
    const hub = await openHub({ status: 429 }, {});
    await connect(hub.url).fetch(path, { method, body: "[1]" });
    expect(hub.requests.map(({ body }) => body)).toEqual(["[1]", "[1]"]);
    const nobody = connect(await closedAddress());
    expect(await rejectionOf(nobody.fetch(path, { method }))).toMatchObject({ code: "HUB_UNREACHABLE" });
    expect(nobody.waits).toHaveLength(3);
  });
});

const download = {
  requestLine: "GET /{repo}/resolve/{rev}/{path}",
  operationId: "download",
  summary: "Download a file",
  request: {
    params: z.object({ repo: z.string(), rev: z.string(), path: z.string() }),
    query: z.object({ expand: repeatable() }),
  },
  response: z.unknown(),
} as const satisfies Operation;

/** Returns the URL of a request without the origin. */
async function urlOf(input: OperationInput): Promise<string> {
  const target = { hubUrl: "", readToken: async () => "hf_local" };
  return (await prepareRequest(download, { input }, target)).url;
}

describe("The URL of a request", () => {
  test("keeps the slashes of a file's path, and encodes those of other parameters", async () => {
    const params = { repo: "a/b", rev: "refs/pr/1", path: "data/x y#?.txt" };
    expect(await urlOf({ params })).toBe("/a%2Fb/resolve/refs%2Fpr%2F1/data/x%20y%23%3F.txt");
  });

  test("ends before an empty path, which is the root folder", async () => {
    expect(await urlOf({ params: { repo: "a", rev: "main", path: "" } })).toBe("/a/resolve/main");
  });

  test.each(["..", "a/../b", "a//b", "/a", "a/", "./a", "a/\ud800"])(
    "is not created for a path that names another resource: %j",
    async (path) => {
      await expect(urlOf({ params: { repo: "a", rev: "main", path } })).rejects.toMatchObject({
        ...{ code: "ARGUMENT_INVALID", fields: ["path"] },
      });
    },
  );

  test("repeats a query parameter with several values", async () => {
    const params = { repo: "a", rev: "b", path: "c" };
    expect(await urlOf({ params, query: { expand: ["sha", "tags"] } })).toBe("/a/resolve/b/c?expand=sha&expand=tags");
  });
});
