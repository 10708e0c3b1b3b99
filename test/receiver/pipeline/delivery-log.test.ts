import { describe, expect, test } from "vitest";
import { WebhooksServer } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger, type MemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";

/** Creates a receiver with an empty log. */
function createLogged() {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ logger, secret: "s3cret", createId: () => "made-here" });
  const linesOf = (endpoint: string) => logger.lines.filter((line) => line.endpoint === endpoint);
  return { logger, server, linesOf };
}

const delivery = (endpoint: string, payload: unknown = webhookPayload("repo.content")) =>
  deliveryRequest({ endpoint, payload, secret: "s3cret", id: "d-1" });

const withoutSecret = deliveryRequest({ endpoint: "retrain", payload: {} });

describeOverBothTransports("The log line of a delivery", (send) => {
  test("that succeeded contains its id, repository, scope, outcome and duration", async () => {
    const { server, linesOf } = createLogged();
    server.webhook("retrain", () => "done");
    await send(server, delivery("retrain"));
    expect(linesOf("retrain")).toEqual([
      {
        level: "info",
        msg: "delivery succeeded",
        endpoint: "retrain",
        deliveryId: "d-1",
        repo: "dataset:acme/data",
        scope: "repo.content",
        action: "update",
        outcome: "succeeded",
        status: 200,
        ms: expect.any(Number),
      },
    ]);
  });

  test("that was ignored contains the reason", async () => {
    const { server, linesOf } = createLogged();
    server.webhook("retrain", { scope: "discussion" }, () => "done");
    await send(server, delivery("retrain"));
    expect(linesOf("retrain")).toEqual([
      expect.objectContaining({
        level: "info",
        msg: "delivery ignored",
        deliveryId: "d-1",
        outcome: "ignored",
        reason: "scope repo.content is not discussion",
        status: 200,
      }),
    ]);
  });

  test("whose handler failed is an error with the code and the thrown value", async () => {
    const { server, linesOf } = createLogged();
    const thrown = new Error("no GPU is free");
    server.webhook("retrain", () => {
      throw thrown;
    });
    await send(server, delivery("retrain"));
    expect(linesOf("retrain")).toEqual([
      expect.objectContaining({
        level: "error",
        msg: "delivery failed: no GPU is free.",
        deliveryId: "d-1",
        outcome: "failed",
        code: "HANDLER_FAILED",
        status: 500,
        err: thrown,
      }),
    ]);
  });

  test("of an endpoint with its own schema has no repository", async () => {
    const { server, linesOf } = createLogged();
    server.webhook("inbox", { schema: null }, () => "done");
    await send(server, delivery("inbox", { repo: { type: "dataset", name: "not/checked" } }));
    expect(linesOf("inbox")).toEqual([
      expect.objectContaining({ deliveryId: "d-1", repo: undefined, scope: undefined, action: undefined }),
    ]);
  });

  test.each([
    ["to no endpoint", delivery("none"), { path: "/webhooks/none", code: "ENDPOINT_UNKNOWN", status: 404 }],
    ["without the secret", withoutSecret, { endpoint: "retrain", code: "SECRET_MISSING", status: 401 }],
    ["of a wrong shape", delivery("retrain", {}), { endpoint: "retrain", code: "PAYLOAD_INVALID", status: 422 }],
  ])("%s is a warning with the reason that was answered", async (_how, request, fields) => {
    const { server, logger } = createLogged();
    server.webhook("retrain", () => "done");
    const { error } = await (await send(server, request.clone())).json();
    const refused = logger.lines.filter((line) => line.msg.startsWith("delivery refused"));
    expect(refused).toEqual([expect.objectContaining({ level: "warn", msg: `delivery refused: ${error}`, ...fields })]);
  });
});

/** Returns the logged unknown values of payloads. */
function unknownValues({ lines }: MemoryLogger): unknown[] {
  return lines.filter((line) => "unknown" in line).map(({ unknown }) => unknown);
}

