/** A monotonic clock that advances by `stepMs` each time it is read. */
export function fastClock(stepMs = 0) {
  const clock = {
    stepMs,
    /** How often it was read. */
    reads: 0,
    time: 0,
    now: () => {
      clock.reads += 1;
      clock.time += clock.stepMs;
      return clock.time;
    },
  };
  return clock;
}
