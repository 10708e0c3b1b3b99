import { onTestFinished, vi } from "vitest";

/** The timers that are started with `setTimeout` while a test watches. */
export interface WatchedTimers {
  /** The timers of exactly so many milliseconds, each with how often it was cleared since. */
  of(milliseconds: number): { timer: NodeJS.Timeout; cleared: number }[];
}

/** Watches every `setTimeout` and `clearTimeout` until the test is over. */
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

/** Makes servers of this test send probes to clients that have ended their side every 10 ms rather than every second. */
export function shortenProbes(): void {
  const { setInterval } = globalThis;
  const shortened = vi
    .spyOn(globalThis, "setInterval")
    .mockImplementation((callback, milliseconds) =>
      setInterval(callback, milliseconds === probeMs ? 10 : milliseconds),
    );
  onTestFinished(() => shortened.mockRestore());
}
