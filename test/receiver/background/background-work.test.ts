import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import type { EndpointQueue, Inbox } from "../../../src/inbox/inbox.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { NonRetriableError, RetryAfterError, WebhooksServer } from "../../../src/index.ts";
import { ServerContext } from "../../../src/receiver/context.ts";
import { serverControl } from "../../../src/receiver/control.ts";
import { BackgroundWork } from "../../../src/receiver/inbox.ts";
import { DeliveryHistory, loadInbox } from "../../../src/receiver/platform.node.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { describeOverBothTransports } from "../../support/transport.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "s3cret";
const payload = webhookPayload("repo.content");

function openServer() {
  const logger = createMemoryLogger();
  const server = new WebhooksServer({ secret, logger });
  onTestFinished(() => server.close());
  return { server, logger };
}

/** Waits until the latest delivery has this status and returns it. */
async function reached(server: WebhooksServer, status: string) {
  return waitFor(
    async () => {
      const [latest] = (await server.inbox.list({ limit: 1 })).deliveries;
      expect(latest).toMatchObject({ status });
      return latest;
    },
    { interval: 5 },
  );
}

let file: string;

beforeEach(() => {
  file = inboxFile();
  vi.stubEnv("INBOX_URL", `sqlite:${file}`);
});

test("A server with an Inbox object keeps it after useInbox(), and logs a warning", async () => {
  const logger = createMemoryLogger();
  const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  const server = new WebhooksServer({ secret, inbox, logger });
  onTestFinished(() => server.close());
  const start = vi.spyOn(inbox, "startWorker");
  server.webhook("retrain", { background: true }, () => {});
  server[serverControl].useInbox(`sqlite:${file}`);
  await server.ready();
  expect(start).toHaveBeenCalledOnce();
  expect(existsSync(file)).toBe(false);
  expect(logger.lines).toContainEqual(
    expect.objectContaining({ level: "warn", msg: expect.stringMatching(/Inbox object/) }),
  );
});

test("An endpoint that is added after the server was closed does not run on the closed inbox", async () => {
  const logger = createMemoryLogger();
  const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  const server = new WebhooksServer({ secret, inbox, logger });
  const run = vi.spyOn(inbox, "startWorker");
  server.webhook("retrain", { background: true }, () => {});
  await server.ready();
  await server.close();
  server.webhook("late", { background: true }, () => {});
  expect(run.mock.calls.map(([{ endpoint }]) => endpoint)).toEqual(["retrain"]);
});

describeOverBothTransports("A background endpoint", (send) => {
  test("answers 202 with the id, and runs the handler", async () => {
    const { server, logger } = openServer();
    const handled = Promise.withResolvers<unknown>();
    server.webhook("retrain", { background: true }, (received, { delivery, request }) => {
      handled.resolve({ received, id: delivery.id, attempt: delivery.attempt, request });
    });
    const response = await send(server, deliveryRequest({ endpoint: "retrain", payload, secret, id: "first" }));
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ deliveryId: "first" });
    // The socket transport closes the server before the handler starts, so open it again.
    await server.ready();
    expect(await handled.promise).toEqual({ received: payload, id: "first", attempt: 1, request: undefined });
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        msg: "delivery accepted",
        deliveryId: "first",
        status: 202,
        repo: "dataset:acme/data",
      }),
    );
  });

  test("answers 200 to a delivery that its filter ignores, and does not store it", async () => {
    const { server } = openServer();
    server.webhook("retrain", { background: true, scope: "discussion" }, () => {});
    const response = await send(server, deliveryRequest({ endpoint: "retrain", payload, secret }));
    expect(response.status).toBe(200);
    expect(existsSync(file) && (await server.inbox.list()).deliveries).toEqual(existsSync(file) ? [] : false);
  });

  test("stores no delivery without the secret or with an invalid payload", async () => {
    const { server } = openServer();
    server.webhook("retrain", { background: true }, () => {});
    const strange = await send(server, deliveryRequest({ endpoint: "retrain", payload, secret: "wrong" }));
    const broken = await send(server, deliveryRequest({ endpoint: "retrain", payload: { event: 1 }, secret }));
    expect([strange.status, broken.status]).toEqual([403, 422]);
    expect((await server.inbox.list()).deliveries).toEqual([]);
  });
});

