import { DatabaseSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { DeliveryFilter, ReplayStarted } from "../../../src/console/protocol/deliveries.ts";
import { WebhookError } from "../../../src/core/errors.ts";
import type { StoredDelivery } from "../../../src/inbox/inbox.ts";
import { openInbox } from "../../../src/inbox/open-inbox.ts";
import { countAllSql } from "../../../src/inbox/sqlite/schema.ts";
import { replayAll } from "../../../src/receiver/console/deliveries.ts";
import { withInboxDeadline } from "../../../src/receiver/inbox.ts";
import { inboxFile } from "../../inbox/inbox-file.ts";
import { createMemoryLogger } from "../../support/memory-logger.ts";
import { waitFor } from "../../support/wait-for.ts";
import { openReceiverConsole, payloadOf } from "./open-receiver-console.ts";

/** Opens a server whose endpoints fail until `isFixed` is set, inline and in the background. */
async function openServer() {
  const state = { isFixed: false, seen: [] as string[] };
  const run = (payload: { repo: { name: string } }) => {
    state.seen.push(payload.repo.name);
    if (!state.isFixed) throw new Error("The disk is full.");
    return "done";
  };
  const opened = await openReceiverConsole((server) => {
    server.webhook("inline", run);
    for (const name of ["one", "two"]) server.webhook(name, { background: true, attempts: 1 }, run);
    server.webhook("retried", { background: true, attempts: 2, backoff: { first: "1h", max: "1h" } }, run);
    server.webhook("filtered", { repo: "dataset:acme/wanted" }, () => "done");
  });
  const change = (path: string, body: unknown) => opened.client.change(`deliveries/${path}`, body);
  return { ...opened, state, change };
}

const noReplay = { replayed: 0, failed: 0, failures: [], isMore: false };
const unknown = { status: 404, body: { error: expect.any(String), code: "DELIVERY_UNKNOWN" } };

describe("A replay", () => {
  test("runs a stored delivery again", async () => {
    const { deliver, change, untilStatus, state } = await openServer();
    await deliver("one", "d-1");
    await untilStatus("one", "d-1", "dead");
    state.isFixed = true;
    const key = { endpoint: "one", id: "d-1" };
    expect(await change("replay", key)).toEqual({ status: 200, body: key });
    const { timeline, attempts } = await untilStatus("one", "d-1", "succeeded");
    expect([attempts, timeline.map(({ outcome }) => outcome)]).toEqual([2, ["failed", "succeeded"]]);
  });

  test("of a delivery in memory is a new delivery with the same body", async () => {
    const { deliver, change, untilStatus, state, one, ids } = await openServer();
    await deliver("inline", "d-1");
    state.isFixed = true;
    const { status, body } = await change("replay", { endpoint: "inline", id: "d-1" });
    const started: ReplayStarted = body;
    expect([status, started.endpoint]).toEqual([200, "inline"]);
    expect(started.id).not.toBe("d-1");
    const copy = await untilStatus("inline", started.id, "succeeded");
    expect(copy).toMatchObject({ replayOf: "d-1", attempts: 1, storage: "memory" });
    expect(copy).not.toHaveProperty("headers");
    const first = await one("inline", "d-1");
    expect([first.status, first.body]).toEqual(["failed", copy.body]);
    expect((await ids()).sort()).toEqual([started.id, "d-1"].sort());
  });

  test("of an ignored delivery is ignored again", async () => {
    const { deliver, change, untilStatus } = await openServer();
    await deliver("filtered", "d-1");
    const { body } = await change("replay", { endpoint: "filtered", id: "d-1" });
    expect(await untilStatus("filtered", body.id, "ignored")).toMatchObject({ replayOf: "d-1" });
  });

  test("of an unknown delivery is an error", async () => {
    const { change } = await openServer();
    for (const endpoint of ["one", "inline", "none"]) {
      expect(await change("replay", { endpoint, id: "none" })).toEqual(unknown);
    }
    const { client } = await openReceiverConsole((server) => server.webhook("inline", () => {}));
    expect(await client.change("deliveries/replay", { endpoint: "inline", id: "none" })).toEqual(unknown);
  });

  test("answers before the handler has finished", async () => {
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let runs = 0;
    const opened = await openReceiverConsole((server) => server.webhook("waits", () => gates[runs++]?.promise));
    gates[0]?.resolve();
    await opened.deliver("waits", "d-1");
    const { body } = await opened.client.change("deliveries/replay", { endpoint: "waits", id: "d-1" });
    expect(await opened.one("waits", body.id)).toMatchObject({ status: "running" });
    gates[1]?.resolve();
    await opened.untilStatus("waits", body.id, "succeeded");
  });
});

test("A server that closes waits for the replays of inline deliveries", async () => {
  const gate = Promise.withResolvers<void>();
  const state = { runs: 0, isFinished: false };
  const { server, client, deliver } = await openReceiverConsole((receiver) => {
    receiver.webhook("inline", async () => {
      state.runs += 1;
      if (state.runs === 1) return;
      await gate.promise;
      // Longer than a close that does not wait.
      for (let turn = 0; turn < 100; turn += 1) await setImmediate();
      state.isFinished = true;
    });
  });
  await deliver("inline", "d-1");
  await client.change("deliveries/replay", { endpoint: "inline", id: "d-1" });
  await waitFor(() => expect(state.runs).toBe(2));
  const closed = server.close().then(() => state.isFinished);
  gate.resolve();
  expect(await closed).toBe(true);
});

test("A server that closes does not wait for a replay that takes longer than its grace", {
  timeout: 15_000,
}, async () => {
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const { server, client, deliver } = await openReceiverConsole((receiver) => {
    receiver.webhook("inline", () => {
      runs += 1;
      return runs === 1 ? undefined : gate.promise;
    });
  });
  onTestFinished(() => gate.resolve());
  await server.launch({ port: 0, host: "127.0.0.1", handleSignals: false, shutdownGrace: "10ms" });
  await deliver("inline", "d-1");
  await client.change("deliveries/replay", { endpoint: "inline", id: "d-1" });
  await waitFor(() => expect(runs).toBe(2));
  await server.close();
});

test("A server that has closed leaves no timer, so that its process can end", async () => {
  const { server } = await openReceiverConsole((receiver) => receiver.webhook("inline", () => {}));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await server.close();
  expect(vi.getTimerCount()).toBe(0);
});

describe("An edited replay", () => {
  test.each(["one", "inline"])("of %s runs a copy with the edited body", async (endpoint) => {
    const { deliver, change, untilStatus, state } = await openServer();
    await deliver(endpoint, "d-1");
    await untilStatus(endpoint, "d-1", endpoint === "one" ? "dead" : "failed");
    state.isFixed = true;
    const text = JSON.stringify(payloadOf("acme/edited"), null, 2);
    const { status, body } = await change("replay-edited", { endpoint, id: "d-1", body: text });
    expect([status, body.endpoint]).toEqual([200, endpoint]);
    expect(body.id).not.toBe("d-1");
    const copy = await untilStatus(endpoint, body.id, "succeeded");
    expect([copy.body, copy.repository?.name, copy.replayOf]).toEqual([text, "acme/edited", "d-1"]);
    expect(state.seen).toEqual(["acme/data", "acme/edited"]);
  });

  test.each(["one", "inline"])("of %s that is not valid names the fields", async (endpoint) => {
    const { change, state, deliver, untilStatus } = await openServer();
    await deliver(endpoint, "d-1");
    await untilStatus(endpoint, "d-1", endpoint === "one" ? "dead" : "failed");
    const payload = { ...payloadOf("acme/data"), repo: { type: 7 }, event: { action: "update" } };
    const { status, body } = await change("replay-edited", { endpoint, id: "d-1", body: JSON.stringify(payload) });
    expect([status, body.code]).toEqual([422, "PAYLOAD_INVALID"]);
    const paths = body.fields.map(({ path }: { path: string[] }) => path.join("."));
    expect(paths).toEqual(expect.arrayContaining(["repo.type", "repo.name", "event.scope"]));
    expect(body.fields.every(({ problem }: { problem: unknown }) => typeof problem === "string")).toBe(true);
    expect(state.seen).toHaveLength(1);
  });

  test.each([
    ["a syntax error", '{"repo": }', "BODY_NOT_JSON"],
    ["nothing", "", "BODY_NOT_JSON"],
    ["another value", "7", "PAYLOAD_INVALID"],
  ])("with %s is an error of the whole payload", async (_what, text, code) => {
    const { change } = await openServer();
    expect(await change("replay-edited", { endpoint: "one", id: "d-1", body: text })).toEqual({
      status: 422,
      body: { error: expect.any(String), code, fields: [{ path: [], problem: expect.any(String) }] },
    });
  });

  test("of an unknown endpoint is an error", async () => {
    const { change } = await openServer();
    const { status, body } = await change("replay-edited", { endpoint: "none", id: "d-1", body: "{}" });
    expect([status, body.code]).toEqual([404, "ENDPOINT_UNKNOWN"]);
  });
});

describe("Dead deliveries", () => {
  async function openDead() {
    const opened = await openServer();
    for (const [endpoint, id, name] of [
      ["one", "a", "acme/x"],
      ["one", "b", "acme/y"],
      ["two", "c", "acme/x"],
      ["inline", "d", "acme/x"],
    ] as const) {
      await opened.deliver(endpoint, id, { payload: payloadOf(name) });
      opened.clock.now += 1_000;
      await opened.untilStatus(endpoint, id, endpoint === "inline" ? "failed" : "dead");
    }
    return opened;
  }

  test.each<[string, DeliveryFilter, string[]]>([
    ["no filter", {}, ["a", "b", "c"]],
    ["an endpoint", { endpoint: "one" }, ["a", "b"]],
    ["a repository", { repository: "dataset:acme/x" }, ["a", "c"]],
    ["a text", { search: "disk", endpoint: "two" }, ["c"]],
    ["another status, which does not count", { status: "succeeded", endpoint: "two" }, ["c"]],
    ["an endpoint without a queue", { endpoint: "inline" }, []],
    ["nothing that matches", { action: "none" }, []],
  ])("of %s are counted and replayed", async (_what, filter, ids) => {
    const { change, state, ids: listed } = await openDead();
    state.isFixed = true;
    expect(await change("count-dead", filter)).toEqual({ status: 200, body: { count: ids.length, isMore: false } });
    expect(await change("replay-dead", filter)).toEqual({ status: 200, body: { ...noReplay, replayed: ids.length } });
    await waitFor(async () => expect((await listed("?status=succeeded")).sort()).toEqual(ids), { interval: 5 });
    expect((await listed("?status=dead")).sort()).toEqual(["a", "b", "c"].filter((id) => !ids.includes(id)));
    expect(await change("count-dead", filter)).toEqual({ status: 200, body: { count: 0, isMore: false } });
  });

  test("without an inbox are counted as zero", async () => {
    const { client } = await openReceiverConsole((server) => server.webhook("inline", () => {}));
    expect((await client.change("deliveries/count-dead", {})).body).toEqual({ count: 0, isMore: false });
    expect((await client.change("deliveries/replay-dead", {})).body).toEqual(noReplay);
  });

  test("with a wrong filter are an error", async () => {
    const { change } = await openServer();
    expect((await change("count-dead", { status: "nope" })).status).toBe(400);
    expect((await change("replay-dead", { from: "yesterday" })).status).toBe(400);
    // It would replay the deliveries of all endpoints.
    expect((await change("replay-dead", { endpoints: "one" })).status).toBe(400);
  });
});

describe("Discarding", () => {
  test("cancels a queued or dead delivery, which can be replayed", async () => {
    const { deliver, change, untilStatus, state } = await openServer();
    await deliver("retried", "waiting");
    await deliver("one", "dead");
    await untilStatus("retried", "waiting", "retrying");
    await untilStatus("one", "dead", "dead");
    for (const [endpoint, id] of [
      ["retried", "waiting"],
      ["one", "dead"],
    ] as const) {
      expect(await change("discard", { endpoint, id })).toEqual({ status: 200, body: {} });
      expect(await untilStatus(endpoint, id, "cancelled")).not.toHaveProperty("nextAttemptAt");
    }
    state.isFixed = true;
    await change("replay", { endpoint: "one", id: "dead" });
    await untilStatus("one", "dead", "succeeded");
  });

  test("refuses deliveries that run, are in memory, or are unknown", async () => {
    const gate = Promise.withResolvers<void>();
    const opened = await openReceiverConsole((server) => {
      server.webhook("waits", { background: true }, () => gate.promise);
      server.webhook("inline", () => {});
    });
    await opened.deliver("waits", "d-1");
    await opened.deliver("inline", "d-2");
    await opened.untilStatus("waits", "d-1", "running");
    const discard = (endpoint: string, id: string) => opened.client.change("deliveries/discard", { endpoint, id });
    expect((await discard("waits", "d-1")).body).toMatchObject({ code: "DELIVERY_RUNNING" });
    expect(await discard("inline", "d-2")).toEqual(unknown);
    expect(await discard("waits", "none")).toEqual(unknown);
    gate.resolve();
    await opened.untilStatus("waits", "d-1", "succeeded");
  });
});

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
  while (list.mock.calls.length === 0) await setImmediate();
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

const notStored = new WebhookError("The delivery is not stored at redis://:pa55word@host.", {
  code: "DELIVERY_UNKNOWN",
});

test("Replays count failures by reason, the most frequent first, and log each reason once", async () => {
  const replay = async ({ id }: { id: string }) => {
    if (id === "0") throw new Error("SQLITE_CORRUPT in /data/inbox.db");
    if (id === "1" || id === "2") throw notStored;
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
