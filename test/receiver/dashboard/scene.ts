import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import type { DeliveryStatus } from "../../../src/inbox/inbox.ts";
import { RetryAfterError, WebhooksServer, type WebhooksServerOptions } from "../../../src/index.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "s3cret";

/** A message of typical length for compilers and trainers. */
const longError = `The trainer gave up: ${"a word that matters, ".repeat(300)}\n${"  at step\n".repeat(40)}`;

/** A running server with its own inbox, and helpers for tests. */
export interface Scene {
  server: WebhooksServer;
  url: string;
  log: ReturnType<typeof createMemoryLogger>;
  /** The endpoint and the id of each run of a handler. */
  runs: string[];
  /** Whether the endpoint `acme/failing` fails. Default: true. */
  fails: boolean;
  deliver: (endpoint: string, id: string, payload?: unknown) => Promise<void>;
  reached: (id: string, status: DeliveryStatus) => Promise<void>;
  close: () => Promise<void>;
}

/**
 * Launches a server with endpoints that behave as follows: `fine` succeeds, `acme/failing` dies after two attempts,
 * `slow` runs until the server closes, `later` waits for an hour.
 */
export async function openScene(options: Omit<WebhooksServerOptions, "logger" | "secret"> = {}): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "hub-webhooks-dashboard-"));
  vi.stubEnv("INBOX_URL", `sqlite:${join(folder, "inbox.db")}`);
  const log = createMemoryLogger();
  const server = new WebhooksServer({ ...options, secret, logger: log });
  const scene: Scene = {
    server,
    url: "",
    log,
    runs: [],
    fails: true,
    deliver: async (endpoint, id, payload = webhookPayload("repo.content")) => {
      const request = deliveryRequest({ endpoint, id, payload, secret });
      expect((await server.fetch(request)).status).toBe(202);
    },
    reached: (id, status) =>
      waitFor(async () => expect(await server.inbox.get(id)).toMatchObject({ status }), { interval: 5 }),
    close: async () => {
      await server.close();
      vi.unstubAllEnvs();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const background = { background: true, schema: null, backoff: { first: 1, max: 1 } } as const;
  const noteRun = ({ delivery }: { delivery: { endpoint: string; id: string } }) => {
    scene.runs.push(`${delivery.endpoint} ${delivery.id}`);
  };
  server.webhook("fine", background, (_payload, context) => noteRun(context));
  server.webhook("acme/failing", { ...background, attempts: 2 }, (_payload, context) => {
    noteRun(context);
    if (scene.fails) throw new Error(longError);
  });
  server.webhook("slow", background, (_payload, { signal }) => {
    return new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  server.webhook("later", background, () => {
    throw new RetryAfterError("1h");
  });
  const launched = await server.launch({ port: 0, host: "127.0.0.1" });
  scene.url = launched.url;
  return scene;
}

/** Text that attacks the page in several ways. An attack that works sets `window.stolen`. */
export const hostileTexts = {
  script: "<script>window.stolen=1</script>",
  address: "javascript:window.stolen=1",
  drawing: `<svg xmlns="http://www.w3.org/2000/svg" onload="window.stolen=1"><a href="javascript:window.stolen=1">x</a></svg>`,
  attribute: `" onmouseover="window.stolen=1" autofocus onfocus="window.stolen=1" x="`,
  image: "<img src=x onerror=window.stolen=1>",
  closing: "</code></pre></main></body><script>window.stolen=1</script>",
  style: "<style>body{display:none}</style>",
  entity: "&lt;b&gt;&#60;script&#62;",
  escapes: "\u001b[31mred\u0007\u0000\u009b2J",
  bidi: "\u202Eetadpu\u2066\u200B\u00AD",
} as const;

/** Returns a payload with hostile text in every field and in the names of fields. */
export function hostilePayload(text: string): object {
  return {
    event: { action: text, scope: text },
    repo: { type: text, name: text, id: text, url: { web: text, api: text } },
    discussion: { title: text, url: { web: text } },
    comment: { content: text },
    [text]: [text, { [text]: text }],
  };
}

/** An id with every allowed character. */
export const strangeId = `!"#$%&'()*+,-./0:;<=>?@A[\\]^_\`a{|}~`;
