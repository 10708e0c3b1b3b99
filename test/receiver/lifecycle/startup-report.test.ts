import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

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
