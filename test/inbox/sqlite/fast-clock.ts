/** Returns a monotonic clock that advances by `stepMs` on each read. */
export function fastClock(stepMs = 0) {
  const clock = {
    stepMs,
    /** The number of reads. */
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
