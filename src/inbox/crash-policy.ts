/*
 * Terms of crash recovery:
 *
 * - A process has crashed if it stopped before it recorded the results of its running deliveries, or if it did not renew their leases.
 * - A suspect is a delivery that was running when its process crashed. The suspect may have caused the crash.
 * - A delivery runs alone if it runs while no other delivery is running in the same process.
 *
 * A suspect is retried alone if possible. If the process then crashes again, the suspect caused the crash, and the crash
 * counts as an attempt. A crash while other deliveries were running does not count (at most three times per delivery),
 * because any of these deliveries may have caused it.
 */

/**
 * The maximum number of crashes per delivery that do not count. Later crashes count even if other deliveries were
 * running. Otherwise, a delivery that never runs alone could crash the process forever.
 */
const maxUncountedCrashes = 3;

/** Whether a crash counts as an attempt of a delivery that it interrupted. */
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

/**
 * The maximum time that a suspect holds back other deliveries, in milliseconds. Without a limit, one slow handler
 * could block all endpoints.
 */
export const maxHoldMs = 60_000;
