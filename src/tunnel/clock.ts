import { setTimeout as wait } from "node:timers/promises";

/** The timers of a tunnel. Tests pass a manual clock. */
export interface TunnelClock {
  /** Waits until the time has passed or `signal` aborts. Never rejects. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** Returns a signal that aborts after this time. */
  deadline(milliseconds: number): AbortSignal;
}

/** A clock that uses the timers of this process. */
export const systemClock: TunnelClock = {
  pause: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => {}),
  deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
};