describe("A background endpoint", () => {
  test("answers a duplicate with `duplicate: true`, and does not run it again", async () => {
    const { server } = openServer();
    const handler = vi.fn();
    server.webhook("retrain", { background: true }, handler);
    const request = () => deliveryRequest({ endpoint: "retrain", payload, secret, id: "same" });
    await server.fetch(request());
    await reached(server, "succeeded");
    const response = await server.fetch(request());
    expect([response.status, await response.json()]).toEqual([202, { deliveryId: "same", duplicate: true }]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("retries a failed delivery until it succeeds", async () => {
    const { server, logger } = openServer();
    server.webhook("retrain", { background: true, backoff: { first: 1 } }, (_payload, { delivery }) => {
      if (delivery.attempt < 3) throw new Error(`not yet ${delivery.attempt}`);
    });
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }));
    const stored = await reached(server, "succeeded");
    expect(stored?.attempts.map(({ error }) => error?.message)).toEqual(["not yet 1", "not yet 2", undefined]);
    const retried = logger.lines.filter(({ msg }) => msg.startsWith("delivery will be retried in "));
    expect(retried).toMatchObject([1, 2].map((attempt) => ({ level: "warn", attempt })));
    expect(retried[0]?.msg).toMatch(/: not yet 1\.$/);
    // The waits are 1 ms and 2 ms, plus the time from the end of the attempt until the inbox decides the next step.
    for (const { attempt, nextAttemptInMs } of retried) {
      expect(nextAttemptInMs).toBeGreaterThanOrEqual(Number(attempt));
      expect(nextAttemptInMs).toBeLessThan(10_000);
    }
  });

  test("does not retry after a NonRetriableError, and waits as long as a RetryAfterError requests", async () => {
    const { server } = openServer();
    server.webhook("never", { background: true }, () => {
      throw new NonRetriableError("There is no such model.");
    });
    await server.fetch(deliveryRequest({ endpoint: "never", payload, secret, id: "n" }));
    expect((await reached(server, "dead"))?.attempts).toMatchObject([
      { error: { message: "There is no such model." } },
    ]);
    const dueAt = new Date(Date.now() + 86_400_000);
    server.webhook("later", { background: true }, () => {
      throw new RetryAfterError(dueAt);
    });
    await server.fetch(deliveryRequest({ endpoint: "later", payload, secret, id: "l" }));
    await waitFor(async () =>
      expect(await server.inbox.get("l")).toMatchObject({ status: "queued", dueAt, attempts: [{}] }),
    );
  });

  test.each([
    { what: "beyond its retention", when: new Date(4e12) },
    { what: "at an invalid time", when: new Date("soon") },
  ])("uses its backoff if the handler requests a retry $what, and logs the reason", async ({ when }) => {
    const { server, logger } = openServer();
    const asked = new RetryAfterError(when, { message: "No GPU is free." });
    server.webhook("later", { background: true, attempts: 2, backoff: [1] }, (_payload, { delivery }) => {
      if (delivery.attempt === 1) throw asked;
    });
    await server.fetch(deliveryRequest({ endpoint: "later", payload, secret }));
    expect((await reached(server, "succeeded"))?.attempts).toMatchObject([
      { outcome: "failed", error: { code: "RETRY_TIME_INVALID", message: "No GPU is free." } },
      { outcome: "succeeded" },
    ]);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "warn", outcome: "retrying", code: "RETRY_TIME_INVALID", err: asked }),
    );
  });

  test("limits the wait before a retry with limitRetryWaits()", async () => {
    const { server } = openServer();
    server.webhook("retrain", { background: true, backoff: ["1h"] }, (_payload, { delivery }) => {
      if (delivery.attempt === 1) throw new Error("not yet");
    });
    server[serverControl].limitRetryWaits(1);
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }));
    expect((await reached(server, "succeeded"))?.attempts).toHaveLength(2);
  });

  test.each([503, 404, 302])("retries after the handler returns status %s", async (status) => {
    const { server } = openServer();
    server.webhook("retrain", { background: true, attempts: 1 }, () => new Response("busy", { status }));
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }));
    expect((await reached(server, "dead"))?.attempts).toMatchObject([
      { error: { message: expect.stringContaining(String(status)) } },
    ]);
  });

  test("resumes unfinished deliveries after a restart, and aborts their signal at the shutdown", async () => {
    const first = openServer();
    const stopped = Promise.withResolvers<unknown>();
    const begun = Promise.withResolvers<void>();
    first.server.webhook("retrain", { background: true }, async (_payload, { signal }) => {
      signal.addEventListener("abort", () => stopped.resolve(signal.reason));
      begun.resolve();
      await stopped.promise;
      throw new NonRetriableError("stopped half-way");
    });
    await first.server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret, id: "half" }));
    await begun.promise;
    // Both calls wait for the shutdown, which is logged once.
    await Promise.all([first.server.close(), first.server.close()]);
    expect(await stopped.promise).toMatchObject({ code: "CLOSING" });
    expect(first.logger.lines.filter(({ code, interrupted }) => code === "CLOSING" || interrupted)).toEqual([
      expect.objectContaining({ level: "warn", deliveryId: "half", outcome: "abandoned", code: "CLOSING" }),
      expect.objectContaining({ level: "warn", interrupted: 1 }),
    ]);
    const second = openServer();
    const handler = vi.fn();
    second.server.webhook("retrain", { background: true }, handler);
    await second.server.ready();
    const stored = await reached(second.server, "succeeded");
    expect(stored?.attempts.map(({ outcome }) => outcome)).toEqual(["abandoned", "succeeded"]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  test("logs the shutdown that interrupts an asynchronous schema, and queues the delivery again", async () => {
    const { server, logger } = openServer();
    const parsing = Promise.withResolvers<void>();
    const parsed = Promise.withResolvers<void>();
    let parses = 0;
    const validate = async (value: unknown) => {
      parses += 1;
      // The first run validates the request, and the second run validates the stored body.
      if (parses === 1) return { value };
      parsing.resolve();
      await parsed.promise;
      return { issues: [{ message: "rejected" }] };
    };
    const schema = { "~standard": { version: 1, vendor: "test", validate } } as const;
    server.webhook("retrain", { background: true, schema, attempts: 1 }, () => {});
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret, id: "half" }));
    await parsing.promise;
    const closed = server.close();
    await new Promise((resolve) => setTimeout(resolve, 20));
    parsed.resolve();
    await closed;
    const outcomes = logger.lines.filter(({ outcome }) => outcome !== undefined);
    expect(outcomes).toEqual([
      expect.objectContaining({ level: "warn", deliveryId: "half", outcome: "abandoned", code: "CLOSING" }),
    ]);
    const inbox = new SqliteInbox({ file, now: Date.now, log: logger });
    onTestFinished(async () => void (await inbox.close(0)));
    expect(await inbox.get({ id: "half", endpoint: "retrain" })).toMatchObject({ status: "queued" });
  });

  test("is listed, counted and replayed by server.inbox", async () => {
    const { server } = openServer();
    const handler = vi.fn();
    server.webhook("retrain", { background: true }, handler);
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret, id: "a" }));
    await reached(server, "succeeded");
    expect(await server.inbox.counts()).toEqual({
      retrain: { queued: 0, running: 0, succeeded: 1, ignored: 0, dead: 0, cancelled: 0 },
    });
    await server.inbox.replay("a");
    await waitFor(() => expect(handler).toHaveBeenCalledTimes(2));
    await expect(server.inbox.replay("b")).rejects.toMatchObject({ code: "DELIVERY_UNKNOWN" });
    expect(await server.inbox.replayDead("retrain")).toBe(0);
    expect(await server.inbox.prune()).toBe(0);
  });

  test("can be registered while the server runs", async () => {
    const { server } = openServer();
    server.webhook("first", { background: true }, () => {});
    await server.ready();
    const handler = vi.fn();
    server.webhook("second", { background: true }, handler);
    await server.fetch(deliveryRequest({ endpoint: "second", payload, secret }));
    await waitFor(() => expect(handler).toHaveBeenCalledTimes(1));
  });

  test("runs although its inbox rejected the delivery after it had stored and claimed it", async () => {
    const logger = createMemoryLogger();
    const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
    const server = new WebhooksServer({ secret, inbox, logger });
    onTestFinished(() => server.close());
    const accept = inbox.accept.bind(inbox);
    inbox.accept = async (delivery) => {
      await accept(delivery);
      await waitFor(async () => expect((await inbox.counts()).retrain).toMatchObject({ running: 1 }));
      // The inbox starts the handler one turn after the claim.
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
      throw new WebhookError("The answer was lost.", { code: "INBOX_UNAVAILABLE", status: 503 });
    };
    server.webhook("retrain", { background: true }, () => {});
    const response = await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }));
    expect(response.status).toBe(503);
    await reached(server, "succeeded");
  });

  test("answers 503 until the inbox can be opened", async () => {
    vi.stubEnv("INBOX_URL", `sqlite:${dirname(file)}`);
    const { server } = openServer();
    const handler = vi.fn();
    server.webhook("retrain", { background: true }, handler);
    const send = async () => (await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }))).status;
    expect(await send()).toBe(503);
    await expect(server.ready()).rejects.toMatchObject({ code: "INBOX_UNUSABLE" });
    expect(handler).not.toHaveBeenCalled();
    vi.stubEnv("INBOX_URL", `sqlite:${file}`);
    expect(await send()).toBe(202);
  });

  test.each(["redis", "mysql://me:hunter2@host/db", "redis://:hunter2@[::1"])(
    "refuses the inbox %s, and does not show it",
    async (url) => {
      vi.stubEnv("INBOX_URL", url);
      const { server } = openServer();
      server.webhook("retrain", { background: true }, () => {});
      const error = await server.ready().catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "OPTION_INVALID" });
      expect(String(error)).not.toContain("hunter2");
    },
  );

  test("warns that an inbox in memory loses accepted deliveries", async () => {
    vi.stubEnv("INBOX_URL", "sqlite::memory:");
    const { server, logger } = openServer();
    server.webhook("retrain", { background: true }, () => {});
    await server.ready();
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "warn", msg: expect.stringContaining("lost") }),
    );
  });

  test.each([
    { attempts: 2 },
    { concurrency: 2 },
    { retention: "1d" },
    { backoff: {} },
    { background: true, attempts: 0 },
    { background: true, concurrency: 1.5 },
    { background: true, backoff: { first: "soon" } },
    { background: true, retention: 0 },
    { background: { attempts: 2 } },
    { background: true, atempts: 2 },
  ] as object[])("refuses the options %j", (options) => {
    const { server } = openServer();
    expect(() => server.webhook("retrain", options, () => {})).toThrow(
      expect.objectContaining({ code: "OPTION_INVALID" }),
    );
  });
});

