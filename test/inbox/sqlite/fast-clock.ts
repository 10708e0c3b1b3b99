/** A monotonic clock that goes on by `stepMs` at each look, and stands still until that is set. */
export function fastClock(stepMs = 0) {
  const clock = {
    stepMs,
    /** How often it was looked at. */
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
