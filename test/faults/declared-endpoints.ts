import type { WebhooksServer } from "../../src/index.ts";

/** Stands in everything that is sent or configured on pages, so that it can be looked for. */
export const mark = "zq7mark";

/** What a handler says in its errors: written for its developer, and for nobody else. */
export const inner = "select * from users where name = 'inner'";

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

/** Endpoints that a receiver can be given by name, in whichever process it runs. */
export const declarations = {
  filtered(server: WebhooksServer) {
    server.webhook("filtered", { repo: [`dataset:${mark}/private-*`], ref: `refs/heads/${mark}` }, () => {});
    server.webhook("failing", throwing(new Error(mark)));
  },
  guarded(server: WebhooksServer) {
    server.webhook(
      "guarded",
      { scope: "repo.content", repo: "dataset:acme/unreleased-*", ref: "refs/heads/secret-plan", action: "update" },
      () => ({ result: "inside-knowledge" }),
    );
  },
  /** Works in the background and fails for good. */
  failingInBackground(server: WebhooksServer) {
    server.webhook("kept", { background: true, attempts: 1 }, (payload) => {
      throw new Error(payload.repo.name);
    });
  },
  background(server: WebhooksServer) {
    server.webhook("kept", { background: true }, () => {});
  },
  faulty(server: WebhooksServer) {
    server.webhook("throws/error", throwing(new Error(inner)));
    server.webhook("throws/string", throwing(inner));
    server.webhook("throws/undefined", throwing(undefined));
    server.webhook("returns/undefined", () => undefined);
    server.webhook("never-settles", { timeout: 50 }, () => new Promise(() => {}));
    server.webhook("waits", async (_payload, { signal, log }) => {
      log.info("work started");
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      log.info("told to end");
      signal.throwIfAborted();
    });
  },
  /** Answers with headers of an answer that it passes on, named in its body. */
  framing(server: WebhooksServer) {
    server.webhook("framing", { schema: null }, (_payload, { delivery }) => {
      return new Response("passed on", { status: 202, headers: JSON.parse(delivery.body) });
    });
  },
  /** Answers with more than a connection buffers. */
  large(server: WebhooksServer) {
    server.webhook("large", () => "x".repeat(16 * 1024 * 1024));
  },
} as const;

/** The name of some of these. */
export type DeclarationName = keyof typeof declarations;
