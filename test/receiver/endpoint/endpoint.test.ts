import { describe, expect, test, vi } from "vitest";
import { type EndpointOptions, WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const createServer = () => new WebhooksServer({ logger: createMemoryLogger() });

const dataset = webhookPayload("repo");
const model = webhookPayload("repo", { repo: { type: "model", name: "acme/net" } });

const errorOf = (code: string) => expect.objectContaining({ code });

async function answerOf(server: WebhooksServer, endpoint: string, payload: unknown = dataset): Promise<unknown> {
  const response = await server.fetch(deliveryRequest({ endpoint, payload }));
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
    expect(() => server.webhook(name, () => {})).toThrow(errorOf("ENDPOINT_NAME_INVALID"));
    expect(server.endpointNames).toEqual([]);
  });

  test.each([
    ["/retrain", "retrain"],
    ["retrain/", "retrain"],
    ["/acme/retrain/", "acme/retrain"],
    ["//retrain//", "retrain"],
  ])("written as %j is %j and unique: the first endpoint stays registered", async (written, name) => {
    const server = createServer();
    server.webhook(written, () => "first");
    expect(() => server.webhook(name, () => "second")).toThrow(errorOf("ENDPOINT_EXISTS"));
    expect(server.endpointNames).toEqual([name]);
    expect(await answerOf(server, name)).toBe("first");
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
    expect(() => createServer().webhook("", function on_change() {})).toThrow(errorOf("ENDPOINT_NAME_MISSING"));
  });

  test("is required for a method whose key is a symbol", () => {
    const server = createServer();
    const secretly = Symbol("secretly");
    class Bot {
      @server.webhook()
      [secretly]() {}
    }
    expect(() => new Bot()).toThrow(errorOf("ENDPOINT_NAME_INVALID"));
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

describe("webhook with a handler", () => {
  test("registers a function under its name, or that of its variable, unless a name is given", async () => {
    const server = createServer();
    const from_variable = () => {};
    server.webhook(async function on_change(payload) {
      return payload.repo.name;
    });
    server.webhook(from_variable);
    server.webhook("acme/retrain", function other() {
      return "done";
    });
    expect(server.endpointNames).toEqual(["on_change", "from_variable", "acme/retrain"]);
    expect(await answerOf(server, "on_change")).toBe("acme/data");
    expect(await answerOf(server, "acme/retrain")).toBe("done");
  });

  test("applies the options", async () => {
    const server = createServer();
    server.webhook("retrain", { repo: "model:*/*" }, () => "done");
    expect(await answerOf(server, "retrain", model)).toBe("done");
    expect(await answerOf(server, "retrain", dataset)).toHaveProperty("ignored");
  });

  test("returns the handler itself, in each form", () => {
    const server = createServer();
    const handler = () => "done";
    expect(server.webhook(handler)).toBe(handler);
    expect(server.webhook("named", handler)).toBe(handler);
    expect(server.webhook("filtered", { scope: "repo" }, handler)).toBe(handler);
  });

  test.each([undefined, null, "handler", {}])("rejects %j as a handler", (handler) => {
    const server = createServer();
    expect(() => Reflect.apply(server.webhook, undefined, ["retrain", { scope: "repo" }, handler])).toThrow(
      errorOf("OPTION_INVALID"),
    );
    expect(server.endpointNames).toEqual([]);
  });

  test("works detached from the server", async () => {
    const server = createServer();
    const { webhook } = server;
    webhook("retrain", () => "done");
    expect(await answerOf(server, "retrain")).toBe("done");
  });

  test("registers endpoints after the launch, and logs their URLs", async () => {
    const logger = createMemoryLogger();
    await using server = new WebhooksServer({ logger });
    const { url, publicUrl } = await server.launch({ port: 0, host: "127.0.0.1" });
    server.webhook("late", () => "done");
    expect(logger.lines.at(-1)).toEqual({
      level: "info",
      msg: "Endpoint added.",
      endpoint: "late",
      url: `${publicUrl}/webhooks/late`,
    });
    const response = await fetch(deliveryRequest({ endpoint: "late", payload: dataset, baseUrl: url }));
    expect(await response.json()).toBe("done");
  });
});

describe("webhook as a decorator", () => {
  test("registers a method with the first instance, with `this` bound", async () => {
    const server = createServer();
    class Bot {
      readonly greeting: string;
      constructor(greeting: string) {
        this.greeting = greeting;
      }
      @server.webhook()
      async on_change(payload: { repo: { name: string } }) {
        return `${this.greeting} ${payload.repo.name}`;
      }
    }
    expect(server.endpointNames).toEqual([]);
    const bot = new Bot("hello");
    expect(server.endpointNames).toEqual(["on_change"]);
    expect(await answerOf(server, "on_change")).toBe("hello acme/data");
    // The method itself is not changed.
    expect(bot.on_change).toBe(Bot.prototype.on_change);
    // Another instance would receive no deliveries.
    expect(() => new Bot("again")).toThrow(errorOf("ENDPOINT_EXISTS"));
    expect(await answerOf(server, "on_change")).toBe("hello acme/data");
  });

  test("registers a static method with its class, with `this` bound to the class", async () => {
    const server = createServer();
    class Bot {
      readonly greeting = "hello";
      @server.webhook()
      static on_change() {
        return new this().greeting;
      }
    }
    expect(server.endpointNames).toEqual(["on_change"]);
    expect(await answerOf(server, "on_change")).toBe(new Bot().greeting);
  });

  test("accepts a name, options, or both", async () => {
    const server = createServer();
    class Bot {
      @server.webhook("acme/retrain")
      named() {
        return "named";
      }
      @server.webhook({ repo: "model:*/*" })
      filtered() {
        return "filtered";
      }
      @server.webhook("both", { repo: "model:*/*" })
      namedAndFiltered() {
        return "both";
      }
    }
    new Bot();
    expect(server.endpointNames).toEqual(["acme/retrain", "filtered", "both"]);
    expect(await answerOf(server, "acme/retrain")).toBe("named");
    expect(await answerOf(server, "filtered", model)).toBe("filtered");
    expect(await answerOf(server, "filtered", dataset)).toHaveProperty("ignored");
    expect(await answerOf(server, "both", model)).toBe("both");
    expect(await answerOf(server, "both", dataset)).toHaveProperty("ignored");
  });

  test("works without parentheses, with `this` bound", async () => {
    const server = createServer();
    class Bot {
      readonly greeting = "hello";
      @server.webhook
      async on_change(this: Bot) {
        return this.greeting;
      }
    }
    new Bot();
    expect(await answerOf(server, "on_change")).toBe("hello");
  });

  test.each(["field", "getter", "setter", "accessor", "class"])("rejects a %s", (kind) => {
    const server = createServer();
    const addInitializer = vi.fn();
    const call = [() => {}, { kind, name: "on_change", addInitializer }];
    expect(() => Reflect.apply(server.webhook(), undefined, call)).toThrow(errorOf("DECORATOR_INVALID"));
    expect(addInitializer).not.toHaveBeenCalled();
  });
});

describe("A filter that never matches", () => {
  test.each([
    ["scope", { scope: "repo.contents" }],
    ["action", { action: ["create", "updated"] }],
    ["repo", { repo: "datasets:acme/data" }],
    ["ref", { ref: "main" }],
  ] as const)("causes a warning at startup if the Hub does not send its %s", async (option, options) => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: "s3cret-of-ours" });
    server.webhook("retrain", options, () => "done");
    await server.ready();
    expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([
      expect.objectContaining({ endpoint: "retrain", msg: expect.stringContaining(`Option "${option}"`) }),
    ]);
  });

  test("is reported immediately if it is added later", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: "s3cret-of-ours" });
    await server.ready();
    server.webhook("retrain", { ref: "main" }, () => "done");
    expect(logger.text()).toContain("refs/heads/main");
  });

  test("is not reported for globs and known values", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: "s3cret-of-ours" });
    const options = { scope: "repo.content", action: "update", repo: "*:acme/**", ref: ["refs/pr/*", "**"] } as const;
    server.webhook("retrain", options, () => "done");
    await server.ready();
    expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