describe("The lines of failures", () => {
  function createFailing() {
    const clock = { now: Date.parse("2026-10-01T10:00:00Z") };
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: false, now: () => clock.now });
    const errors = { csv: new TypeError("No header row\nin train.csv"), disk: new Error("The disk is full!") };
    const thrown: { next: unknown } = { next: errors.csv };
    server.webhook("check", () => {
      throw thrown.next;
    });
    const fail = async (next: unknown = thrown.next) => {
      thrown.next = next;
      await server.fetch(deliveryRequest({ endpoint: "check", payload: webhookPayload("repo.content") }));
      return logger.lines.findLast(({ outcome }) => outcome === "failed");
    };
    return { clock, errors, fail };
  }

  test("contain the stack of the same error once in ten minutes", async () => {
    const { clock, errors, fail } = createFailing();
    expect(await fail()).toMatchObject({ err: errors.csv });
    const again = await fail();
    expect(again).toMatchObject({ repeated: 1, msg: "delivery failed: TypeError: No header row." });
    expect(again).not.toHaveProperty("err");
    clock.now += 600_000;
    expect(await fail()).toMatchObject({ repeated: 2 });
    clock.now += 1;
    expect(await fail()).toMatchObject({ err: errors.csv });
  });

  test("contain the stack of another error, and of a clock that was set back", async () => {
    const { clock, errors, fail } = createFailing();
    await fail();
    expect(await fail(errors.disk)).toMatchObject({ err: errors.disk, msg: "delivery failed: The disk is full!" });
    expect(await fail(errors.csv)).toMatchObject({ err: errors.csv });
    clock.now -= 600_001;
    expect(await fail()).toMatchObject({ err: errors.csv });
  });

  test.each([
    ["a text", "no header row", "delivery failed: no header row."],
    ["an error without a message", new Error(""), 'delivery failed: The handler of endpoint "check" failed.'],
    ["a long message", new Error("x".repeat(501)), 'delivery failed: The handler of endpoint "check" failed.'],
  ])("contain what the handler threw: %s", async (_what, thrown, msg) => {
    const { fail } = createFailing();
    expect(await fail(thrown)).toMatchObject({ msg, err: thrown });
  });
});

describe("A log", () => {
  test("contains no valid secret, no wrong secret and no payload", async () => {
    const { server, logger } = createLogged();
    server.webhook("retrain", () => {
      throw new Error("failed");
    });
    await server.fetch(delivery("retrain", { ...webhookPayload("repo"), further: "planted-value" }));
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload: {}, secret: "planted-guess" }));
    expect(logger.text()).not.toMatch(/s3cret|planted/);
  });

  test.each([
    [[], {}],
    [["scope repo.seals"], { event: { action: "update", scope: "repo.seals" } }],
    [["action archive"], { event: { action: "archive", scope: "repo" } }],
    [["repository type scroll"], { repo: { ...webhookPayload("repo").repo, type: "scroll" } }],
    [["payload version 4"], { webhook: { id: "1", version: 4 } }],
    [["scope repo.seals", "action archive"], { event: { action: "archive", scope: "repo.seals" } }],
  ])("reports each unknown scope, action, repository type and version once: %j", async (names, change) => {
    const { server, logger } = createLogged();
    server.webhook("retrain", () => "done");
    for (let time = 0; time < 2; time += 1) {
      await server.fetch(delivery("retrain", { ...webhookPayload("repo"), ...change }));
    }
    expect(unknownValues(logger)).toEqual(names);
  });

  test("reports at most 100 unknown names", async () => {
    const { server, logger } = createLogged();
    server.webhook("retrain", () => "done");
    for (let number = 0; number < 150; number += 1) {
      await server.receive({ ...webhookPayload("repo"), event: { action: "update", scope: `repo.${number}` } });
    }
    expect(unknownValues(logger)).toHaveLength(100);
  });
});
