import type { WebhooksServer } from "../../src/index.ts";

/** A recognizable string that tests send or configure, then search for on pages. */
export const mark = "zq7mark";

/** The error message of a handler. It may only appear in the log. */
export const inner = "select * from users where name = 'inner'";

function throwing(thrown: unknown): () => never {
  return () => {
    throw thrown;
  };
}

/** Endpoints that a receiver registers by name, in this process or in another. */
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
  /** Runs in the background and always fails. */
  failingInBackground(server: WebhooksServer) {
    server.webhook("kept", { background: true, attempts: 1 }, (payload) => {
      throw new Error(payload.repo.name);
    });
  },
  background(server: WebhooksServer) {
    server.webhook("kept", { background: true }, () => {});
  },
  /** Returns a response with the headers listed in the delivery's body. */
  framing(server: WebhooksServer) {
    server.webhook("framing", { schema: null }, (_payload, { delivery }) => {
      return new Response("passed on", { status: 202, headers: JSON.parse(delivery.body) });
    });
  },
  /** Routes that do not read a body to its end. */
  stopping(server: WebhooksServer) {
    server.app.post("/stop/:how", async (context) => {
      const { raw } = context.req;
      const { incoming } = Object(context.env);
      const how = context.req.param("how");
      if (how === "stops") for await (const _chunk of raw.body ?? []) break;
      if (how === "cancels") await raw.body?.cancel();
      if (how === "destroys") incoming.destroy();
      if (how === "throws") {
        await raw.body?.getReader().read();
        throw new Error(inner);
      }
      return context.text("stopped");
    });
  },
  /** Returns a response that is larger than a connection's buffers. */
  large(server: WebhooksServer) {
    server.webhook("large", () => "x".repeat(16 * 1024 * 1024));
  },
} as const;

export type DeclarationName = keyof typeof declarations;
