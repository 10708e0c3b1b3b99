/** For this long an id is known, in milliseconds, so that what comes again is not run again. */
export const idsKnownMs = 7 * 24 * 3_600_000;
