import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { HandlerRuns, RunGate, type RunPermit } from "../../../src/inbox/bullmq/handler-runs.ts";
import type { EndpointQueue } from "../../../src/inbox/inbox.ts";
import { incoming, type succeeded } from "../engine.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const maxHoldMs = 1_000;

/** Creates a gate that records the names of admitted deliveries in order. */
function createGate() {
  const gate = new RunGate(maxHoldMs);
  const closing = new AbortController();
  const admitted: string[] = [];
  const record = (name: string) => (permit: RunPermit | undefined) => {
    admitted.push(permit ? name : `not ${name}`);
    return permit;
  };
  return {
    gate,
    admitted,
    closing,
    enter: (name: string) => gate.enter(closing.signal).then(record(name)),
    enterAlone: (name: string, onShared = () => {}) => gate.enterAlone(closing.signal, onShared).then(record(name)),
  };
}

describe("The gate", () => {
  test("admits any number of deliveries without suspects", () => {
    const { gate } = createGate();
    expect([gate.tryEnter(), gate.tryEnter(), gate.tryEnter()]).not.toContain(undefined);
  });

  test("admits a suspect only while no other delivery runs", async () => {
    const { gate, admitted, enterAlone } = createGate();
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    await vi.advanceTimersByTimeAsync(1);
    expect(admitted).toEqual([]);
    other?.leave();
    expect(await suspect).toMatchObject({ isAlone: true });
  });

  test("holds back other deliveries while a suspect waits or runs", async () => {
    const { gate, admitted, enter, enterAlone } = createGate();
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    expect(gate.tryEnter()).toBeUndefined();
    const waiting = enter("waiting");
    other?.leave();
    const permit = await suspect;
    expect(gate.tryEnter()).toBeUndefined();
    expect(admitted).toEqual(["suspect"]);
    permit?.leave();
    await waiting;
    expect(gate.tryEnter()).toBeDefined();
  });

  test("admits waiting deliveries between two suspects", async () => {
    const { admitted, enter, enterAlone } = createGate();
    const first = await enterAlone("first");
    const second = enterAlone("second");
    const others = [enter("a"), enter("b")];
    first?.leave();
    const permits = await Promise.all(others);
    expect(admitted).toEqual(["first", "a", "b"]);
    for (const permit of permits) permit?.leave();
    expect(await second).toMatchObject({ isAlone: true });
  });

  test("admits a suspect although other deliveries run for too long, and no longer holds back others", async () => {
    const { gate, enter, enterAlone } = createGate();
    gate.tryEnter();
    const suspect = enterAlone("suspect");
    const waiting = enter("waiting");
    await vi.advanceTimersByTimeAsync(maxHoldMs);
    expect(await suspect).toMatchObject({ isAlone: false });
    await waiting;
    expect(gate.tryEnter()).toBeDefined();
  });

  test("admits other deliveries if a suspect runs for too long, and reports it", async () => {
    const { gate, enter, enterAlone } = createGate();
    const onShared = vi.fn();
    await enterAlone("suspect", onShared);
    const waiting = enter("waiting");
    await vi.advanceTimersByTimeAsync(maxHoldMs - 1);
    expect(onShared).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(onShared).toHaveBeenCalledOnce();
    await waiting;
    expect(gate.tryEnter()).toBeDefined();
  });

  test("never admits two suspects at the same time", async () => {
    const { admitted, enterAlone } = createGate();
    const first = await enterAlone("first");
    const second = enterAlone("second");
    await vi.advanceTimersByTimeAsync(10 * maxHoldMs);
    expect(admitted).toEqual(["first"]);
    first?.leave();
    expect(await second).toMatchObject({ isAlone: true });
  });

  test("measures the time of a suspect from its start", async () => {
    const { gate, enterAlone } = createGate();
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    await vi.advanceTimersByTimeAsync(maxHoldMs - 1);
    other?.leave();
    await suspect;
    await vi.advanceTimersByTimeAsync(maxHoldMs - 1);
    expect(gate.tryEnter()).toBeUndefined();
  });

  test("admits no delivery after the receiver closes, and leaves no timer", async () => {
    const { gate, admitted, closing, enter, enterAlone } = createGate();
    const other = gate.tryEnter();
    const waiting = [enterAlone("first"), enterAlone("second"), enter("a")];
    closing.abort();
    expect(await Promise.all(waiting)).toEqual([undefined, undefined, undefined]);
    expect(admitted.toSorted()).toEqual(["not a", "not first", "not second"]);
    expect(vi.getTimerCount()).toBe(0);
    other?.leave();
    expect(gate.tryEnter()).toBeDefined();
    expect(await enterAlone("late")).toBeUndefined();
  });

  test("does not admit a suspect that gave up", async () => {
    const { gate, enterAlone } = createGate();
    const other = gate.tryEnter();
    const gone = new AbortController();
    const first = gate.enterAlone(gone.signal, () => {});
    const second = enterAlone("second");
    gone.abort();
    expect(await first).toBeUndefined();
    other?.leave();
    expect(await second).toMatchObject({ isAlone: true });
  });

  test("leaves no timer and no listener when it is empty", async () => {
    const { closing, gate, enterAlone } = createGate();
    const remove = vi.spyOn(closing.signal, "removeEventListener");
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    other?.leave();
    (await suspect)?.leave();
    expect(vi.getTimerCount()).toBe(0);
    expect(remove).toHaveBeenCalledOnce();
  });
});

test.each([
  ["before", "after"],
  ["after", "before"],
  ["before", "before"],
  ["after", "after"],
] as const)(
  "A run is aborted if the inbox closes %s its start, and ends if the grace period ends %s its start",
  async (...at) => {
    const [closesAt, endsAt] = at;
    const signals: AbortSignal[] = [];
    const ignored = Promise.withResolvers<typeof succeeded>();
    const queue: Pick<EndpointQueue, "run"> = {
      run(_claimed, signal) {
        signals.push(signal);
        return ignored.promise;
      },
    };
    const runs = new HandlerRuns(queue, () => 0);
    if (closesAt === "before") runs.abortAll();
    if (endsAt === "before") runs.giveUp();
    const running = runs.run("job", { ...incoming("job"), attempt: 1, isLastAttempt: false, retryDelayMs: 0 });
    if (closesAt === "after") runs.abortAll();
    if (endsAt === "after") runs.giveUp();
    expect(signals[0]?.reason).toMatchObject({ code: "CLOSING" });
    expect(await running).toMatchObject({ outcome: "unfinished", isInterrupted: true, hasLostLease: false });
  },
);
