import { pino } from "pino";
import { describe, expect, expectTypeOf, test } from "vitest";
import {
  type DiscussionCommentPayload,
  isScope,
  type KnownScope,
  type Logger,
  type LogMethod,
  type PayloadOf,
  parsePayload,
  type RepoConfigPayload,
  WebhookError,
  type WebhookErrorCode,
  type WebhookPayload,
  WebhooksServer,
} from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";

describe("isScope", () => {
  test("narrows the payload to the fields of its scope", () => {
    const payload = parsePayload(webhookPayload("discussion.comment"));
    if (!isScope(payload, "discussion.comment")) throw new Error("This is a comment.");
    expectTypeOf(payload).toExtend<DiscussionCommentPayload>();
    expectTypeOf(payload.comment.content).toEqualTypeOf<string | undefined>();
    expect(payload.comment.content).toBeTypeOf("string");
  });

  test("does not change the type of a payload of another scope", () => {
    const payload = parsePayload(webhookPayload("repo.config", { updatedConfig: { private: true } }));
    if (isScope(payload, "repo.config")) {
      expectTypeOf(payload.updatedConfig).toExtend<RepoConfigPayload["updatedConfig"]>();
      expect(payload.updatedConfig.private).toBe(true);
    } else {
      expectTypeOf(payload.updatedConfig?.private).toEqualTypeOf<boolean | undefined>();
    }
  });

  test("accepts known scopes only, because the fields of others are unknown", () => {
    const payload = parsePayload(webhookPayload("repo"));
    // @ts-expect-error A misspelled scope.
    expect(isScope(payload, "repo.contents")).toBe(false);
  });
});

describe("A payload", () => {
  test("lists the known scopes, actions and repository types, and accepts others", () => {
    expectTypeOf<"scroll">().toExtend<WebhookPayload["repo"]["type"]>();
    expectTypeOf<"archive">().toExtend<WebhookPayload["event"]["action"]>();
    expectTypeOf<"dataset" | (string & {})>().toExtend<WebhookPayload["repo"]["type"]>();
    expectTypeOf<WebhookPayload["repo"]["type"]>().not.toEqualTypeOf<string>();
  });

  test("always has event, repo and webhook", () => {
    expectTypeOf<PayloadOf<KnownScope>>().toExtend<Pick<WebhookPayload, "event" | "repo" | "webhook">>();
  });

  test("has only optional fields otherwise", () => {
    type Further = Omit<WebhookPayload, "event" | "repo" | "webhook">;
    expectTypeOf<Record<never, never>>().toExtend<Further>();
    expectTypeOf<keyof Further>().toEqualTypeOf<
      "updatedRefs" | "updatedFiles" | "updatedFilesTruncated" | "updatedConfig" | "movedTo" | "discussion" | "comment"
    >();
  });

  test("from webhookPayload() has the type of its scope and repository type", () => {
    expectTypeOf(webhookPayload("discussion.comment").comment.id).toEqualTypeOf<string>();
    expectTypeOf(webhookPayload("repo.content").updatedRefs).toExtend<readonly object[]>();
    const bucket = webhookPayload("repo.content", { repo: { type: "bucket" } });
    expectTypeOf(bucket.updatedFiles).toExtend<readonly object[]>();
    // @ts-expect-error A bucket has no refs.
    expect(bucket.updatedRefs).toBeUndefined();
    // @ts-expect-error Samples exist for known scopes only.
    expect(() => parsePayload(webhookPayload("repo.seals"))).not.toThrow();
  });
});

describe("A logger", () => {
  test("can be one from pino", () => {
    const logger = pino({ level: "silent" });
    expectTypeOf(logger).toExtend<Logger>();
    expectTypeOf(logger.info).toExtend<LogMethod>();
    expect(new WebhooksServer({ logger }).endpointNames).toEqual([]);
  });

  test("cannot be the console, which has no child loggers", () => {
    expectTypeOf(console).not.toExtend<Logger>();
  });
});

describe("WebhookError", () => {
  test("is narrowed by isInstance, with a union of known codes", () => {
    const error: unknown = new WebhookError("nothing there", { code: "NOT_FOUND" });
    if (!WebhookError.isInstance(error)) throw new Error("This is one.");
    expectTypeOf(error).toEqualTypeOf<WebhookError>();
    expectTypeOf(error.code).toEqualTypeOf<WebhookErrorCode>();
    // @ts-expect-error There is no such code.
    expect(error.code === "NOT_FOUNDED").toBe(false);
  });
});

test("A chain of isScope checks narrows the remaining cases", () => {
  const read = (payload: WebhookPayload) => {
    if (isScope(payload, "repo.content")) return payload.updatedRefs ?? payload.updatedFiles;
    if (isScope(payload, "repo.config")) return payload.updatedConfig.private;
    if (isScope(payload, "discussion.comment")) return payload.comment.content;
    return payload.movedTo?.name;
  };
  expect(read(webhookPayload("repo.config", { updatedConfig: { private: true } }))).toBe(true);
  expect(read(webhookPayload("discussion.comment", { comment: { content: "hello" } }))).toBe("hello");
});
