import type { StandardSchemaV1 } from "@standard-schema/spec";
import { pino } from "pino";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import { HubClient, type HubClientOptions } from "../../src/client.ts";
import {
  type BucketContentPayload,
  type DiscussionCommentPayload,
  type DiscussionPayload,
  type GitContentPayload,
  type HandlerContext,
  isScope,
  type KnownScope,
  type Logger,
  type LogMethod,
  type PayloadOf,
  parsePayload,
  type RepoConfigPayload,
  type RepoContentPayload,
  type RepoPayload,
  WebhookError,
  type WebhookErrorCode,
  type WebhookPayload,
  WebhooksServer,
} from "../../src/index.ts";
import { webhookPayload } from "../../src/testing.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

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

describe("The type of the Hub client", () => {
  test("is HubClient, in handlers and on the server", () => {
    const server = new WebhooksServer({ logger: createMemoryLogger() });
    server.webhook("any", (_payload, { hub }) => expectTypeOf(hub).toEqualTypeOf<HubClient>());
    server.webhook("paths", { scope: "repo.content", paths: ["data/**"], ignoreSelf: true }, (payload, { hub }) => {
      expectTypeOf(hub.repo(payload.repo).readText("README.md")).toEqualTypeOf<Promise<string>>();
    });
    expectTypeOf(server.hub).toEqualTypeOf<HubClient>();
    expect(server.endpointNames).toEqual(["any", "paths"]);
  });

  test("is set by a client or by its options, whose fetch function has typed parameters", () => {
    const logger = createMemoryLogger();
    const client = new HubClient({ token: "hf_local" });
    const options: HubClientOptions = { token: "hf_local" };
    expect([client, options].map((hub) => new WebhooksServer({ logger, hub }).endpointNames)).toEqual([[], []]);
    new WebhooksServer({
      logger,
      hub: {
        fetch: async (input, init) => {
          expectTypeOf(input).toEqualTypeOf<Parameters<typeof fetch>[0]>();
          return fetch(input, init);
        },
      },
    });
    // @ts-expect-error A text is no client.
    expect(() => new WebhooksServer({ logger, hub: "hf_local" })).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});

const createServer = () => new WebhooksServer({ logger: createMemoryLogger() });

describe("The type of a payload", () => {
  test("is WebhookPayload without a scope", () => {
    const server = createServer();
    server.webhook("any", (payload) => expectTypeOf(payload).toEqualTypeOf<WebhookPayload>());
    server.webhook("limited", { timeout: "5s" }, (payload) => expectTypeOf(payload).toEqualTypeOf<WebhookPayload>());
    server.webhook("model", { repo: "model:me/*", action: "update" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
  });

  test("follows from the scope", () => {
    const server = createServer();
    server.webhook("repo", { scope: "repo" }, (payload) => expectTypeOf(payload).toEqualTypeOf<RepoPayload>());
    server.webhook("content", { scope: "repo.content" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<RepoContentPayload>(),
    );
    server.webhook("config", { scope: "repo.config" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<RepoConfigPayload>(),
    );
    server.webhook("discussion", { scope: "discussion" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<DiscussionPayload>(),
    );
    server.webhook("comment", { scope: "discussion.comment" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<DiscussionCommentPayload>(),
    );
  });

  test("has exactly the fields of the scope", () => {
    createServer().webhook("comment", { scope: "discussion.comment" }, (payload) => {
      expectTypeOf(payload.comment.content).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.comment.hidden).toEqualTypeOf<boolean>();
      expectTypeOf(payload.discussion.num).toEqualTypeOf<number>();
      // @ts-expect-error A comment has no updated refs.
      payload.updatedRefs;
      // @ts-expect-error Only a settings change has this.
      payload.updatedConfig;
    });
    createServer().webhook("config", { scope: "repo.config" }, (payload) => {
      expectTypeOf(payload.updatedConfig.private).toEqualTypeOf<boolean | undefined>();
      // @ts-expect-error A settings change has no discussion.
      payload.discussion;
    });
    createServer().webhook("repo", { scope: "repo" }, (payload) => {
      expectTypeOf(payload.movedTo?.owner.id).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.repo.headSha).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.repo.subdomain).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.repo.tags).toEqualTypeOf<string[] | undefined>();
    });
  });

  test("is a union for several scopes", () => {
    createServer().webhook("some", { scope: ["repo.config", "discussion.comment"] }, (payload) => {
      expectTypeOf(payload).toEqualTypeOf<RepoConfigPayload | DiscussionCommentPayload>();
      // @ts-expect-error The delivery can have the other scope.
      payload.comment;
    });
  });

  test("is WebhookPayload for an unknown scope", () => {
    createServer().webhook("dois", { scope: "repo.config.dois" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
  });

  test("is WebhookPayload if the scope can be undefined", () => {
    const scope = process.argv.length > 1_000 ? "repo.config" : undefined;
    createServer().webhook("perhaps", { scope }, (payload) => expectTypeOf(payload).toEqualTypeOf<WebhookPayload>());
    createServer().webhook("never", { scope: undefined }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
  });

  test("of a content update follows from the repository type: files for a bucket, refs for others", () => {
    const server = createServer();
    server.webhook("bucket", { scope: "repo.content", repo: "bucket:me/*" }, (payload) => {
      expectTypeOf(payload).toEqualTypeOf<BucketContentPayload>();
      expectTypeOf(payload.updatedFiles).items.toHaveProperty("xetHash");
      // @ts-expect-error A bucket has no refs.
      payload.updatedRefs;
    });
    server.webhook("dataset", { scope: "repo.content", repo: "dataset:me/*" }, (payload) => {
      expectTypeOf(payload).toEqualTypeOf<GitContentPayload>();
      expectTypeOf(payload.updatedRefs).items.toEqualTypeOf<{
        ref: string;
        oldSha: string | null;
        newSha: string | null;
      }>();
      // @ts-expect-error A dataset lists refs, not files.
      payload.updatedFiles;
    });
    server.webhook("git", { scope: "repo.content", repo: ["model:me/*", "space:me/*"] }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<GitContentPayload>(),
    );
    server.webhook("both", { scope: "repo.content", repo: ["model:me/*", "bucket:me/*"] }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<GitContentPayload | BucketContentPayload>(),
    );
    server.webhook("every", { scope: "repo.content", repo: "*:me/*" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<RepoContentPayload>(),
    );
    server.webhook("kernel", { scope: "repo.content", repo: "kernel:me/*" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<RepoContentPayload>(),
    );
  });

  test("is the output type of the schema", () => {
    const server = createServer();
    const schema = z.object({ at: z.string().transform((text) => text.length) });
    server.webhook("zod", { schema }, (payload) => expectTypeOf(payload).toEqualTypeOf<{ at: number }>());
    const byHand: StandardSchemaV1<string, Date> = {
      "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: new Date(String(value)) }) },
    };
    server.webhook("hand", { schema: byHand }, (payload) => expectTypeOf(payload).toEqualTypeOf<Date>());
    server.webhook("filtered", { schema, scope: "repo.content" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<{ at: number }>(),
    );
    server.webhook("any", { schema: null }, (payload) => expectTypeOf(payload).toEqualTypeOf<null>());
  });

  test("is also the type of the payload in the context", () => {
    createServer().webhook("config", { scope: "repo.config" }, (_payload, context) => {
      expectTypeOf(context).toEqualTypeOf<HandlerContext<RepoConfigPayload>>();
      expectTypeOf(context.delivery.payload).toEqualTypeOf<RepoConfigPayload>();
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    });
  });
});

describe("A handler", () => {
  test("is returned with its own type", () => {
    const server = createServer();
    const handler = async (payload: WebhookPayload, context?: HandlerContext) => [payload.repo.name, context] as const;
    expectTypeOf(server.webhook("named", handler)).toEqualTypeOf<typeof handler>();
    const filtered = server.webhook("filtered", { scope: "repo.config" }, async (payload) => payload.updatedConfig);
    expectTypeOf(filtered).returns.resolves.toEqualTypeOf<{ private?: boolean | undefined }>();
    expectTypeOf(filtered).parameter(0).toEqualTypeOf<RepoConfigPayload>();
    expect(server.endpointNames).toEqual(["named", "filtered"]);
  });

  test("can have a parameter with fewer fields than the payload", () => {
    createServer().webhook("name", (payload: { repo: { name: string } }) => payload.repo.name);
  });

  test("can declare its watched items by type and name", () => {
    const server = createServer();
    server.webhook("one", { watch: "dataset:me/data", domains: "repo", scope: "repo.config" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<RepoConfigPayload>(),
    );
    server.webhook("some", { watch: ["org:acme", "user:me"], domains: ["repo", "discussion"] }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
    expect(() => {
      // @ts-expect-error A watched item requires its type as a prefix.
      server.webhook("untyped", { watch: "me/data" }, () => {});
    }).toThrow();
    // @ts-expect-error The domain has no s.
    server.webhook("plural", { domains: ["discussions"] }, () => {});
  });

  test("cannot require more fields than its options guarantee", () => {
    const server = createServer();
    // @ts-expect-error Not every delivery has a comment.
    server.webhook("comment", (payload: DiscussionCommentPayload) => payload.comment);
    // @ts-expect-error A settings change has no comment.
    server.webhook("config", { scope: "repo.config" }, (payload: DiscussionCommentPayload) => payload.comment);
  });

  test("is not accepted with misspelled options", () => {
    expect(() => {
      // @ts-expect-error `scopes` is not an option.
      createServer().webhook("typo", { scopes: "repo" }, () => {});
      // @ts-expect-error A repository requires its type as a prefix.
      createServer().webhook("repo", { repo: "me/data" }, () => {});
    }).toThrow();
  });
});

describe("A decorated method", () => {
  test("receives the payload type of the options", () => {
    const server = createServer();
    class Bot {
      @server.webhook()
      any(payload: WebhookPayload) {
        return payload;
      }
      @server.webhook({ scope: "discussion.comment" })
      async comment(payload: DiscussionCommentPayload, { log }: HandlerContext) {
        log.debug(payload.comment.id);
      }
      @server.webhook("content", { scope: "repo.content", repo: "bucket:me/*" })
      files(payload: BucketContentPayload) {
        return payload.updatedFiles;
      }
      @server.webhook({ schema: z.number() })
      static number(payload: number) {
        return payload;
      }
    }
    new Bot();
    expect(server.endpointNames).toEqual(["number", "any", "comment", "content"]);
  });

  test("cannot have another payload type", () => {
    const server = createServer();
    class Bot {
      // @ts-expect-error The option selects settings changes, the method requires a comment.
      @server.webhook({ scope: "repo.config" })
      config(payload: DiscussionCommentPayload) {
        return payload;
      }
      // @ts-expect-error Not every delivery has a comment.
      @server.webhook()
      comment(payload: DiscussionCommentPayload) {
        return payload;
      }
    }
    new Bot();
    expect(server.endpointNames).toEqual(["config", "comment"]);
  });

  test("cannot be a field", () => {
    const server = createServer();
    expect(() => {
      class Bot {
        // @ts-expect-error A field has no method to register.
        @server.webhook()
        field = () => {};
      }
      new Bot();
    }).toThrow();
  });
});
