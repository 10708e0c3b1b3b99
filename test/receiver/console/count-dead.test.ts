import { expect, onTestFinished, test, vi } from "vitest";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { addDead } from "./add-dead.ts";
import { openReceiverConsole } from "./open-receiver-console.ts";

test("Counting dead deliveries stops after a minute", async () => {
  const inbox = await openInbox({ url: "sqlite::memory:", now: Date.now, log: createMemoryLogger() });
  const { client } = await openReceiverConsole(
    (server) => server.webhook("background", { background: true }, () => "done"),
    { inbox },
  );
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  // An inbox whose pages never match, and never end. Each takes one second.
  const list = vi.spyOn(inbox, "list").mockImplementation(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { deliveries: [], next: "1" };
  });
  const counting = client.change("deliveries/count-dead", {});
  while (list.mock.calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(70_000);
  expect((await counting).body).toEqual({ count: 0, isMore: true });
  const { length } = list.mock.calls;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(list).toHaveBeenCalledTimes(length);
});

/** Opens a console whose inbox is a file, to which the test adds dead deliveries. */
async function openDead() {
  const file = inboxFile();
  const inbox = await openInbox({ url: `sqlite:${file}`, now: Date.now, log: createMemoryLogger() });
  const list = vi.spyOn(inbox, "list");
  const { client } = await openReceiverConsole(
    (server) => server.webhook("background", { background: true }, () => "done"),
    { inbox },
  );
  const count = async (filter: object = {}) => (await client.change("deliveries/count-dead", filter)).body;
  return { file, inbox, list, client, count };
}

test("The count of dead deliveries continues the search to its end", async () => {
  const { file, count } = await openDead();
  expect(await count({ search: "gpu" })).toEqual({ count: 0, isMore: false });
  addDead(file, "background", 1_500);
  expect(await count({ search: "gpu" })).toEqual({ count: 0, isMore: false });
  expect(await count({ search: "D29" })).toEqual({ count: 11, isMore: false });
  expect(await count({ endpoint: "background" })).toEqual({ count: 1_500, isMore: false });
});

test("At most 10,000 dead deliveries are counted or replayed at a time, and it is reported whether there are more", async () => {
  const { file, inbox, list, client, count } = await openDead();
  addDead(file, "background", 10_000);
  expect(await count()).toEqual({ count: 10_000, isMore: false });
  addDead(file, "more", 3_000);
  list.mockClear();
  expect(await count()).toEqual({ count: 10_000, isMore: true });
  // Of 1,000 deliveries each.
  expect(list).toHaveBeenCalledTimes(11);
  vi.spyOn(inbox, "replay").mockResolvedValue();
  const { body } = await client.change("deliveries/replay-dead", {});
  expect(body).toMatchObject({ replayed: 10_000, failed: 0, isMore: true });
});
