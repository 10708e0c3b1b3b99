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

describe("The payload's type", () => {
  test("is that of any delivery where no option says more", () => {
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

  test("has what the scope promises, and not what it does not", () => {
    createServer().webhook("comment", { scope: "discussion.comment" }, (payload) => {
      expectTypeOf(payload.comment.content).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.comment.hidden).toEqualTypeOf<boolean>();
      expectTypeOf(payload.discussion.num).toEqualTypeOf<number>();
      // @ts-expect-error A comment updates no refs.
      payload.updatedRefs;
      // @ts-expect-error Only a change of settings has this.
      payload.updatedConfig;
    });
    createServer().webhook("config", { scope: "repo.config" }, (payload) => {
      expectTypeOf(payload.updatedConfig.private).toEqualTypeOf<boolean | undefined>();
      // @ts-expect-error Settings have no discussion.
      payload.discussion;
    });
    createServer().webhook("repo", { scope: "repo" }, (payload) => {
      expectTypeOf(payload.movedTo?.owner.id).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.repo.headSha).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.repo.subdomain).toEqualTypeOf<string | undefined>();
      expectTypeOf(payload.repo.tags).toEqualTypeOf<string[] | undefined>();
    });
  });

  test("is that of any of several scopes", () => {
    createServer().webhook("some", { scope: ["repo.config", "discussion.comment"] }, (payload) => {
      expectTypeOf(payload).toEqualTypeOf<RepoConfigPayload | DiscussionCommentPayload>();
      // @ts-expect-error The delivery may be of the other scope.
      payload.comment;
    });
  });

  test("is that of any delivery for a scope that is not known yet", () => {
    createServer().webhook("dois", { scope: "repo.config.dois" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
  });

  test("is that of any delivery where a scope may be left out after all", () => {
    const scope = process.argv.length > 1_000 ? "repo.config" : undefined;
    createServer().webhook("perhaps", { scope }, (payload) => expectTypeOf(payload).toEqualTypeOf<WebhookPayload>());
    createServer().webhook("never", { scope: undefined }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
  });

  test("of changed content follows from the repository type: files of a bucket, refs of the others", () => {
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

  test("is the output of the schema", () => {
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

  test("is in the context's delivery too", () => {
    createServer().webhook("config", { scope: "repo.config" }, (_payload, context) => {
      expectTypeOf(context).toEqualTypeOf<HandlerContext<RepoConfigPayload>>();
      expectTypeOf(context.delivery.payload).toEqualTypeOf<RepoConfigPayload>();
      expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    });
  });
});

describe("A handler", () => {
  test("comes back with the type that it had", () => {
    const server = createServer();
    const handler = async (payload: WebhookPayload, context?: HandlerContext) => [payload.repo.name, context] as const;
    expectTypeOf(server.webhook("named", handler)).toEqualTypeOf<typeof handler>();
    const filtered = server.webhook("filtered", { scope: "repo.config" }, async (payload) => payload.updatedConfig);
    expectTypeOf(filtered).returns.resolves.toEqualTypeOf<{ private?: boolean | undefined }>();
    expectTypeOf(filtered).parameter(0).toEqualTypeOf<RepoConfigPayload>();
    expect(server.endpointNames).toEqual(["named", "filtered"]);
  });

  test("may ask for less than the payload has", () => {
    createServer().webhook("name", (payload: { repo: { name: string } }) => payload.repo.name);
  });

  test("may say what its webhook watches, by type and name", () => {
    const server = createServer();
    server.webhook("one", { watch: "dataset:me/data", domains: "repo", scope: "repo.config" }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<RepoConfigPayload>(),
    );
    server.webhook("some", { watch: ["org:acme", "user:me"], domains: ["repo", "discussion"] }, (payload) =>
      expectTypeOf(payload).toEqualTypeOf<WebhookPayload>(),
    );
    expect(() => {
      // @ts-expect-error What is watched needs its type in front.
      server.webhook("untyped", { watch: "me/data" }, () => {});
    }).toThrow();
    // @ts-expect-error The Hub's word has no s.
    server.webhook("plural", { domains: ["discussions"] }, () => {});
  });

  test("may not ask for more than its options promise", () => {
    const server = createServer();
    // @ts-expect-error Not every delivery has a comment.
    server.webhook("comment", (payload: DiscussionCommentPayload) => payload.comment);
    // @ts-expect-error A changed setting has no comment.
    server.webhook("config", { scope: "repo.config" }, (payload: DiscussionCommentPayload) => payload.comment);
  });

  test("is not taken for one with misspelt options", () => {
    expect(() => {
      // @ts-expect-error `scopes` is no option.
      createServer().webhook("typo", { scopes: "repo" }, () => {});
      // @ts-expect-error A repository needs its type in front.
      createServer().webhook("repo", { repo: "me/data" }, () => {});
    }).toThrow();
  });
});

describe("A decorated method", () => {
  test("takes the payload that follows from the options", () => {
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

  test("may not take another", () => {
    const server = createServer();
    class Bot {
      // @ts-expect-error The option says that a setting changed, the method wants a comment.
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

  test("is a method, and nothing else", () => {
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