test.each([
  ["was removed", () => {}],
  ["no longer runs in the background", (server: WebhooksServer) => void server.webhook("renamed", () => {})],
])("A server with a stored delivery that it does not run logs a warning if the endpoint %s", async (_what, change) => {
  const { server: first } = openServer();
  const begun = Promise.withResolvers<void>();
  first.webhook("renamed", { background: true, concurrency: 1 }, async (_payload, { signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  for (const id of ["running", "queued"]) {
    await first.fetch(deliveryRequest({ endpoint: "renamed", payload, secret, id }));
  }
  await begun.promise;
  const { server, logger } = openServer();
  server.webhook("retrain", { background: true }, () => {});
  change(server);
  await server.ready();
  expect(logger.lines).toContainEqual(
    expect.objectContaining({
      level: "warn",
      endpoint: "renamed",
      waiting: 2,
      msg: expect.stringContaining("with background: true"),
    }),
  );
});

test("A finished delivery of a removed endpoint causes no warning", async () => {
  const first = openServer();
  first.server.webhook("removed", { background: true }, () => {});
  await first.server.fetch(deliveryRequest({ endpoint: "removed", payload, secret }));
  await reached(first.server, "succeeded");
  await first.server.close();
  const { server, logger } = openServer();
  server.webhook("retrain", { background: true }, () => {});
  await server.ready();
  expect(logger.lines.filter(({ endpoint }) => endpoint === "removed")).toEqual([]);
});

test("A server starts even if the deliveries of its inbox cannot be counted", async () => {
  const logger = createMemoryLogger();
  const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  vi.spyOn(inbox, "counts").mockRejectedValueOnce(new Error("no luck"));
  const server = new WebhooksServer({ secret, inbox, logger });
  onTestFinished(() => server.close());
  server.webhook("retrain", { background: true }, () => {});
  await server.ready();
});

test("Closing after a failed opening keeps an inbox that was opened in the meantime", async () => {
  const log = createMemoryLogger();
  const run = async () => ({ status: "succeeded", result: undefined }) as const;
  const background = new BackgroundWork(new ServerContext({ logger: log }, DeliveryHistory), {
    run,
    loadInbox,
    onFailure: () => {},
  });
  vi.stubEnv("INBOX_URL", `sqlite:${dirname(file)}`);
  const opened = background.open().catch(() => {
    vi.stubEnv("INBOX_URL", `sqlite:${file}`);
    return background.open();
  });
  await background.close(0);
  expect(background.opened).toBeDefined();
  await opened;
  await background.close(0);
});

test("A stored delivery that the filter no longer matches is not run", async () => {
  const first = openServer();
  first.server.webhook("retrain", { background: true, backoff: { first: 1 } }, () => new Promise(() => {}));
  await first.server.launch({ port: 0, shutdownGrace: 1 });
  await first.server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret }));
  await first.server.close();
  const { server, logger } = openServer();
  const handler = vi.fn();
  server.webhook("retrain", { background: true, scope: "discussion" }, handler);
  await server.ready();
  await reached(server, "ignored");
  expect(handler).not.toHaveBeenCalled();
  expect(logger.lines).toContainEqual(expect.objectContaining({ msg: "delivery ignored" }));
});

