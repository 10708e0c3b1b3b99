/**
 * Crashes beside other deliveries that do not count as attempts: which of the deliveries that were running caused the
 * crash is unknown. Further crashes count, so that a delivery that is never alone cannot crash forever.
 */
export const maxUncountedCrashes = 3;

/**
 * How long a delivery that may crash the process holds others back at a time, in milliseconds: one long handler must not
 * stop all endpoints.
 */
export const maxHoldMs = 60_000;
