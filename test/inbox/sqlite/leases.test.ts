import { describe, expect, test, vi } from "vitest";
import type { RetryPolicy } from "../../../src/inbox/retry.ts";
import { openInboxDatabase } from "../../../src/inbox/sqlite/database.ts";
import type { Totals } from "../../../src/inbox/sqlite/delivery-reader.ts";
import { DeliveryTable } from "../../../src/inbox/sqlite/delivery-table.ts";
import { createHeartbeatMonitor } from "../../../src/inbox/sqlite/due-deliveries.ts";
import { Leases } from "../../../src/inbox/sqlite/leases.ts";
import type { Statements } from "../../../src/inbox/sqlite/statements.ts";
import { incoming } from "./open-inbox.ts";

const policy: RetryPolicy = { maxAttempts: 3, waitAfter: (attempt) => attempt * 100, totalWaitMs: 300 };
const key = { id: "a", endpoint: "retrain" };

function openTable() {
  const table = new DeliveryTable(openInboxDatabase(":memory:"));
  let now = 1_000;
  table.add(incoming("a"), { now, maxQueued: 10 });
  const onDamage = (error: unknown) => {
    throw error;
  };
  const claim = () => {
    now += 1_000;
    const claimant = { processId: "me", now };
    const [ordinary] = table.claim("retrain", 1, claimant);
    const claimed = ordinary ?? table.claimSuspect("retrain", claimant);
    if (!claimed) throw new Error("Nothing is due.");
    return { claimed, isSuspect: ordinary === undefined };
  };
  const running = () => {
    const [row] = table.leases.running("retrain", onDamage).rows;
    if (!row) throw new Error("The delivery is not running.");
    return row;
  };
  /** Claims the delivery, then recovers it as if its process had crashed. */
  const crash = (crashPolicy = policy, { wasAlone = false } = {}) => {
    const { isSuspect } = claim();
    const row = running();
    const back = table.leases.recover(row, { wasAlone, policy: crashPolicy, now, lastHeartbeatAt: now });
    return { ...back, isSuspect, waitMs: (table.nextSuspect("retrain", now)?.dueAt ?? now) - now };
  };
  return { table, claim, running, crash, now: () => now };
}

const beside = (crash: ReturnType<typeof openTable>["crash"]) => crash(policy, { wasAlone: false });
const alone = (crash: ReturnType<typeof openTable>["crash"]) => crash(policy, { wasAlone: true });

describe("A delivery that was running when its process crashed", () => {
  test("uses up an attempt if no other delivery was running, and waits longer after each crash", () => {
    const { crash, table } = openTable();
    expect(alone(crash)).toMatchObject({ isCounted: true, isDead: false, isSuspect: false, waitMs: 100 });
    expect(alone(crash)).toMatchObject({ isCounted: true, isDead: false, isSuspect: true, waitMs: 200 });
    expect(alone(crash)).toMatchObject({ isCounted: true, isDead: true, isSuspect: true });
    expect(table.get(key)).toMatchObject({ status: "dead", attempts: Array(3).fill({ outcome: "abandoned" }) });
  });

  test("uses up no attempt if others were running, for at most three crashes", () => {
    const { crash } = openTable();
    const crashes = [1, 2, 3, 4, 5, 6].map(() => beside(crash));
    expect(crashes.map(({ isCounted }) => isCounted)).toEqual([false, false, false, true, true, true]);
    expect(crashes.map(({ isDead }) => isDead)).toEqual([false, false, false, false, false, true]);
    // The number of waits equals the number of attempts in the policy.
    expect(crashes.slice(0, 5).map(({ waitMs }) => waitMs)).toEqual([100, 200, 200, 200, 200]);
  });

  test("is no longer a suspect after a finished run, and its uncounted crashes are still counted", () => {
    const { crash, claim, table, now } = openTable();
    for (let count = 0; count < 3; count += 1) beside(crash);
    const { claimed, isSuspect } = claim();
    expect(isSuspect).toBe(true);
    const attempt = { number: claimed.attempt, startedAt: new Date(), durationMs: 1, outcome: "failed" as const };
    const next = { status: "queued" as const, dueAt: now(), counts: true };
    expect(table.recordEnd(claimed, { attempt, next }, { processId: "me", now: now() }).result).toBe("stored");
    expect(beside(crash)).toMatchObject({ isSuspect: false, isCounted: true });
  });

  test("stays a suspect if a shutdown interrupts its run", () => {
    const { crash, claim, table, now } = openTable();
    beside(crash);
    const { claimed } = claim();
    const attempt = { number: claimed.attempt, startedAt: new Date(), durationMs: 1, outcome: "abandoned" as const };
    const next = { status: "queued" as const, dueAt: now(), counts: false };
    table.recordEnd(claimed, { attempt, next }, { processId: "me", now: now() });
    expect(claim().isSuspect).toBe(true);
  });

  test("has all attempts again after a replay, and is still a suspect", () => {
    const { crash, table, now } = openTable();
    for (let count = 0; count < 3; count += 1) alone(crash);
    expect(table.replay(key, now())).toBe(true);
    expect(alone(crash)).toMatchObject({ isSuspect: true, isDead: false });
  });

  test("is queued again if it was replayed while running, even after its last attempt", () => {
    const { claim, now, running, table } = openTable();
    claim();
    table.replay(key, now());
    const row = running();
    const once = { maxAttempts: 1, waitAfter: () => 1, totalWaitMs: 0 };
    expect(
      table.leases.recover(row, { wasAlone: true, policy: once, now: now(), lastHeartbeatAt: now() }),
    ).toMatchObject({
      isDead: false,
    });
  });

  test("runs once if it was replayed before its handler started, and a shutdown requeued it", () => {
    const { claim, table, now } = openTable();
    const first = claim().claimed;
    table.replay(key, now());
    table.leases.release(first, { processId: "me", now: now() });
    const { claimed } = claim();
    const attempt = { number: claimed.attempt, startedAt: new Date(), durationMs: 1, outcome: "succeeded" as const };
    table.recordEnd(claimed, { attempt, next: { status: "succeeded" } }, { processId: "me", now: now() });
    expect(table.get(key)).toMatchObject({ status: "succeeded" });
  });

  test("is recovered only once", () => {
    const { claim, now, running, table } = openTable();
    claim();
    const row = running();
    const taken = { wasAlone: true, policy, now: now(), lastHeartbeatAt: now() };
    expect(table.leases.recover(row, taken)).toBeDefined();
    expect(table.leases.recover(row, taken)).toBeUndefined();
  });
});

