import { onTestFinished, vi } from "vitest";

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
