import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RunGate, type RunPermit } from "../../../src/inbox/bullmq/run-gate.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const maxHoldMs = 1_000;

/** A gate, and who got through it, in order. */
function createGate() {
  const gate = new RunGate(maxHoldMs);
  const closing = new AbortController();
  const admitted: string[] = [];
  const note = (name: string) => (turn: RunPermit | undefined) => {
    admitted.push(turn ? name : `not ${name}`);
    return turn;
  };
  return {
    gate,
    admitted,
    closing,
    enter: (name: string) => gate.enter(closing.signal).then(note(name)),
    enterAlone: (name: string, onShared = () => {}) => gate.enterAlone(closing.signal, onShared).then(note(name)),
  };
}

describe("The gate of a process", () => {
  test("lets any number of deliveries in that are no suspects", () => {
    const { gate } = createGate();
    expect([gate.tryEnter(), gate.tryEnter(), gate.tryEnter()]).not.toContain(undefined);
  });

  test("lets a suspect in once nothing else runs, and tells it that it is alone", async () => {
    const { gate, admitted, enterAlone } = createGate();
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    await vi.advanceTimersByTimeAsync(1);
    expect(admitted).toEqual([]);
    other?.leave();
    expect(await suspect).toMatchObject({ isAlone: true });
  });

  test("lets nothing in beside a suspect, nor while one waits", async () => {
    const { gate, admitted, enter, enterAlone } = createGate();
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    expect(gate.tryEnter()).toBeUndefined();
    const waiting = enter("waiting");
    other?.leave();
    const turn = await suspect;
    expect(gate.tryEnter()).toBeUndefined();
    expect(admitted).toEqual(["suspect"]);
    turn?.leave();
    await waiting;
    expect(gate.tryEnter()).toBeDefined();
  });

  test("lets what has waited in between two suspects", async () => {
    const { admitted, enter, enterAlone } = createGate();
    const first = await enterAlone("first");
    const second = enterAlone("second");
    const others = [enter("a"), enter("b")];
    first?.leave();
    const turns = await Promise.all(others);
    expect(admitted).toEqual(["first", "a", "b"]);
    for (const turn of turns) turn?.leave();
    expect(await second).toMatchObject({ isAlone: true });
  });

  test("lets a suspect run beside others that do not end in time, and holds nobody back any longer", async () => {
    const { gate, enter, enterAlone } = createGate();
    gate.tryEnter();
    const suspect = enterAlone("suspect");
    const waiting = enter("waiting");
    await vi.advanceTimersByTimeAsync(maxHoldMs);
    expect(await suspect).toMatchObject({ isAlone: false });
    await waiting;
    expect(gate.tryEnter()).toBeDefined();
  });

  test("lets others in beside a suspect that runs for too long, and says so", async () => {
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

  test("never lets two suspects in at the same time", async () => {
    const { admitted, enterAlone } = createGate();
    const first = await enterAlone("first");
    const second = enterAlone("second");
    await vi.advanceTimersByTimeAsync(10 * maxHoldMs);
    expect(admitted).toEqual(["first"]);
    first?.leave();
    expect(await second).toMatchObject({ isAlone: true });
  });

  test("counts the time of a suspect from its own start", async () => {
    const { gate, enterAlone } = createGate();
    const other = gate.tryEnter();
    const suspect = enterAlone("suspect");
    await vi.advanceTimersByTimeAsync(maxHoldMs - 1);
    other?.leave();
    await suspect;
    await vi.advanceTimersByTimeAsync(maxHoldMs - 1);
    expect(gate.tryEnter()).toBeUndefined();
  });

  test("lets go of all that wait when the receiver closes, and of no timer later", async () => {
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

  test("does not hand a turn to one that has gone", async () => {
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

  test("leaves no timer and no listener behind once nobody is in it", async () => {
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
