import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { WebhookError } from "../../../src/core/errors.ts";
import type { StoredDelivery } from "../../../src/inbox/inbox.ts";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import { replayAll } from "../../../src/receiver/console/deliveries.ts";
import { withInboxDeadline } from "../../../src/receiver/console/source.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { openReceiverConsole } from "./open-receiver-console.ts";

function fakeTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
}

/** Adds dead deliveries to an inbox file. */
function addDead(file: string, endpoint: string, count: number): void {
  const database = new DatabaseSync(file);
  database
    .prepare(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?2)
       INSERT INTO deliveries (endpoint, id, status, body, received_at, due_at, scheduled_at)
       SELECT ?1, 'd' || n, 'dead', '{}', n, NULL, n FROM numbers`,
    )
    .run(endpoint, count);
  database.exec(countAllSql);
  database.close();
}

/** Opens a console with an inbox for dead deliveries. */
async function openDead(url = "sqlite::memory:") {
  const inbox = await openInbox({ url, now: Date.now, log: createMemoryLogger() });
  const { client } = await openReceiverConsole(
    (server) => server.webhook("background", { background: true }, () => "done"),
    { inbox },
  );
  const count = async (filter: object = {}) => (await client.change("deliveries/count-dead", filter)).body;
  return { inbox, client, count };
}

test("Counting dead deliveries stops after a minute", async () => {
  const { inbox, client } = await openDead();
  fakeTimers();
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

test("The count of dead deliveries continues the search to its end", async () => {
  const file = inboxFile();
  const { count } = await openDead(`sqlite:${file}`);
  expect(await count({ search: "gpu" })).toEqual({ count: 0, isMore: false });
  addDead(file, "background", 1_500);
  expect(await count({ search: "gpu" })).toEqual({ count: 0, isMore: false });
  expect(await count({ search: "D29" })).toEqual({ count: 11, isMore: false });
  expect(await count({ endpoint: "background" })).toEqual({ count: 1_500, isMore: false });
});

test("At most 10,000 dead deliveries are counted or replayed at a time, and it is reported whether there are more", async () => {
  const { inbox, client, count } = await openDead();
  let stored = 10_000;
  const list = vi.spyOn(inbox, "list").mockImplementation(async ({ limit = 0, cursor = "0" } = {}) => {
    const start = Number(cursor);
    const deliveries = Array.from({ length: Math.min(limit, stored - start) }, (_, index): StoredDelivery => {
      const id = `d-${start + index}`;
      const receivedAt = new Date(stored - start - index);
      return { id, endpoint: "background", status: "dead", body: "{}", receivedAt, attempts: [] };
    });
    const end = start + deliveries.length;
    return { deliveries, ...(end < stored && { next: String(end) }) };
  });
  expect(await count()).toEqual({ count: 10_000, isMore: false });
  stored = 13_000;
  list.mockClear();
  expect(await count()).toEqual({ count: 10_000, isMore: true });
  // Of 1,000 deliveries each.
  expect(list).toHaveBeenCalledTimes(11);
  vi.spyOn(inbox, "replay").mockResolvedValue();
  const { body } = await client.change("deliveries/replay-dead", {});
  expect(body).toMatchObject({ replayed: 10_000, failed: 0, isMore: true });
});

const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ endpoint: "e", id: `${index}` }));

const mask = (message: string) => message.replaceAll("pa55word", "***");

const unknown = new WebhookError("The delivery is not stored at redis://:pa55word@host.", { code: "DELIVERY_UNKNOWN" });

test("Replays count failures by reason, the most frequent first, and log each reason once", async () => {
  const replay = async ({ id }: { id: string }) => {
    if (id === "0") throw new Error("SQLITE_CORRUPT in /data/inbox.db");
    if (id === "1" || id === "2") throw unknown;
  };
  const [log, onReplayed] = [createMemoryLogger(), vi.fn()];
  const result = await replayAll({ replay }, keys(150), { stopAt: Number.POSITIVE_INFINITY, onReplayed, log, mask });
  expect(result).toEqual({
    replayed: 147,
    failed: 3,
    failures: [
      { code: "DELIVERY_UNKNOWN", error: "The delivery is not stored at redis://:***@host.", count: 2 },
      { code: "INTERNAL", error: expect.not.stringContaining("SQLITE"), count: 1 },
    ],
    isMore: false,
  });
  expect(onReplayed).toHaveBeenCalledTimes(150);
  expect(log.lines.map(({ code }) => code)).toEqual(["INTERNAL", "DELIVERY_UNKNOWN"]);
});

test("Replays stop when their time is over, also if the inbox does not answer", async () => {
  fakeTimers();
  const replay = vi.fn(() => new Promise<void>(() => {}));
  const options = { stopAt: performance.now() + 15_000, onReplayed: () => {}, log: createMemoryLogger(), mask };
  const replaying = replayAll({ replay }, keys(1_000), options);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await replaying).toMatchObject({
    replayed: 0,
    failed: replay.mock.calls.length,
    failures: [{ code: "INBOX_UNAVAILABLE" }],
    isMore: true,
  });
  expect(replay.mock.calls.length).toBeLessThan(1_000);
});

test("An inbox that does not answer within 5 s counts as unavailable", async () => {
  fakeTimers();
  const waiting = expect(withInboxDeadline(new Promise(() => {}))).rejects.toMatchObject({
    code: "INBOX_UNAVAILABLE",
    status: 503,
  });
  await vi.advanceTimersByTimeAsync(5_000);
  await waiting;
});

test("A slow change of the inbox can have a longer timeout", async () => {
  fakeTimers();
  const answer = Promise.withResolvers<string>();
  const waiting = withInboxDeadline(answer.promise, 20_000);
  await vi.advanceTimersByTimeAsync(19_000);
  answer.resolve("done");
  expect(await waiting).toBe("done");
});
