import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { EdgeVM } from "@edge-runtime/vm";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { HubClient, HubError } from "../../src/client.ts";
import { packageVersion } from "../../src/hub/validation/unknown-parts.ts";
import { bundleForWorker } from "../support/worker-bundle.ts";
import {
  connect,
  jobWebhook,
  openClient,
  openHub,
  openSocketHub,
  rejectionOf,
  token,
  urlWebhook,
  webhookCalls,
} from "./scripted-hub.ts";

/** Returns the number of timers that keep this process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
}

/** Sets the random part of each wait between attempts to 0. */
beforeEach(() => {
  vi.spyOn(Math, "random").mockReturnValue(0);
  return () => vi.restoreAllMocks();
});

describe("A HubClient", () => {
  test("calls the Hub with the given token", async () => {
    const hub = await openSocketHub({ json: [urlWebhook, jobWebhook] });
    const client = new HubClient({ token, hubUrl: `${hub.url}/` });
    expect(client.hubUrl).toBe(hub.url);
    expect(await client.webhooks.list()).toEqual([urlWebhook, jobWebhook]);
    expect(hub.requests[0]?.headers.authorization).toBe(`Bearer ${token}`);
  });

  test("sends requests with the given fetch, without an object", async () => {
    const fetchLike = vi.fn(async function (this: unknown) {
      expect(this).toBeUndefined();
      return Response.json([]);
    });
    await new HubClient({ token, hubUrl: "https://hub.example", fetch: fetchLike }).webhooks.list();
    expect(fetchLike).toHaveBeenCalledExactlyOnceWith(
      "https://hub.example/api/settings/webhooks",
      expect.objectContaining({ method: "GET", redirect: "manual" }),
    );
  });

  test.each<[field: string, options: object, message?: string]>([
    ...[0, -1, Number.NaN, 2 ** 31].map((timeout): [string, object] => ["timeout", { timeout }]),
    ...[0, 1.5, Number.POSITIVE_INFINITY].map((attempts): [string, object] => ["attempts", { attempts }]),
    ["token", { token: 7 }],
    ["tokn", { tokn: "hf_local" }, 'Did you mean "token"?'],
  ])("throws OPTION_INVALID for %s in %j", (field, options, message = "") => {
    expect(() => Reflect.construct(HubClient, [{ token, ...options }])).toThrow(
      expect.objectContaining({
        ...{ name: "HubError", code: "OPTION_INVALID", fields: [field], message: expect.stringContaining(message) },
      }),
    );
  });

  test("retries a call up to the given number of attempts", async () => {
    const hub = await openHub({ status: 503, headers: { "retry-after": "0" } }, { json: [] });
    expect(await openClient(hub, { attempts: 2 }).webhooks.list()).toEqual([]);
    const broken = await openHub({ status: 503 });
    expect(await rejectionOf(openClient(broken, { attempts: 1 }).webhooks.list())).toMatchObject({
      code: "HUB_FAILED",
    });
    expect(broken.calls).toHaveLength(1);
  });
});

describe("A timeout", () => {
  test.each<[string, boolean]>([
    ["before an answer", false],
    ["in the middle of an answer", true],
  ])("ends an attempt %s", async (_when, begun) => {
    const hub = await openHub((_request, response) => {
      if (begun) response.write("[");
    });
    const error = await rejectionOf(connect(hub.url, { timeoutMs: 200, attempts: 2 }).webhooks.list());
    expect(error).toMatchObject({
      code: "HUB_TIMED_OUT",
      retryable: true,
      message: expect.stringContaining("within 200 ms"),
    });
    expect(hub.calls).toHaveLength(2);
  });

  test("ends an attempt whose fetch ignores its signal", async () => {
    const deaf: typeof fetch = () => new Promise(() => {});
    const { webhooks } = connect("https://hub.example", { fetch: deaf, timeoutMs: 20, attempts: 1 });
    expect(await rejectionOf(webhooks.list())).toMatchObject({ code: "HUB_TIMED_OUT" });
  });

  test("does not keep the process alive after the response", async () => {
    const { webhooks } = connect("https://hub.example", { fetch: async () => Response.json([]) });
    const before = timers();
    await webhooks.list();
    // A timer that existed before may have ended.
    expect(timers()).toBeLessThanOrEqual(before);
  });

  test("keeps the status of an error response with an endless body", async () => {
    const hub = await openHub((_request, response) => response.writeHead(403).write("no"));
    expect(await rejectionOf(connect(hub.url, { timeoutMs: 300 }).webhooks.list())).toMatchObject({
      code: "HUB_FORBIDDEN",
    });
  });
});

