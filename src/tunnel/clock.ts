import { setTimeout as wait } from "node:timers/promises";

/** The time that a tunnel goes by. Tests bring one of their own. */
export interface TunnelClock {
  /** Waits for so many milliseconds, or until `signal` aborts. Never rejects. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** A signal that aborts after so many milliseconds. */
  deadline(milliseconds: number): AbortSignal;
}

/** The time of this machine. */
export const systemClock: TunnelClock = {
  pause: (milliseconds, signal) => wait(milliseconds, undefined, { signal }).catch(() => {}),
  deadline: (milliseconds) => AbortSignal.timeout(milliseconds),
};
