/*
 * A delivery that was running when its process crashed is a suspect: it runs again, but alone. If the process crashes again, the
 * suspect is the cause, and the crash counts as an attempt. A crash beside other deliveries does not count, since any of them
 * may be the cause.
 */

/** Further crashes beside others count, so that a delivery that never runs alone cannot crash the process forever. */
const maxUncountedCrashes = 3;

/** Whether a crash counts as an attempt of a delivery that was running. */
export function countsAsAttempt({
  wasAlone,
  uncountedCrashes,
}: {
  wasAlone: boolean;
  /** The number of earlier crashes that did not count. */
  uncountedCrashes: number;
}): boolean {
  return wasAlone || uncountedCrashes >= maxUncountedCrashes;
}

/** How long a suspect may hold back other deliveries, in milliseconds: one long handler must not stop all endpoints. */
export const maxHoldMs = 60_000;
