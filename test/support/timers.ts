import { onTestFinished, vi } from "vitest";

/** Timers that were started with `setTimeout`. */
export interface WatchedTimers {
  /** Returns the timers with exactly this delay, each with the number of times it was cleared. */
  of(milliseconds: number): { timer: NodeJS.Timeout; cleared: number }[];
}

/** Records calls of `setTimeout` and `clearTimeout` until the test ends. */
export function watchTimers(): WatchedTimers {
  const started = vi.spyOn(globalThis, "setTimeout");
  const cleared = vi.spyOn(globalThis, "clearTimeout");
  onTestFinished(() => {
    started.mockRestore();
    cleared.mockRestore();
  });
  return {
    of(milliseconds) {
      const timers = started.mock.results.filter((_result, call) => started.mock.calls[call]?.[1] === milliseconds);
      return timers.map(({ value: timer }) => ({
        timer,
        cleared: cleared.mock.calls.filter(([other]) => other === timer).length,
      }));
    },
  };
}

const probeMs = 1_000;

/** Makes servers probe half-closed connections every 10 ms instead of every second. */
export function shortenProbes(): void {
  const { setInterval } = globalThis;
  const shortened = vi
    .spyOn(globalThis, "setInterval")
    .mockImplementation((callback, milliseconds) =>
      setInterval(callback, milliseconds === probeMs ? 10 : milliseconds),
    );
  onTestFinished(() => shortened.mockRestore());
}
