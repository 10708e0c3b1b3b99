import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { decodeRecord, quarantineKey, recordKey } from "../../../src/inbox/bucket/log.ts";
import { failed, incoming, succeeded, waitForStatus, work } from "../engine.ts";
import { lastRecord, listIds, MemoryObjectStore, openMemoryInbox, storesRecord } from "./memory-object-store.ts";

/** Stores deliveries one by one and closes the inbox. Returns the number of the record of each delivery. */
async function storeDeliveries(store: MemoryObjectStore, ids: readonly string[]): Promise<Map<string, number>> {
  const { inbox } = await openMemoryInbox(store);
  const numbers = new Map<string, number>();
  for (const id of ids) {
    await inbox.accept(incoming(id));
    numbers.set(id, lastRecord(store));
  }
  await inbox.close(0);
  return numbers;
}

function damage(store: MemoryObjectStore, number: number, how: "deleted" | "torn"): Uint8Array {
  const found = store.objects.get(recordKey(number));
  if (found === undefined) throw new Error(`There is no record ${number}.`);
  if (how === "deleted") store.objects.delete(recordKey(number));
  else store.objects.set(recordKey(number), { ...found, body: found.body.slice(0, -5) });
  return found.body;
}

describe.each(["deleted", "torn"] as const)("If a record was %s", (how) => {
  test("the inbox opens with the other deliveries, reports the gap, and accepts deliveries", async () => {
    const store = new MemoryObjectStore();
    const numbers = await storeDeliveries(store, ["a", "b", "c"]);
    const number = numbers.get("b") ?? 0;
    damage(store, number, how);
    const { inbox, logger } = await openMemoryInbox(store);
    expect(await listIds(inbox)).toEqual(["a", "c"]);
    expect(logger.lines).toContainEqual(
      expect.objectContaining({
        level: "error",
        code: "INBOX_DAMAGED",
        gaps: [{ number, reason: how === "deleted" ? "missing" : "unreadable" }],
      }),
    );
    expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED", severity: "degraded" }]);
    expect(store.objects.has(quarantineKey(number))).toBe(how === "torn");
    expect(await inbox.counts()).toMatchObject({ retrain: { queued: 2 } });
    expect(await inbox.accept(incoming("b"))).toEqual({ duplicate: false });
    work(inbox, () => succeeded);
    await waitForStatus(inbox, "c", "succeeded");
  });

  test("the gap is known after the next start, with and without a snapshot", async () => {
    const store = new MemoryObjectStore();
    const numbers = await storeDeliveries(store, ["a", "b", "c"]);
    damage(store, numbers.get("b") ?? 0, how);
    const { inbox: first } = await openMemoryInbox(store);
    await first.accept(incoming("d"));
    await first.close(0);
    for (const hasSnapshot of [true, false]) {
      if (!hasSnapshot)
        for (const key of store.objects.keys()) if (key.startsWith("snapshots/")) store.objects.delete(key);
      const { inbox } = await openMemoryInbox(store);
      expect(await listIds(inbox)).toEqual(["a", "c", "d"]);
      expect(await inbox.counts()).toMatchObject({ retrain: { queued: 3 } });
      expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED", severity: "degraded" }]);
      await inbox.close(0);
    }
  });

  test("a repair queues its deliveries after the record was restored, and ends the problem", async () => {
    const store = new MemoryObjectStore();
    const numbers = await storeDeliveries(store, ["a", "b", "c"]);
    const number = numbers.get("b") ?? 0;
    const original = damage(store, number, how);
    const { inbox } = await openMemoryInbox(store);
    store.objects.set(recordKey(number), { body: original, storedAt: Date.now() });
    expect(await inbox.repair()).toEqual([{ record: number, isReadable: true, recovered: 1 }]);
    // The copy of a torn record contains payloads.
    expect(store.objects.has(quarantineKey(number))).toBe(false);
    expect(await inbox.get({ id: "b", endpoint: "retrain" })).toMatchObject({
      status: "queued",
      body: incoming("b").body,
    });
    expect(await inbox.problems()).toEqual([]);
    expect(await inbox.repair()).toEqual([]);
  });

  test("a repair does not queue a delivery that was received and failed again in the meantime", async () => {
    const store = new MemoryObjectStore();
    const numbers = await storeDeliveries(store, ["a", "b"]);
    const number = numbers.get("b") ?? 0;
    const original = damage(store, number, how);
    const { inbox } = await openMemoryInbox(store);
    expect(await inbox.accept(incoming("b"))).toEqual({ duplicate: false });
    work(inbox, () => failed({ retryable: false }));
    await waitForStatus(inbox, "b", "dead");
    store.objects.set(recordKey(number), { body: original, storedAt: Date.now() });
    expect(await inbox.repair()).toEqual([{ record: number, isReadable: true, recovered: 0 }]);
    expect(await inbox.get({ id: "b", endpoint: "retrain" })).toMatchObject({ status: "dead" });
  });

  test("a repair reads unreadable records at the same time, and reports that their changes are lost", async () => {
    const store = new MemoryObjectStore();
    const numbers = await storeDeliveries(store, ["a", "b", "c"]);
    const damaged = [numbers.get("a") ?? 0, numbers.get("b") ?? 0];
    for (const number of damaged) damage(store, number, how);
    const { inbox } = await openMemoryInbox(store);
    let rounds = 0;
    let round: Promise<void> | undefined;
    store.wait = () => {
      round ??= setImmediate().then(() => {
        rounds += 1;
        round = undefined;
      });
      return round;
    };
    const lost = damaged.map((record) => ({ record, isReadable: false, recovered: 0 }));
    expect(await inbox.repair()).toEqual(lost);
    expect(rounds).toBe(4);
    await inbox.close(0);
    const { inbox: next } = await openMemoryInbox(store);
    expect(await next.problems()).toEqual([]);
  });
});