describe("A timeout longer than that of the Hub", () => {
  test.each(["31s", "1h"] as const)("is reported for an inline endpoint: %s", async (timeout) => {
    expect(await warningsOf((server) => server.webhook("retrain", { timeout }, () => "done"))).toEqual([
      expect.stringMatching(/^Option "timeout" is \d+ s, but after 30 s.* background: true/),
    ]);
  });

  test("is not reported in the background or up to 30 s", async () => {
    expect(
      await warningsOf((server) => {
        server.webhook("later", { timeout: "1h", background: true }, () => {});
        server.webhook("retrain", { timeout: "30s" }, () => "done");
      }),
    ).toEqual([]);
  });
});

describe("A call of webhook without a handler", () => {
  test.each([
    ["a request", (server: WebhooksServer) => server.request("/health")],
    ["ready()", (server: WebhooksServer) => server.ready()],
    ["launch()", (server: WebhooksServer) => server.launch({ port: 0 })],
    ["launch() without announcement", (server: WebhooksServer) => server.launch({ port: 0, announce: false })],
  ])("causes a warning at %s, with the call and the remedy", async (_how, start) => {
    const warnings = await warningsOf((server) => {
      server.webhook("forgotten", { scope: "repo", repo: "dataset:me/*" });
      server.webhook({ scope: "discussion" });
      server.webhook();
      server.webhook("retrain", () => "done");
    }, start);
    expect(warnings).toEqual([
      expect.stringMatching(/^webhook\("forgotten", { scope, repo }\) has no handler.* Pass the handler as the last/),
      expect.stringMatching(/^webhook\({ scope }\) has no handler/),
      expect.stringMatching(/^webhook\(\) has no handler/),
    ]);
  });

  test("is reported after startup, unlike a decorator", async () => {
    const warnings = await warningsOf(
      () => {},
      async (server) => {
        await server.request("/health");
        class Bot {
          @server.webhook("first", { scope: "repo" }) first() {}
          @server.webhook second() {}
        }
        new Bot();
        server.webhook("forgotten", { scope: "repo" });
      },
    );
    expect(warnings).toEqual([expect.stringMatching(/^webhook\("forgotten", { scope }\) has no handler/)]);
  });

  test("is not reported for the decorator of a class, instantiated or not", async () => {
    expect(
      await warningsOf((server) => {
        class Bot {
          @server.webhook("first") first() {}
          @server.webhook second() {}
        }
        class Never {
          @server.webhook("third") third() {}
        }
        return [new Bot(), Never];
      }),
    ).toEqual([]);
  });
});

/** Returns the warnings of a server with a secret, at declaration and at startup. */
async function warningsOf(
  declare: (server: WebhooksServer) => unknown,
  start: (server: WebhooksServer) => unknown = (server) => server.request("/health"),
): Promise<string[]> {
  const logger = createMemoryLogger();
  await using server = new WebhooksServer({ logger, secret: "s3cret-of-ours" });
  declare(server);
  await start(server);
  await Promise.resolve();
  return logger.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
}
