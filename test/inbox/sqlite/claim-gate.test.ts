import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createClaimGate } from "../../../src/inbox/sqlite/claim-gate.ts";

const firstHoldMs = 1_000;

/** Creates a gate whose clock, suspects and other deliveries the test controls. */
function openGate() {
  const clock = { now: 0 };
  const suspects: { dueAt: number; id: string }[] = [];
  const running: { id: string; end: (hasRun?: boolean) => void }[] = [];
  const woken: number[] = [];
  const gate = createClaimGate({
    now: () => clock.now,
    monotonicNow: () => clock.now,
    firstHoldMs,
    findSuspects: () =>
      suspects.map(({ dueAt, id }) => ({
        dueAt,
        run: () =>
          new Promise<boolean>((resolve) => {
            suspects.splice(
              suspects.findIndex((one) => one.id === id),
              1,
            );
            running.push({ id, end: (hasRun = true) => resolve(hasRun) });
          }),
      })),
    wakeWorkers: () => woken.push(clock.now),
  });
  return { gate, clock, suspects, running, woken };
}

describe("A suspect", () => {
  test("runs while no other delivery runs, and holds back others until it ends", async () => {
    const { gate, suspects, running, woken } = openGate();
    suspects.push({ id: "s", dueAt: 0 });
    expect(gate.enter()).toBe(true);
    gate.poll();
    expect(running).toEqual([]);
    gate.leave();
    expect(running).toMatchObject([{ id: "s" }]);
    expect(gate.enter()).toBe(false);
    running[0]?.end();
    await setImmediate();
    expect(woken).toHaveLength(1);
    expect(gate.enter()).toBe(true);
  });

  test("leaves the gate closed that was closed while it ran", async () => {
    const { gate, suspects, running, woken } = openGate();
    suspects.push({ id: "s", dueAt: 0 }, { id: "t", dueAt: 0 });
    gate.poll();
    gate.close();
    running[0]?.end();
    await setImmediate();
    expect(gate.enter()).toBe(false);
    expect([woken, running.map(({ id }) => id)]).toEqual([[], ["s"]]);
  });

  test("holds back others for at most a minute while it runs alone, and then does not for as long", () => {
    const { gate, clock, suspects, running, woken } = openGate();
    suspects.push({ id: "first", dueAt: 0 }, { id: "second", dueAt: 0 });
    gate.poll();
    const pollAt = (now: number) => {
      clock.now = now;
      gate.poll();
      const isOpen = gate.enter();
      if (isOpen) gate.leave();
      return isOpen;
    };
    expect([1_000, 59_999, 60_000, 119_999, 120_000].map(pollAt)).toEqual([false, false, true, true, false]);
    expect(woken).toEqual([60_000]);
    expect(running).toMatchObject([{ id: "first" }]);
  });

  test("that ran for more than a minute lets the next one run alone", async () => {
    const { gate, clock, suspects, running } = openGate();
    suspects.push({ id: "first", dueAt: 0 }, { id: "second", dueAt: 0 });
    gate.poll();
    clock.now = 60_000;
    gate.poll();
    running[0]?.end();
    await setImmediate();
    gate.poll();
    expect(running).toMatchObject([{ id: "first" }, { id: "second" }]);
    expect(gate.enter()).toBe(false);
  });

  test("waits until it is due", () => {
    const { gate, clock, suspects, running } = openGate();
    suspects.push({ id: "s", dueAt: 5 });
    gate.poll();
    expect(running).toEqual([]);
    clock.now = 5;
    gate.poll();
    expect(running).toMatchObject([{ id: "s" }]);
  });

  test("finally starts despite long handlers, while others run half of the time", () => {
    const { gate, clock, suspects, running } = openGate();
    suspects.push({ id: "s", dueAt: 0 });
    const handlerMs = 600_000;
    // Other deliveries start whenever the gate lets them and take ten minutes.
    gate.enter();
    const ends: number[] = [handlerMs];
    let openMs = 0;
    for (; running.length === 0 && clock.now < 100 * handlerMs; clock.now += firstHoldMs) {
      while (ends[0] !== undefined && ends[0] <= clock.now) {
        ends.shift();
        gate.leave();
      }
      gate.poll();
      if (ends.length < 4 && gate.enter()) ends.push(clock.now + handlerMs);
      if (gate.enter()) {
        openMs += firstHoldMs;
        gate.leave();
      }
    }
    expect(running).toMatchObject([{ id: "s" }]);
    expect(clock.now).toBeLessThan(6 * handlerMs);
    expect(openMs).toBeGreaterThan(clock.now * 0.3);
  });

  test("runs despite a handler that takes hours, and holds back others for at most a minute at a time", () => {
    const { gate, clock, suspects, running } = openGate();
    suspects.push({ id: "s", dueAt: 0 });
    gate.enter();
    let heldMs = 0;
    let maxHeldMs = 0;
    for (; running.length === 0 && clock.now < 3 * 3_600_000; clock.now += firstHoldMs) {
      gate.poll();
      const isOpen = gate.enter();
      if (isOpen) gate.leave();
      heldMs = isOpen ? 0 : heldMs + firstHoldMs;
      maxHeldMs = Math.max(maxHeldMs, heldMs);
    }
    expect(running).toMatchObject([{ id: "s" }]);
    expect(clock.now).toBeLessThan(600_000);
    expect(maxHeldMs).toBeLessThanOrEqual(60_000);
    expect(gate.enter()).toBe(true);
  });

  test("starts immediately after another suspect if nothing else waits", async () => {
    const { gate, clock, suspects, running } = openGate();
    suspects.push({ id: "first", dueAt: 0 }, { id: "second", dueAt: 0 });
    gate.poll();
    clock.now = 60_000;
    running[0]?.end();
    await setImmediate();
    expect(running).toMatchObject([{ id: "first" }, { id: "second" }]);
    expect(gate.enter()).toBe(false);
  });

  test("waits after another suspect for as long as that one ran, while other deliveries run", async () => {
    const { gate, clock, suspects, running } = openGate();
    suspects.push({ id: "first", dueAt: 0 });
    gate.poll();
    expect(running).toMatchObject([{ id: "first" }]);
    clock.now = 60_000;
    running[0]?.end();
    await setImmediate();
    expect(gate.enter()).toBe(true);
    suspects.push({ id: "second", dueAt: 0 });
    clock.now += 59_000;
    gate.poll();
    expect(gate.enter()).toBe(true);
    gate.leave();
    clock.now += 1_000;
    gate.poll();
    expect(gate.enter()).toBe(false);
    gate.leave();
    expect(running).toMatchObject([{ id: "first" }, { id: "second" }]);
  });

  test("holds back others for the initial time after an earlier suspect is gone", () => {
    const { gate, clock, suspects } = openGate();
    const lookAt = (now: number) => {
      clock.now = now;
      gate.poll();
    };
    suspects.push({ id: "first", dueAt: 0 });
    gate.enter();
    // Other deliveries are held for one second, then for two.
    for (const now of [0, 1_000, 2_000, 4_000]) lookAt(now);
    suspects.pop();
    lookAt(6_000);
    suspects.push({ id: "second", dueAt: 0 });
    lookAt(6_000);
    expect(gate.enter()).toBe(false);
    lookAt(6_000 + firstHoldMs);
    expect(gate.enter()).toBe(true);
  });

  test("that cannot be claimed is tried again only at the next poll", async () => {
    const { gate, suspects, running, woken } = openGate();
    suspects.push({ id: "s", dueAt: 0 });
    gate.poll();
    suspects.push({ id: "s", dueAt: 0 });
    running[0]?.end(false);
    await setImmediate();
    expect(running).toHaveLength(1);
    expect(woken).toHaveLength(1);
    gate.poll();
    expect(running).toHaveLength(2);
  });

  test("does not start after the inbox closes", () => {
    const { gate, suspects, running } = openGate();
    suspects.push({ id: "s", dueAt: 0 });
    gate.close();
    gate.poll();
    expect(running).toEqual([]);
    expect(gate.enter()).toBe(false);
  });

  test("that is gone does not hold back others", () => {
    const { gate, suspects, woken } = openGate();
    suspects.push({ id: "s", dueAt: 0 });
    gate.enter();
    gate.poll();
    expect(gate.enter()).toBe(false);
    suspects.pop();
    gate.poll();
    expect(gate.enter()).toBe(true);
    expect(woken).toHaveLength(1);
  });
});
