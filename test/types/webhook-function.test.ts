import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, expectTypeOf, test } from "vitest";
import * as z from "zod";
import {
  type BucketContentPayload,
  type DiscussionCommentPayload,
  type DiscussionPayload,
  type GitContentPayload,
  type HandlerContext,
  type RepoConfigPayload,
  type RepoContentPayload,
  type RepoPayload,
  type WebhookPayload,
  WebhooksServer,
} from "../../src/index.ts";
import { createMemoryLogger } from "../support/memory-logger.ts";

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
