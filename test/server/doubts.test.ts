import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../src/index.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

describe("A filter that nothing would pass", () => {
  test.each([
    ["scope", { scope: "repo.contents" }],
    ["action", { action: ["create", "updated"] }],
    ["repo", { repo: "datasets:acme/data" }],
    ["ref", { ref: "main" }],
  ] as const)(
    "is warned about at the start where its %s is one that the Hub does not send",
    async (option, options) => {
      const logger = createMemoryLogger();
      const server = new WebhooksServer({ logger, secret: "s3cret" });
      server.webhook("retrain", options, () => "done");
      await server.start();
      expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([
        expect.objectContaining({ endpoint: "retrain", msg: expect.stringContaining(`Option "${option}"`) }),
      ]);
    },
  );

  test("is warned about at once where it is added later", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: "s3cret" });
    await server.start();
    server.webhook("retrain", { ref: "main" }, () => "done");
    expect(logger.text()).toContain("refs/heads/main");
  });

  test("is not what globs and known values are", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: "s3cret" });
    const options = { scope: "repo.content", action: "update", repo: "*:acme/**", ref: ["refs/pr/*", "**"] } as const;
    server.webhook("retrain", options, () => "done");
    await server.start();
    expect(logger.lines.filter(({ level }) => level === "warn")).toEqual([]);
  });
});

test("A launch without any endpoint says that there is none", async () => {
  const logger = createMemoryLogger();
  await using server = new WebhooksServer({ logger, secret: "s3cret" });
  server.webhook("forgotten");
  await server.launch({ port: 0, host: "127.0.0.1", ownsProcess: false });
  expect(logger.lines.find(({ level }) => level === "warn")?.msg).toContain("No endpoint is registered");
});