test("records that are lost at the end of the log after a proper shutdown are a gap", async () => {
  const store = new MemoryObjectStore();
  await storeDeliveries(store, ["a", "b"]);
  store.objects.delete(recordKey(lastRecord(store)));
  const { inbox } = await openMemoryInbox(store);
  expect(await listIds(inbox)).toEqual(["a"]);
  expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED" }]);
});

test("records that are missing at the end of the log are a gap, because the last heartbeat contains their number", async () => {
  const store = new MemoryObjectStore();
  const { inbox: crashed } = await openMemoryInbox(store);
  await crashed.accept(incoming("a"));
  await crashed.accept(incoming("b"));
  const last = lastRecord(store);
  for (const [key, { body, storedAt }] of store.objects) {
    if (!key.startsWith("heartbeats/")) continue;
    const heartbeat = { ...JSON.parse(new TextDecoder().decode(body)), position: last };
    store.objects.set(key, { body: new TextEncoder().encode(JSON.stringify(heartbeat)), storedAt });
  }
  store.objects.delete(recordKey(last));
  const { inbox } = await openMemoryInbox(store);
  expect(await listIds(inbox)).toEqual(["a"]);
  expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED" }]);
  // The number is not used again, so the earlier process finds another record there.
  expect(lastRecord(store)).toBeGreaterThan(last);
});

test("a gap that cannot be recorded after the takeover leaves no owner, so that another process can start at once", async () => {
  const store = new MemoryObjectStore();
  const numbers = await storeDeliveries(store, ["a", "b"]);
  damage(store, numbers.get("a") ?? 0, "torn");
  let puts = 0;
  store.intercept = (request) => {
    if (!storesRecord(request)) return undefined;
    puts += 1;
    return puts > 1 ? "refused" : undefined;
  };
  await expect(openMemoryInbox(store)).rejects.toMatchObject({ code: "INBOX_UNAVAILABLE" });
  expect(puts).toBe(2);
  store.intercept = () => undefined;
  const { inbox } = await openMemoryInbox(store, { spaceId: "me/copy" });
  expect(await inbox.problems()).toMatchObject([{ code: "INBOX_DAMAGED" }]);
});

test("a torn record that its writer stored again is not a gap", async () => {
  const store = new MemoryObjectStore();
  const { inbox: first } = await openMemoryInbox(store);
  let isFirst = true;
  store.intercept = (request) => {
    if (!storesRecord(request) || !isFirst) return undefined;
    isFirst = false;
    return "torn";
  };
  await first.accept(incoming("a"));
  await first.close(0);
  const { inbox, logger } = await openMemoryInbox(store);
  expect(await listIds(inbox)).toEqual(["a"]);
  expect(await inbox.problems()).toEqual([]);
  expect(logger.lines.filter(({ level }) => level === "error")).toEqual([]);
});

test("a gap that the log describes does not make a later torn record without changes a gap", async () => {
  const store = new MemoryObjectStore();
  const numbers = await storeDeliveries(store, ["a", "b", "c"]);
  damage(store, numbers.get("b") ?? 0, "torn");
  const { inbox: first } = await openMemoryInbox(store);
  let isTorn = false;
  store.intercept = (request) => {
    if (!storesRecord(request) || isTorn) return undefined;
    isTorn = true;
    return "torn";
  };
  await first.accept(incoming("d"));
  await first.close(0);
  for (const key of store.objects.keys()) if (key.startsWith("snapshots/")) store.objects.delete(key);
  const { inbox, logger } = await openMemoryInbox(store);
  expect([isTorn, await listIds(inbox)]).toEqual([true, ["a", "c", "d"]]);
  expect(logger.lines.filter(({ gaps }) => gaps !== undefined)).toEqual([]);
});

test("every record contains the writer, its number, and the changes of one transaction", async () => {
  const store = new MemoryObjectStore();
  const numbers = await storeDeliveries(store, ["a"]);
  const number = numbers.get("a") ?? 0;
  const record = await decodeRecord(store.objects.get(recordKey(number))?.body ?? new Uint8Array());
  expect(record).toMatchObject({ number, kind: "changes", writer: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  expect(Buffer.from(record?.body ?? []).includes('{"id":"a"}')).toBe(true);
});
