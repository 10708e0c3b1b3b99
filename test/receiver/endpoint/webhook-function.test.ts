import { describe, expect, test, vi } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const createServer = () => new WebhooksServer({ logger: createMemoryLogger() });
const dataset = webhookPayload("repo");
const model = webhookPayload("repo", { repo: { type: "model", name: "acme/net" } });

async function answerOf(server: WebhooksServer, endpoint: string, payload: unknown = dataset): Promise<unknown> {
  const response = await server.fetch(deliveryRequest({ endpoint, payload }));
  expect(response.status).toBe(200);
  return response.json();
}

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
      expect.objectContaining({ code: "OPTION_INVALID" }),
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

  test("rejects a second instance of the class", () => {
    const server = createServer();
    class Bot {
      @server.webhook()
      on_change() {}
    }
    new Bot();
    expect(() => new Bot()).toThrow(expect.objectContaining({ code: "ENDPOINT_EXISTS" }));
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
    expect(() => Reflect.apply(server.webhook(), undefined, call)).toThrow(
      expect.objectContaining({ code: "DECORATOR_INVALID" }),
    );
    expect(addInitializer).not.toHaveBeenCalled();
  });
});
