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
  test("narrows the payload to what its scope promises", () => {
    const payload = parsePayload(webhookPayload("discussion.comment"));
    if (!isScope(payload, "discussion.comment")) throw new Error("This is a comment.");
    expectTypeOf(payload).toExtend<DiscussionCommentPayload>();
    expectTypeOf(payload.comment.content).toEqualTypeOf<string | undefined>();
    expect(payload.comment.content).toBeTypeOf("string");
  });

  test("leaves a payload of another scope as it was", () => {
    const payload = parsePayload(webhookPayload("repo.config", { updatedConfig: { private: true } }));
    if (isScope(payload, "repo.config")) {
      expectTypeOf(payload.updatedConfig).toExtend<RepoConfigPayload["updatedConfig"]>();
      expect(payload.updatedConfig.private).toBe(true);
    } else {
      expectTypeOf(payload.updatedConfig?.private).toEqualTypeOf<boolean | undefined>();
    }
  });

  test("takes known scopes only: of others nothing is known to narrow to", () => {
    const payload = parsePayload(webhookPayload("repo"));
    // @ts-expect-error A misspelt scope.
    expect(isScope(payload, "repo.contents")).toBe(false);
  });
});

describe("A payload", () => {
  test("names its known scopes, actions and repository types, and allows for others", () => {
    expectTypeOf<"scroll">().toExtend<WebhookPayload["repo"]["type"]>();
    expectTypeOf<"archive">().toExtend<WebhookPayload["event"]["action"]>();
    expectTypeOf<"dataset" | (string & {})>().toExtend<WebhookPayload["repo"]["type"]>();
    expectTypeOf<WebhookPayload["repo"]["type"]>().not.toEqualTypeOf<string>();
  });

  test("always has event, repo and webhook, whatever its scope", () => {
    expectTypeOf<PayloadOf<KnownScope>>().toExtend<Pick<WebhookPayload, "event" | "repo" | "webhook">>();
  });

  test("has everything else only perhaps", () => {
    type Further = Omit<WebhookPayload, "event" | "repo" | "webhook">;
    expectTypeOf<Record<never, never>>().toExtend<Further>();
    expectTypeOf<keyof Further>().toEqualTypeOf<
      "updatedRefs" | "updatedFiles" | "updatedFilesTruncated" | "updatedConfig" | "movedTo" | "discussion" | "comment"
    >();
  });

  test("made for a test has the type of its scope and repository type", () => {
    expectTypeOf(webhookPayload("discussion.comment").comment.id).toEqualTypeOf<string>();
    expectTypeOf(webhookPayload("repo.content").updatedRefs).toExtend<readonly object[]>();
    const bucket = webhookPayload("repo.content", { repo: { type: "bucket" } });
    expectTypeOf(bucket.updatedFiles).toExtend<readonly object[]>();
    // @ts-expect-error A bucket has no refs.
    expect(bucket.updatedRefs).toBeUndefined();
    // @ts-expect-error The samples are of known scopes.
    expect(() => parsePayload(webhookPayload("repo.seals"))).not.toThrow();
  });
});

describe("A logger", () => {
  test("may be pino's", () => {
    const logger = pino({ level: "silent" });
    expectTypeOf(logger).toExtend<Logger>();
    expectTypeOf(logger.info).toExtend<LogMethod>();
    expect(new WebhooksServer({ logger }).endpointNames).toEqual([]);
  });

  test("may not be the console, which has no children", () => {
    expectTypeOf(console).not.toExtend<Logger>();
  });
});

describe("WebhookError", () => {
  test("is narrowed to by isInstance, its code one of a known few", () => {
    const error: unknown = new WebhookError("nothing there", { code: "NOT_FOUND" });
    if (!WebhookError.isInstance(error)) throw new Error("This is one.");
    expectTypeOf(error).toEqualTypeOf<WebhookError>();
    expectTypeOf(error.code).toEqualTypeOf<WebhookErrorCode>();
    // @ts-expect-error There is no such code.
    expect(error.code === "NOT_FOUNDED").toBe(false);
  });
});

test("isScope leaves the rest of a chain to be narrowed further", () => {
  const read = (payload: WebhookPayload) => {
    if (isScope(payload, "repo.content")) return payload.updatedRefs ?? payload.updatedFiles;
    if (isScope(payload, "repo.config")) return payload.updatedConfig.private;
    if (isScope(payload, "discussion.comment")) return payload.comment.content;
    return payload.movedTo?.name;
  };
  expect(read(webhookPayload("repo.config", { updatedConfig: { private: true } }))).toBe(true);
  expect(read(webhookPayload("discussion.comment", { comment: { content: "hello" } }))).toBe("hello");
});
