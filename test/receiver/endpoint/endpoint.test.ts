import { describe, expect, test } from "vitest";
import { type EndpointOptions, WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const createServer = () => new WebhooksServer({ logger: createMemoryLogger() });

async function answerOf(server: WebhooksServer, endpoint: string): Promise<unknown> {
  const response = await server.fetch(deliveryRequest({ endpoint, payload: webhookPayload("repo") }));
  expect(response.status).toBe(200);
  return response.json();
}

describe("An endpoint's name", () => {
  test.each([
    ...["retrain", "on_change", "acme/retrain", "v1.2", "...", "a-b"],
    ...["-", "_", "0", "a/b/c/d", "constructor", "__proto__"],
  ])("may be %j, and is part of its URL", async (name) => {
    const server = createServer();
    server.webhook(name, () => "done");
    expect(await answerOf(server, name)).toBe("done");
  });

  test.each([
    ...["with space", "/", "//", "/a//b/", "a//b", ".", "..", "a/..", "./b", "a/./b", "d\u00e9j\u00e0"],
    ...["a?b", "a#b", "a%20b", "a:b", "a\nb", "a*", "bound on_change"],
  ])("may not be %j", (name) => {
    const server = createServer();
    expect(() => server.webhook(name, () => {})).toThrow(expect.objectContaining({ code: "ENDPOINT_NAME_INVALID" }));
    expect(server.endpointNames).toEqual([]);
  });

  test.each([
    ["/retrain", "retrain"],
    ["retrain/", "retrain"],
    ["/acme/retrain/", "acme/retrain"],
    ["//retrain//", "retrain"],
  ])("written as %j is %j", async (written, name) => {
    const server = createServer();
    server.webhook(written, () => "done");
    expect(server.endpointNames).toEqual([name]);
    expect(await answerOf(server, name)).toBe("done");
    expect(() => server.webhook(name, () => {})).toThrow(expect.objectContaining({ code: "ENDPOINT_EXISTS" }));
  });

  test("may also start and end with a slash in a decorator", () => {
    const server = createServer();
    class Bot {
      @server.webhook("/retrain/")
      on_change() {}
    }
    new Bot();
    expect(server.endpointNames).toEqual(["retrain"]);
  });

  test("must not be empty", () => {
    expect(() => createServer().webhook("", function on_change() {})).toThrow(
      expect.objectContaining({ code: "ENDPOINT_NAME_MISSING" }),
    );
  });

  test("must be unique: the first endpoint stays registered", async () => {
    const server = createServer();
    server.webhook("retrain", () => "first");
    expect(() => server.webhook("retrain", () => "second")).toThrow(
      expect.objectContaining({ code: "ENDPOINT_EXISTS" }),
    );
    expect(await answerOf(server, "retrain")).toBe("first");
  });

  test("is required for a method whose key is a symbol", () => {
    const server = createServer();
    const secretly = Symbol("secretly");
    class Bot {
      @server.webhook()
      [secretly]() {}
    }
    expect(() => new Bot()).toThrow(expect.objectContaining({ code: "ENDPOINT_NAME_INVALID" }));
  });
});

describe("An endpoint's options", () => {
  const nonsense: readonly [string, EndpointOptions, string][] = [
    ["a filter and no payload to filter", { schema: null, scope: "repo" }, "schema: null"],
    ["an empty filter", { scope: [] }, '"scope"'],
    ["a repository without its type", { repo: ":me/data" }, '"repo"'],
    ["a time limit of nothing", { timeout: 0 }, '"timeout"'],
    ["a time limit that no timer can keep", { timeout: "25d" }, '"timeout"'],
  ];

  test.each(nonsense)("are rejected at registration: %s", (_what, options, named) => {
    const server = createServer();
    expect(() => server.webhook("retrain", options, () => {})).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID", message: expect.stringContaining(named) }),
    );
    expect(server.endpointNames).toEqual([]);
  });
});