test("A server without a background endpoint creates no inbox file", async () => {
  const { server } = openServer();
  server.webhook("inline", () => {});
  await server.ready();
  await server.fetch(deliveryRequest({ endpoint: "inline", payload, secret }));
  await server.close();
  expect(existsSync(file)).toBe(false);
});

describe("An inbox whose worker the test runs", () => {
  /** Creates a server on an inbox with other methods in place of some of its own, and returns its queue. */
  function openQueue(methods: Partial<Inbox> = {}) {
    const logger = createMemoryLogger();
    const stored: Inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
    const opened: { queue?: EndpointQueue } = {};
    const inbox: Inbox = Object.assign(Object.create(stored), {
      startWorker: (queue: EndpointQueue) => void Object.assign(opened, { queue }),
      close: (graceMs: number) => stored.close(graceMs),
      counts: () => stored.counts(),
      ...methods,
    });
    const server = new WebhooksServer({ secret: false, inbox, logger });
    onTestFinished(() => server.close());
    return { server, opened, logger };
  }
  const claim = { attempt: 1, isLastAttempt: false, retryDelayMs: 1 };
  const never = new AbortController().signal;

  test("logs that a delivery is accepted before its handler runs, even if it runs it earlier", async () => {
    const { server, opened, logger } = openQueue({
      async accept(delivery) {
        const run = opened.queue?.run({ ...delivery, ...claim }, never);
        void run?.then(({ onStored }) => onStored?.({ status: "succeeded" }));
        for (let turn = 0; turn < 3; turn += 1) await nextTurn();
        return { duplicate: false };
      },
    });
    server.webhook("retrain", { background: true }, () => {});
    await server.fetch(deliveryRequest({ endpoint: "retrain", payload, id: "first" }));
    const messages = () => logger.lines.map(({ msg }) => msg).filter((message) => message.startsWith("delivery "));
    await waitFor(() => expect(messages()).toEqual(["delivery accepted", "delivery succeeded"]));
  });

  test("logs and counts an attempt only after it is stored, with the step that the inbox has decided", async () => {
    const { server, opened, logger } = openQueue();
    server.webhook("retrain", { background: true }, () => {
      throw new Error("No GPU is free.");
    });
    await server.ready();
    const body = JSON.stringify(payload);
    const outcomes = () => logger.lines.flatMap(({ outcome }) => (outcome === undefined ? [] : [outcome]));
    const run = await opened.queue?.run(
      { id: "a", endpoint: "retrain", body, receivedAt: new Date(), ...claim },
      never,
    );
    await nextTurn();
    expect(outcomes()).toEqual([]);
    run?.onStored?.({ status: "dead" });
    expect(outcomes()).toEqual(["dead"]);
  });
});

test("Answers a delivery before its handler runs, which can block the event loop", async () => {
  const { server } = openServer();
  const order: string[] = [];
  server.webhook("retrain", { background: true }, ({ repo }) => void order.push(`ran ${repo.name}`));
  const deliver = async (name: string) => {
    await server.fetch(
      deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo", { repo: { name } }), secret }),
    );
    order.push(`answered ${name}`);
  };
  await server.ready();
  await Promise.all(["me/a", "me/b", "me/c"].map(deliver));
  await waitFor(() => expect(order).toHaveLength(6));
  expect(order.slice(0, 3).sort()).toEqual(["answered me/a", "answered me/b", "answered me/c"]);
});

test("Ordering log lines uses no memory after a delivery is stored", async () => {
  const { server } = openServer();
  server.webhook("retrain", { background: true }, () => {});
  const deleted = vi.spyOn(Map.prototype, "delete");
  onTestFinished(() => deleted.mockRestore());
  await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret, id: "only-once" }));
  expect(deleted.mock.calls).toContainEqual(["retrain only-once"]);
});
