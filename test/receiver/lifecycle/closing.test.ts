import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { ServerContext } from "../../../src/receiver/context.ts";
import { BackgroundWork } from "../../../src/receiver/inbox.ts";
import { DeliveryHistory, loadInbox, ReceiverConsole } from "../../../src/receiver/platform.node.ts";
import { deliveryRequest, webhookPayload } from "../../../src/testing.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { createFolder } from "../../support/temporary-folder.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Holds the opening of inboxes, and collects the open ones. */
const inboxes = vi.hoisted(() => ({
  gate: Promise.resolve(),
  opening: 0,
  open: new Set<object>(),
  fail: (_error: unknown) => {},
}));

vi.mock(import("../../../src/inbox/open-inbox.ts"), async (importOriginal) => {
  const original = await importOriginal();
  return {
    ...original,
    async openConfiguredInbox(options) {
      const { signal } = options;
      const stopped = new Promise<never>((_resolve, reject) => {
        const stop = () => reject(new WebhookError("The inbox was closed before it was open.", { code: "CLOSING" }));
        if (signal.aborted) stop();
        signal.addEventListener("abort", stop, { once: true });
      });
      inboxes.opening += 1;
      inboxes.fail = options.onFailure;
      await Promise.race([stopped, inboxes.gate]).finally(() => {
        inboxes.opening -= 1;
      });
      const opened = await original.openConfiguredInbox(options);
      const { inbox } = opened;
      const close = inbox.close.bind(inbox);
      inboxes.open.add(inbox);
      inbox.close = (graceMs: number) => {
        inboxes.open.delete(inbox);
        return close(graceMs);
      };
      return opened;
    },
  };
});

const payload = webhookPayload("repo.content");
const deliver = (url: string, endpoint: string) =>
  fetch(deliveryRequest({ endpoint, payload, baseUrl: url })).then(
    (response) => response.status,
    () => 0,
  );

const hanging = { handlerHangs: false, storeHangs: true, isHeld: false };
/** What the test does to a server, in any order. */
const actions = ["launch", "ready", "close", "inline", "background", "release", "open", "turn", "tick"] as const;

