import { describe, expect, test } from "vitest";
import type { RetryPolicy } from "../../../src/inbox/retry-policy.ts";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { arrival } from "./inbox.ts";

const policy: RetryPolicy = { attempts: 3, waitAfter: (attempt) => attempt * 100, totalWaitMs: 300 };
const key = { id: "a", endpoint: "retrain" };

function openTable() {
  const table = new DeliveryTable(openInboxDatabase(":memory:"));
  let now = 1_000;
  table.add(arrival("a"), { now, maxQueued: 10 });
  const onDamage = (error: unknown) => {
    throw error;
  };
  const claim = () => {
    now += 1_000;
    const claimant = { owner: "me", now };
    const [ordinary] = table.claim("retrain", { limit: 1, claimant, onDamage });
    const claimed = ordinary ?? table.claimSuspect("retrain", { claimant, onDamage });
    if (!claimed) throw new Error("Nothing is due.");
    return { claimed, isSuspect: ordinary === undefined };
  };
  /** Runs the delivery, and lets the process crash. */
  const crash = (crashPolicy = policy, { isAlone = false } = {}) => {
    const { isSuspect } = claim();
    const [row] = table.running("retrain", onDamage).rows;
    if (!row) throw new Error("It does not run.");
    const back = table.recover(row, { isAlone, policy: crashPolicy, now, lastBeatAt: now });
    return { ...back, isSuspect, waitMs: (table.nextSuspect("retrain")?.dueAt ?? now) - now };
  };
  return { table, claim, crash, now: () => now };
}

const beside = (crash: ReturnType<typeof openTable>["crash"]) => crash(policy, { isAlone: false });
const alone = (crash: ReturnType<typeof openTable>["crash"]) => crash(policy, { isAlone: true });

describe("A delivery that was running at a crash", () => {
  test("uses up an attempt when it was alone, and waits longer each time", () => {
    const { crash, table } = openTable();
    expect(alone(crash)).toMatchObject({ isCounted: true, isDead: false, isSuspect: false, waitMs: 100 });
    expect(alone(crash)).toMatchObject({ isCounted: true, isDead: false, isSuspect: true, waitMs: 200 });
    expect(alone(crash)).toMatchObject({ isCounted: true, isDead: true, isSuspect: true });
    expect(table.reader.get(key)).toMatchObject({ status: "dead", attempts: Array(3).fill({ outcome: "abandoned" }) });
  });

  test("uses up none beside others, three times at most", () => {
    const { crash } = openTable();
    const crashes = [1, 2, 3, 4, 5, 6].map(() => beside(crash));
    expect(crashes.map(({ isCounted }) => isCounted)).toEqual([false, false, false, true, true, true]);
    expect(crashes.map(({ isDead }) => isDead)).toEqual([false, false, false, false, false, true]);
    // As many waits as the policy has.
    expect(crashes.slice(0, 5).map(({ waitMs }) => waitMs)).toEqual([100, 200, 200, 200, 200]);
  });

  test("is no suspect any more when it ran alone to its end, and has not forgotten the crashes beside others", () => {
    const { crash, claim, table, now } = openTable();
    for (let count = 0; count < 3; count += 1) beside(crash);
    const { claimed, isSuspect } = claim();
    expect(isSuspect).toBe(true);
    const attempt = { number: claimed.attempt, startedAt: new Date(), durationMs: 1, outcome: "failed" as const };
    const next = { status: "queued" as const, dueAt: now(), counts: true };
    expect(table.recordEnd(claimed, { attempt, next }, { owner: "me", now: now() })).toBe("stored");
    expect(beside(crash)).toMatchObject({ isSuspect: false, isCounted: true });
  });

  test("stays a suspect when a shutdown cut its run short", () => {
    const { crash, claim, table, now } = openTable();
    beside(crash);
    const { claimed } = claim();
    const attempt = { number: claimed.attempt, startedAt: new Date(), durationMs: 1, outcome: "abandoned" as const };
    const next = { status: "queued" as const, dueAt: now(), counts: false };
    table.recordEnd(claimed, { attempt, next }, { owner: "me", now: now() });
    expect(claim().isSuspect).toBe(true);
  });

  test("has all its attempts again after a replay, and runs alone all the same", () => {
    const { crash, table, now } = openTable();
    for (let count = 0; count < 3; count += 1) alone(crash);
    expect(table.replay(key, now())).toBe(true);
    expect(alone(crash)).toMatchObject({ isSuspect: true, isDead: false });
  });

  test("runs again when that was asked for while it ran, although its attempts are used up", () => {
    const { claim, table, now } = openTable();
    claim();
    table.replay(key, now());
    const [row] = table.running("retrain", () => {}).rows;
    if (!row) throw new Error("It does not run.");
    const once = { attempts: 1, waitAfter: () => 1, totalWaitMs: 0 };
    expect(table.recover(row, { isAlone: true, policy: once, now: now(), lastBeatAt: now() })).toMatchObject({
      isDead: false,
    });
  });

  test("is left alone when another process has taken it back before", () => {
    const { claim, table, now } = openTable();
    claim();
    const [row] = table.running("retrain", () => {}).rows;
    if (!row) throw new Error("It does not run.");
    const taken = { isAlone: true, policy, now: now(), lastBeatAt: now() };
    expect(table.recover(row, taken)).toBeDefined();
    expect(table.recover(row, taken)).toBeUndefined();
  });
});

describe("A process that is gone", () => {
  test("is counted once, by whoever finds out first, and forgotten when it runs nothing any more", () => {
    const { claim, table, now } = openTable();
    table.beat({ owner: "me", now: now() });
    claim();
    expect(table.markOwnerGone("me", { beat: 1 })).toMatchObject({ running: 1, lastBeatAt: 1_000 });
    table.dropOwner("me");
    expect(table.beats()).toEqual(new Map([["me", 1]]));
    const [row] = table.running("retrain", () => {}).rows;
    if (!row) throw new Error("It does not run.");
    table.recover(row, { isAlone: true, policy, now: now(), lastBeatAt: now() });
    // Another process comes to it later.
    expect(table.markOwnerGone("me", { beat: 1 })).toMatchObject({ running: 1 });
    table.dropOwner("me");
    expect(table.beats()).toEqual(new Map());
  });

  test("is not gone when it has shown meanwhile that it is alive", () => {
    const { claim, table, now } = openTable();
    claim();
    expect(table.markOwnerGone("me", { beat: undefined })).toMatchObject({ running: 1 });
    table.beat({ owner: "me", now: now() });
    expect(table.markOwnerGone("me", { beat: 0 })).toBeUndefined();
  });

  test("is forgotten after a day when it left nothing", () => {
    const { table } = openTable();
    table.beat({ owner: "idle", now: 1_000 });
    table.dropOwnersBefore(1_000);
    expect(table.beats().size).toBe(1);
    table.dropOwnersBefore(1_001);
    expect(table.beats().size).toBe(0);
  });
});
