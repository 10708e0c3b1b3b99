import { beforeEach, describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { Transport, type TransportSettings } from "../../../src/hub/transport/transport.ts";
import { openHub, rejectionOf, type ScriptedAnswer, token } from "../scripted-hub.ts";

const readFile = {
  method: "get",
  path: "/{repo}/resolve/{path}",
  operationId: "readFile",
  summary: "Read a file",
  request: { params: z.object({ repo: z.string(), path: z.string() }) },
  response: z.unknown(),
} as const;

const params = { repo: "data", path: "a folder/ü.bin" };
const redirectTo = (location: string): ScriptedAnswer => ({ status: 302, headers: { location } });

function open(hubUrl: string, settings: Partial<TransportSettings> = {}) {
  const transport = new Transport({
    hubUrl,
    findToken: async () => token,
    fetch,
    timeoutMs: 2000,
    attempts: 2,
    wait: async () => {},
    ...settings,
  });
  return (maxBytes = 1000) => transport.download(readFile, { params }, { maxBytes });
}

describe("A download", () => {
  test("returns the bytes, and keeps the slashes of the path", async () => {
    const hub = await openHub({ text: "content" });
    expect(new TextDecoder().decode(await open(hub.url)())).toBe("content");
    expect(hub.requests[0]).toMatchObject({
      path: "/data/resolve/a%20folder/%C3%BC.bin",
      headers: { authorization: `Bearer ${token}`, accept: "*/*" },
    });
  });

  test.each(["../secrets", "a/../b", "a//b", "/a", "a/", "."])("of the path %j is not requested", async (path) => {
    const transport = new Transport({
      hubUrl: "http://127.0.0.1:9",
      findToken: async () => token,
      fetch: () => expect.unreachable(),
      timeoutMs: 2000,
      attempts: 1,
    });
    const download = transport.download(readFile, { params: { ...params, path } }, { maxBytes: 1 });
    expect(await rejectionOf(download)).toMatchObject({ code: "ARGUMENT_INVALID", fields: ["path"] });
  });

  test("with more than maxBytes bytes fails without a retry", async () => {
    const hub = await openHub({ text: "content" });
    expect(await rejectionOf(open(hub.url)(6))).toMatchObject({ code: "FILE_TOO_LARGE" });
    expect(hub.requests).toHaveLength(1);
    expect(await open(hub.url)(7)).toHaveLength(7);
  });

  test("is repeated after an interrupted response", async () => {
    const hub = await openHub(
      (_request, response) => {
        response.writeHead(200, { "content-length": "100" }).write("cont");
        setImmediate(() => response.destroy());
      },
      { text: "content" },
    );
    expect(await open(hub.url)()).toHaveLength(7);
  });
});

describe("A redirected download", () => {
  test("does not send the token to another server", async () => {
    const storage = await openHub({ text: "large" });
    const hub = await openHub(redirectTo(`${storage.url}/object?signature=1`));
    expect(await open(hub.url)()).toHaveLength(5);
    expect(storage.calls).toEqual(["GET /object?signature=1"]);
    expect(storage.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(JSON.stringify(storage.requests[0]?.headers)).not.toContain(token);
  });

  test("sends the token to the new name of the repository on the Hub", async () => {
    const hub = await openHub(redirectTo("/renamed/resolve/a"), { text: "content" });
    expect(await open(hub.url)()).toHaveLength(7);
    expect(hub.requests[1]).toMatchObject({
      path: "/renamed/resolve/a",
      headers: { authorization: `Bearer ${token}` },
    });
  });

  test("does not send the token to the Hub if another server redirects to the Hub", async () => {
    const paths: string[] = [];
    const hub = await openHub((request, response) => {
      paths.push(`${request.url} ${request.headers.authorization ? "with" : "without"} token`);
      const isFirst = paths.length === 1;
      response.writeHead(isFirst ? 302 : 200, isFirst ? { location: storage.url } : {}).end("content");
    });
    const storage = await openHub(redirectTo(`${hub.url}/api/settings`));
    await open(hub.url)();
    expect(paths).toEqual(["/data/resolve/a%20folder/%C3%BC.bin with token", "/api/settings without token"]);
  });

  test("ends after five redirects", async () => {
    const hub = await openHub(redirectTo("/again"));
    expect(await rejectionOf(open(hub.url)())).toMatchObject({ code: "HUB_REFUSED", status: 302 });
    expect(hub.requests).toHaveLength(6);
  });
});

test("A browser follows redirects itself, because it hides their targets", async () => {
  const redirects: unknown[] = [];
  const download = open("https://hub.example", {
    async fetch(_input, init) {
      redirects.push(init?.redirect);
      if (init?.redirect === "follow") return new Response("content");
      return Object.defineProperty(Response.error(), "type", { value: "opaqueredirect" });
    },
  });
  expect(await download()).toHaveLength(7);
  expect(redirects).toEqual(["manual", "follow"]);
});

describe("A Hub on another machine", () => {
  const requested: string[] = [];
  beforeEach(() => void requested.splice(0));

  function fetchRedirectedTo(location: string): typeof fetch {
    return async (input) => {
      requested.push(String(input));
      return requested.length === 1
        ? new Response(null, { status: 302, headers: { location } })
        : new Response("content");
    };
  }

  test.each([
    "http://storage.example/object",
    "http://127.0.0.1:8080/",
    "https://localhost/",
    "https://hub.localhost/",
    "https://[::1]/",
    "https://2130706433/",
    "https://user:password@storage.example/",
    "file:///etc/passwd",
    "data:,content",
    "https://",
  ])("cannot redirect a download to %s", async (location) => {
    const download = open("https://hub.example", { fetch: fetchRedirectedTo(location) });
    expect(await rejectionOf(download())).toMatchObject({ code: "HUB_REFUSED", status: 302 });
    expect(requested).toHaveLength(1);
  });

  test("can redirect a download to another server with HTTPS", async () => {
    await open("https://hub.example", { fetch: fetchRedirectedTo("https://storage.example/object") })();
    expect(requested[1]).toBe("https://storage.example/object");
  });
});