describe("An abort", () => {
  const reason = new Error("the user has left");

  test("before the call neither reads the token nor calls fetch", async () => {
    const used: string[] = [];
    const { webhooks, organizations, fetch } = connect("https://hub.example", {
      fetch: async () => {
        used.push("fetch");
        return Response.json([]);
      },
      findToken: async () => {
        used.push("token");
        return token;
      },
    });
    const signal = AbortSignal.abort(reason);
    const calls = [
      ...Object.values(webhookCalls).map((call) => call(webhooks, { signal })),
      organizations.members("acme", {}, { signal }).pages().next(),
      organizations.auditLog("acme", {}, { signal }).next(),
      fetch("/api/whoami-v2", { signal }),
    ];
    for (const call of calls) expect(await rejectionOf(call)).toBe(reason);
    expect(used).toEqual([]);
  });

  test("ends a streamed list, even if fetch ignores the signal", async () => {
    const controller = new AbortController();
    const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode("[")) });
    const { organizations } = connect("https://hub.example", { fetch: async () => new Response(body) });
    const next = organizations.auditLog("acme", {}, controller).next();
    setImmediate(() => controller.abort(reason));
    expect(await rejectionOf(next)).toBe(reason);
  });

  test("ends the call while the token is read, even if fetch ignores the signal", async () => {
    const controller = new AbortController();
    const { webhooks } = connect("https://hub.example", {
      fetch: () => new Promise(() => {}),
      findToken: async () => {
        controller.abort(reason);
        return token;
      },
    });
    expect(await rejectionOf(webhooks.list(controller))).toBe(reason);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ["while the Hub is silent", () => {}],
    ["in the middle of an answer", (response) => response.write("[")],
    ["in the middle of an error response", (response) => response.writeHead(403).write("no")],
  ])("%s rejects with its reason, without a retry", async (_when, begin) => {
    const controller = new AbortController();
    const hub = await openHub((_request, response) => {
      begin(response);
      setImmediate(() => controller.abort(reason));
    });
    expect(await rejectionOf(connect(hub.url).webhooks.list(controller))).toBe(reason);
    expect(hub.calls).toHaveLength(1);
  });

  test("during the wait between two attempts rejects with its reason", async () => {
    const controller = new AbortController();
    const hub = await openHub((_request, response) => {
      response.writeHead(429, { "retry-after": "60" }).end();
      response.on("close", () => setTimeout(() => controller.abort(reason), 20));
    });
    const client = openClient(hub);
    const before = timers();
    expect(await rejectionOf(client.webhooks.list(controller))).toBe(reason);
    expect(hub.calls).toHaveLength(1);
    // A timer that existed before may have ended.
    expect(timers()).toBeLessThanOrEqual(before);
  });

  test("between the read and the write of an update writes nothing", async () => {
    const controller = new AbortController();
    const hub = await openHub((_request, response) => {
      controller.abort(reason);
      response.end(JSON.stringify({ webhook: urlWebhook }));
    });
    const update = connect(hub.url).webhooks.update("w1", { domains: ["repo"] }, controller);
    expect(await rejectionOf(update)).toBe(reason);
    expect(hub.calls).toEqual(["GET /api/settings/webhooks/w1"]);
  });

  test("with a HubError as its reason is not retried", async () => {
    const own = new HubError("enough", { code: "HUB_FAILED", retryable: true });
    const controller = new AbortController();
    const hub = await openHub(() => setImmediate(() => controller.abort(own)));
    expect(await rejectionOf(connect(hub.url).webhooks.list(controller))).toBe(own);
    expect(hub.calls).toHaveLength(1);
  });

  test("removes its listeners from the signal after the call", async () => {
    const { signal } = new AbortController();
    const hub = await openHub({ status: 503, headers: { "retry-after": "0" } }, { json: [] });
    await openClient(hub).webhooks.list({ signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

test("packageVersion is the version in package.json", () => {
  const { name, version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(packageVersion).toBe(`${name} ${version}`);
});

test("In a runtime without Node the client loads, reads its token from the option, and throws without one", {
  tags: "slow",
}, async () => {
  const vm = new EdgeVM();
  vm.evaluate(
    await bundleForWorker(`
      import { HubClient, HubError } from "./client.ts";
      export async function list(token) {
        const hub = new HubClient({ token, fetch: async (url, { headers }) => Response.json([{
          id: [url, headers.authorization].join(" "), disabled: false, watched: [], domains: [],
        }]) });
        return hub.webhooks.list().then(([{ id }]) => id, (error) => [HubError.isInstance(error), error.code].join(" "));
      }
    `),
  );
  expect(await vm.evaluate('worker.list("hf_worker")')).toBe(
    "https://huggingface.co/api/settings/webhooks Bearer hf_worker",
  );
  expect(await vm.evaluate("worker.list()")).toBe("true HUB_TOKEN_MISSING");
});