describe("A process without heartbeats", () => {
  test("has its running deliveries counted once, and is removed after the last of them is recovered", () => {
    const { claim, now, running, table } = openTable();
    table.leases.addHeartbeat({ processId: "me", now: now() });
    claim();
    expect(table.leases.markProcessGone("me", 1)).toMatchObject({ running: 1, lastHeartbeatAt: 1_000 });
    table.leases.removeProcess("me");
    expect(table.leases.heartbeats()).toEqual(new Map([["me", 1]]));
    const row = running();
    table.leases.recover(row, { wasAlone: true, policy, now: now(), lastHeartbeatAt: now() });
    // Another process does this later.
    expect(table.leases.markProcessGone("me", 1)).toMatchObject({ running: 1 });
    table.leases.removeProcess("me");
    expect(table.leases.heartbeats()).toEqual(new Map());
  });

  test("is not marked as gone if it has sent a heartbeat since", () => {
    const { claim, table, now } = openTable();
    claim();
    expect(table.leases.markProcessGone("me", undefined)).toMatchObject({ running: 1 });
    table.leases.addHeartbeat({ processId: "me", now: now() });
    expect(table.leases.markProcessGone("me", 0)).toBeUndefined();
  });

  test("is removed after a day if it runs nothing", () => {
    const { table } = openTable();
    table.leases.addHeartbeat({ processId: "idle", now: 1_000 });
    table.leases.removeProcessesBefore(1_000);
    expect(table.leases.heartbeats().size).toBe(1);
    table.leases.removeProcessesBefore(1_001);
    expect(table.leases.heartbeats().size).toBe(0);
  });
});

/** Creates a table whose query for all running deliveries fails. */
function tableThatFails(error: Error): Leases {
  const statements = {
    running: () => ({
      all: () => {
        throw error;
      },
    }),
    runningSequences: () => ({ all: () => [{ sequence: 1 }] }),
    row: () => ({ get: () => ({ sequence: 1, id: "a", process_id: "other" }) }),
  };
  return new Leases(statements as unknown as Statements, {} as Totals);
}

describe("Running deliveries that cannot be read with one query", () => {
  test("are read one by one because of a damaged page, which is reported", () => {
    const damage = Object.assign(new Error("malformed"), { errcode: 11 });
    const onDamage = vi.fn();
    const { rows } = tableThatFails(damage).running("retrain", onDamage);
    expect(rows).toEqual([{ sequence: 1, id: "a", processId: "other" }]);
    expect(onDamage.mock.calls).toEqual([[damage]]);
  });

  test("fail for any other reason", () => {
    const error = new Error("disk I/O error");
    expect(() => tableThatFails(error).running("retrain", () => {})).toThrow(error);
  });
});

const leaseMs = 30_000;

function createMonitor() {
  const clock = { now: 0 };
  const monitor = createHeartbeatMonitor({ leaseMs, monotonicNow: () => clock.now });
  /** Observes a process every second. Returns the second in which it counts as gone. */
  const poll = (seconds: number, heartbeatsAt: (second: number) => number | undefined): number | undefined => {
    for (let second = 1; second <= seconds; second += 1) {
      clock.now += 1_000;
      if (monitor.observe(new Map([["process", heartbeatsAt(second)]])).length > 0) return second;
    }
    return undefined;
  };
  return { clock, monitor, poll };
}

describe("A process", () => {
  test("is gone after a lease without a heartbeat", () => {
    expect(createMonitor().poll(40, () => 7)).toBe(31);
  });

  test("is gone after a lease if it has never sent a heartbeat", () => {
    expect(createMonitor().poll(40, () => undefined)).toBe(31);
  });

  test("is not gone while it sends heartbeats", () => {
    expect(createMonitor().poll(300, (second) => Math.floor(second / 25))).toBeUndefined();
  });

  test("has time for a heartbeat after the whole machine was suspended", () => {
    const { clock, poll } = createMonitor();
    poll(2, () => 7);
    clock.now += 3_600_000;
    expect(poll(5, () => 7)).toBeUndefined();
    expect(poll(5, () => 8)).toBeUndefined();
  });

  test("has a whole lease after a reset", () => {
    const { monitor, poll } = createMonitor();
    poll(25, () => 7);
    monitor.reset();
    expect(poll(40, () => 7)).toBe(31);
  });

  test("has a whole lease again after it ran nothing", () => {
    const { clock, monitor, poll } = createMonitor();
    poll(25, () => 7);
    clock.now += 1_000;
    expect(monitor.observe(new Map())).toEqual([]);
    expect(poll(40, () => 7)).toBe(31);
  });
});