describe("A server", () => {
  test("that is launched, used, and closed in any order closes in time, answers what it accepted, leaves nothing open, and can be launched again", {
    tags: "slow",
  }, async () => {
    const folder = createFolder();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...actions), { minLength: 2, maxLength: 14, size: "max" }),
        fc.record({ handlerHangs: fc.boolean(), storeHangs: fc.boolean(), isHeld: fc.boolean() }),
        async (todo, { handlerHangs, storeHangs, isHeld }) => {
          runs += 1;
          const url = `sqlite:${folder}/${runs}.db`;
          const [gate, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
          inboxes.gate = isHeld || storeHangs ? gate.promise : Promise.resolve();
          const logger = createMemoryLogger();
          const server = new WebhooksServer({ logger, inbox: url, secret: false });
          const ran: string[] = [];
          server.webhook("inline", async () => {
            await released.promise;
            return "done";
          });
          server.webhook("background", { background: true }, (_payload, { delivery }) => void ran.push(delivery.id));
          const settling: Promise<unknown>[] = [];
          const inline: Promise<number>[] = [];
          const accepted: Promise<number>[] = [];
          let serverUrl = "";
          const launch = async () => {
            const launched = await server.launch({ port: 0, shutdownGrace: handlerHangs ? 20 : "10s" });
            serverUrl = launched.url;
          };
          let isLastClosed = true;
          for (const action of todo) {
            if (action === "launch") settling.push(launch().catch(() => {}));
            if (action === "ready") settling.push(server.ready().catch(() => {}));
            if (action === "launch" || action === "ready") isLastClosed = false;
            if (action === "close") {
              settling.push(server.close());
              isLastClosed = true;
            }
            if (action === "inline" && serverUrl) inline.push(deliver(serverUrl, "inline"));
            if (action === "background" && serverUrl) accepted.push(deliver(serverUrl, "background"));
            if (action === "release" && !handlerHangs) released.resolve();
            if (action === "open" && !storeHangs) gate.resolve();
            if (action === "tick") await undefined;
            if (action === "turn") for (let turns = 0; turns < 20; turns += 1) await turn();
          }
          if (!handlerHangs) released.resolve();
          if (!storeHangs) gate.resolve();
          // A store that never opens holds `ready()` and `launch()` until the server is closed.
          if (!isLastClosed) settling.push(server.close());
          await Promise.all(settling);
          await server.close();
          expect([inboxes.opening, inboxes.open.size]).toEqual([0, 0]);
          released.resolve();
          // Before the launch and after the close, nothing answers.
          for (const status of await Promise.all(inline)) expect([0, 200, 503]).toContain(status);
          const statuses = await Promise.all(accepted);
          if (serverUrl) expect(await deliver(serverUrl, "inline")).toBe(0);
          server.webhook("late", () => {});
          expect(logger.lines.filter(({ msg }) => msg === "Endpoint added.")).toEqual([]);

          inboxes.gate = Promise.resolve();
          const again = await server.launch({ port: 0 });
          expect([await deliver(again.url, "inline"), await deliver(again.url, "background")]).toEqual([200, 202]);
          const stored = 1 + statuses.filter((status) => status === 202).length;
          await waitFor(() => expect(new Set(ran).size).toBe(stored), { interval: 5 });
          await server.close();
          expect(inboxes.open.size).toBe(0);
        },
      ),
      {
        numRuns: 10,
        timeout: 18_000,
        endOnFailure: true,
        examples: [
          ...[0, 4, 6, 8, 10, 12].map((ticks): [(typeof actions)[number][], typeof hanging] => [
            ["ready", ...new Array<"tick">(ticks).fill("tick"), "close"],
            hanging,
          ]),
          [
            ["launch", "turn", "inline", "background", "turn", "close", "close"],
            { handlerHangs: true, storeHangs: false, isHeld: false },
          ],
        ],
      },
    );
  });

  test("that is closed while it prepares opens no inbox", async () => {
    inboxes.gate = Promise.resolve();
    const prepared = Promise.withResolvers<void>();
    vi.spyOn(ServerContext.prototype, "openLogger").mockReturnValueOnce(prepared.promise);
    onTestFinished(() => void vi.restoreAllMocks());
    const server = new WebhooksServer({ logger: createMemoryLogger(), inbox: "sqlite::memory:", secret: false });
    server.webhook("background", { background: true }, () => {});
    const ready = server.ready();
    await server.close();
    prepared.resolve();
    await ready;
    expect([inboxes.opening, inboxes.open.size]).toEqual([0, 0]);
  });

  test("shares one grace period between requests and background deliveries", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const logger = createMemoryLogger();
    const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
    const close = vi.spyOn(inbox, "close");
    const server = new WebhooksServer({ logger, inbox, secret: false });
    server.webhook("background", { background: true }, () => {});
    const started = Promise.withResolvers<void>();
    server.webhook("endless", () => {
      started.resolve();
      return new Promise(() => {});
    });
    const { url } = await server.launch({ port: 0, shutdownGrace: 9_000 });
    const broken = deliver(url, "endless");
    await started.promise;
    const closing = server.close();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    vi.advanceTimersByTime(9_000);
    await closing;
    expect(await broken).toBe(0);
    expect(close).toHaveBeenCalledExactlyOnceWith(0);
  });

  test("logs the counts of refused deliveries, also if it is mounted and never launched", async () => {
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: "s3cret", now: () => 1_000_000 });
    server.webhook("retrain", () => {});
    for (let count = 0; count < 12; count += 1) {
      await server.request("/webhooks/unknown", { method: "POST" });
      await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret: "guess" }));
    }
    const refused = (expected: string) => logger.lines.filter(({ code }) => code === expected);
    const codes = ["ENDPOINT_UNKNOWN", "SECRET_INVALID"];
    expect(codes.map((code) => refused(code).length)).toEqual([10, 10]);
    await server.close();
    expect(codes.map((code) => refused(code).at(-1))).toMatchObject([{ count: 2 }, { level: "warn", count: 2 }]);
  });

  test("logs no link to a console that opens while it closes", async () => {
    const held = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<void>();
    const { open } = ReceiverConsole.prototype;
    const spied = vi.spyOn(ReceiverConsole.prototype, "open").mockImplementation(async function (
      this: ReceiverConsole,
    ) {
      opened.resolve();
      await held.promise;
      return open.call(this);
    });
    onTestFinished(() => spied.mockRestore());
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, secret: false });
    server.webhook("inline", () => {});
    await server.launch({ port: 0 });
    // A call of a server that is open changes nothing.
    await server.ready();
    await opened.promise;
    await server.close();
    held.resolve();
    await Promise.all(spied.mock.results.map(({ value }) => value));
    await turn();
    expect(logger.lines.filter((line) => "console" in line)).toEqual([]);
  });

  test("ends the live streams of its console before the requests in progress have ended", async () => {
    const released = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const close = vi.spyOn(ReceiverConsole.prototype, "close");
    onTestFinished(() => close.mockRestore());
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: false });
    server.webhook("slow", async () => {
      started.resolve();
      await released.promise;
    });
    const { url } = await server.launch({ port: 0 });
    const delivered = deliver(url, "slow");
    await started.promise;
    const closing = server.close();
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(close).toHaveBeenCalledOnce();
    released.resolve();
    expect([await delivered, await closing]).toEqual([200, undefined]);
  });

  test("exits with 1 at the second signal, while a request is in progress", async () => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    const [started, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const server = new WebhooksServer({ logger: createMemoryLogger(), secret: false });
    server.webhook("slow", async () => {
      started.resolve();
      await released.promise;
    });
    const { url } = await server.launch({ port: 0, handleSignals: true });
    const delivered = deliver(url, "slow");
    await started.promise;
    process.emit("SIGINT", "SIGINT");
    for (let turns = 0; turns < 20; turns += 1) await turn();
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGTERM", "SIGTERM");
    expect(exit.mock.calls).toEqual([[1]]);
    released.resolve();
    expect(await delivered).toBe(200);
    // Both signals close the server, because `exit` returns here.
    await waitFor(() => expect(exit).toHaveBeenCalledTimes(3), { interval: 5 });
  });

  test("logs that an inbox that opens in the background cannot be opened if it does not manage the process", async () => {
    inboxes.gate = Promise.resolve();
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, inbox: `sqlite:${createFolder()}/inbox.db`, secret: false });
    onTestFinished(() => server.close());
    server.webhook("background", { background: true }, () => {});
    await server.launch({ port: 0 });
    const err = new WebhookError("The access key is invalid.", { code: "INBOX_UNUSABLE" });
    inboxes.fail(err);
    expect(logger.lines.at(-1)).toMatchObject({ level: "error", err, msg: expect.stringContaining("restart") });
  });

  test("exits with 1 if an inbox that opens in the background cannot be opened", async () => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    inboxes.gate = Promise.resolve();
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, inbox: `sqlite:${createFolder()}/inbox.db`, secret: false });
    server.webhook("background", { background: true }, () => {});
    await server.launch({ port: 0, handleSignals: true });
    inboxes.fail(new WebhookError("The access key is invalid.", { code: "INBOX_UNUSABLE" }));
    expect(exit.mock.calls).toEqual([[1]]);
    expect(logger.lines).toContainEqual(expect.objectContaining({ level: "error", code: "INBOX_UNUSABLE" }));
    await server.close();
  });

  test("exits with 0 at a signal while its inbox opens, and the launch does not reject", async () => {
    const exit = vi.spyOn(process, "exit").mockReturnValue(undefined as never);
    onTestFinished(() => exit.mockRestore());
    inboxes.gate = new Promise(() => {});
    const logger = createMemoryLogger();
    const server = new WebhooksServer({ logger, inbox: `sqlite:${createFolder()}/inbox.db`, secret: false });
    server.webhook("background", { background: true }, () => {});
    const settled = vi.fn();
    void server.launch({ port: 0, handleSignals: true }).then(settled, settled);
    await waitFor(() => expect(inboxes.opening).toBe(1), { interval: 5 });
    process.emit("SIGTERM", "SIGTERM");
    await waitFor(() => expect(exit).toHaveBeenCalled(), { interval: 5 });
    expect(exit.mock.calls).toEqual([[0]]);
    expect(settled).not.toHaveBeenCalled();
    expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
  });
});

test("Closing the background work stops an inbox that a late delivery is opening", async () => {
  inboxes.gate = new Promise(() => {});
  const run = async () => ({ status: "succeeded", result: undefined }) as const;
  const background = new BackgroundWork(new ServerContext({}, DeliveryHistory), {
    run,
    loadInbox,
    onFailure: () => {},
  });
  const opening = expect(background.open()).rejects.toMatchObject({ code: "CLOSING" });
  await waitFor(() => expect(inboxes.opening).toBe(1), { interval: 5 });
  await background.close(0);
  await opening;
  expect([background.opened, inboxes.opening]).toEqual([undefined, 0]);
});
