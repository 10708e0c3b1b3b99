import { createServer } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { SqliteInbox } from "../../../src/inbox/sqlite/sqlite-inbox.ts";
import { WebhooksServer } from "../../../src/index.ts";
import { listenOnPort } from "../../support/free-port.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";

const local = { port: 0, host: "127.0.0.1" };

/** Creates a server with a background endpoint and an inbox in memory. */
function createBackgroundServer() {
  const logger = createMemoryLogger();
  const inbox = new SqliteInbox({ file: ":memory:", now: Date.now, log: logger });
  const server = new WebhooksServer({ secret: "s3cret", inbox, logger });
  server.webhook("retrain", { background: true }, () => {});
  onTestFinished(() => server.close());
  return { server, inbox, logger };
}

/** Returns a port on which another server listens. */
async function takenPort(): Promise<number> {
  const other = createServer();
  onTestFinished(() => void other.close());
  return listenOnPort(other);
}

describe("A launch that fails", () => {
  test("keeps an inbox open that was open before", async () => {
    const { server, inbox } = createBackgroundServer();
    const close = vi.spyOn(inbox, "close");
    await server.ready();
    await expect(server.launch({ ...local, port: await takenPort() })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    expect(close).not.toHaveBeenCalled();
  });

  test("closes the inbox that it has opened", async () => {
    const { server, inbox } = createBackgroundServer();
    const close = vi.spyOn(inbox, "close");
    await expect(server.launch({ ...local, port: await takenPort() })).rejects.toMatchObject({ code: "PORT_IN_USE" });
    expect(close).toHaveBeenCalledOnce();
  });

  test("is logged, and exits the process if the server handles its signals", async () => {
    const exit = vi.spyOn(process, "exit").mockImplementation(() => {
      throw new Error("exited");
    });
    onTestFinished(() => exit.mockRestore());
    const { server, logger } = createBackgroundServer();
    const launched = server.launch({ ...local, port: await takenPort(), handleSignals: true });
    await expect(launched).rejects.toThrow("exited");
    expect(exit).toHaveBeenCalledExactlyOnceWith(1);
    expect(logger.lines).toContainEqual(expect.objectContaining({ level: "error", code: "PORT_IN_USE" }));
  });
});

test("A launch after one of two concurrent closes is not affected by the other close", async () => {
  const { server, inbox } = createBackgroundServer();
  await server.launch(local);
  const closeInbox = inbox.close.bind(inbox);
  const held = Promise.withResolvers<void>();
  const close = vi.spyOn(inbox, "close").mockImplementation(async (graceMs) => {
    const isSecond = close.mock.calls.length === 2;
    const closed = await closeInbox(graceMs);
    if (isSecond) await held.promise;
    return closed;
  });
  const closes = [server.close(), server.close()];
  await closes[0];
  const launched = await server.launch(local);
  held.resolve();
  await closes[1];
  expect(await server.launch(local)).toMatchObject({ port: launched.port });
});

test("An empty WEBHOOK_SECRET ends ready() with OPTION_INVALID", async () => {
  vi.stubEnv("WEBHOOK_SECRET", "");
  const server = new WebhooksServer({ logger: createMemoryLogger() });
  await expect(server.ready()).rejects.toMatchObject({ code: "OPTION_INVALID" });
});
