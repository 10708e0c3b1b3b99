import { expect, onTestFinished, test, vi } from "vitest";
import { ConsoleEvents } from "../../../src/console/server/events.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openReceiverConsole } from "./open-receiver-console.ts";

/** Opens a server, and returns the IDs of the rows that its console has sent to open pages, in order. */
async function openWatched(...options: Parameters<typeof openReceiverConsole>) {
  const changed = vi.spyOn(ConsoleEvents.prototype, "deliveryChanged");
  onTestFinished(() => changed.mockRestore());
  const opened = await openReceiverConsole(...options);
  const stream = await opened.client.get("stream");
  return { ...opened, stream, changes: () => changed.mock.calls.map(([{ id }]) => id) };
}

test("A background delivery changes in an open list when it is stored, when its handler starts, and when it ends", async () => {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { server, deliver, changes, untilStatus } = await openWatched((declared) => {
    declared.webhook("works", { background: true }, () => {
      started.resolve();
      return finish.promise;
    });
  });
  await server.inbox.pause("works");
  await deliver("works", "d-1");
  expect(changes()).toEqual(["d-1"]);
  await server.inbox.resume("works");
  await started.promise;
  expect(changes()).toEqual(["d-1", "d-1"]);
  finish.resolve();
  await untilStatus("works", "d-1", "succeeded");
  await waitFor(() => expect(changes()).toEqual(["d-1", "d-1", "d-1"]));
});

test("An inline delivery changes in an open list when its handler starts, and when it ends", async () => {
  const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { deliver, changes } = await openWatched((server) => {
    server.webhook("inline", () => {
      started.resolve();
      return finish.promise;
    });
  });
  const delivered = deliver("inline", "d-1");
  await started.promise;
  expect(changes()).toEqual(["d-1"]);
  finish.resolve();
  await delivered;
  expect(changes()).toEqual(["d-1", "d-1"]);
});

test("A delivery is not reported after the last page was closed", async () => {
  const { deliver, stream, changes } = await openWatched((server) => {
    server.webhook("inline", () => {});
  });
  await stream.body?.cancel();
  await deliver("inline", "d-1");
  expect(changes()).toEqual([]);
});

test("A delivery of a paused endpoint changes in an open list when it is replayed, and when it is discarded", async () => {
  const { server, client, deliver, changes, untilStatus } = await openWatched((declared) => {
    declared.webhook("dies", { background: true, attempts: 1 }, () => {
      throw new Error("The disk is full.");
    });
  });
  await deliver("dies", "d-1");
  await untilStatus("dies", "d-1", "dead");
  await waitFor(() => expect(changes()).toHaveLength(3));
  await server.inbox.pause("dies");
  const key = { endpoint: "dies", id: "d-1" };
  for (const [index, [action, body]] of [
    ["replay-dead", {}] as const,
    ["discard", key] as const,
    ["replay", key] as const,
  ].entries()) {
    expect((await client.change(`deliveries/${action}`, body)).status).toBe(200);
    expect([action, changes().length]).toEqual([action, 4 + index]);
  }
});
