import type { Logger } from "../../core/logger.ts";
import type { InboxProblem } from "../inbox.ts";

/** From here on a difference between two clocks is a problem, in milliseconds. */
const maxSkewMs = 5_000;

/** Compares the clock of this machine to that of the server: BullMQ gives its servers the time of the client. */
export class ClockSkew {
  readonly #now: () => number;
  readonly #log: () => Logger;
  /** Milliseconds that the server is ahead, as last logged; 0 while the clocks agree. */
  #loggedMs = 0;
  #skewMs = 0;

  /** @param options.now milliseconds since the epoch. */
  constructor({ now, log }: { now: () => number; log: () => Logger }) {
    this.#now = now;
    this.#log = log;
  }

  /** Reads the server's clock, and logs a difference above 5 s once, and again when it changes by as much. */
  async measure(readServer: () => Promise<number>): Promise<void> {
    const before = this.#now();
    const startedAt = performance.now();
    const serverMs = await readServer();
    const halfTripMs = (performance.now() - startedAt) / 2;
    const skewMs = Math.round(serverMs - (before + halfTripMs));
    // The server may have read its clock at any time of the round trip.
    const isSkewed = Math.abs(skewMs) - halfTripMs > maxSkewMs;
    this.#skewMs = isSkewed ? skewMs : 0;
    if (Math.abs(this.#skewMs - this.#loggedMs) <= maxSkewMs) return;
    this.#loggedMs = this.#skewMs;
    if (isSkewed) this.#log().warn({ code: "INBOX_CLOCK_SKEW", skewMs }, this.#message);
    else this.#log().info("The clocks of this machine and the inbox server agree again.");
  }

  /** The difference as a problem, where there is one. */
  get problems(): readonly InboxProblem[] {
    if (this.#skewMs === 0) return [];
    return [{ code: "INBOX_CLOCK_SKEW", severity: "degraded", message: this.#message }];
  }

  get #message(): string {
    const seconds = (Math.abs(this.#skewMs) / 1_000).toFixed(1);
    const side = this.#skewMs > 0 ? "behind" : "ahead of";
    return `The clock of this machine is ${seconds} s ${side} the clock of the inbox server: retries run early or late by as much. Synchronize both clocks, for example with NTP.`;
  }
}

/** What a worker shows of its progress. */
export interface WorkProgress {
  isRunning: boolean;
  /** Whether it could take another delivery. */
  isFree: boolean;
  /** How many deliveries it has taken so far. */
  taken: number;
}

/** Finds endpoints whose deliveries wait although their worker has nothing to do. */
export class StallDetector {
  readonly #stalledMs: number;
  /** Since when, by `performance.now()`, deliveries wait without one being taken. */
  readonly #idle = new Map<string, { taken: number; since: number }>();

  /** @param stalledMs how long a worker may leave deliveries waiting, in milliseconds. */
  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs;
  }

  /** Compares the workers with how they were when it was called before. */
  async stalled(
    workers: ReadonlyMap<string, { readonly progress: WorkProgress }>,
    hasWaiting: (endpoint: string) => Promise<boolean>,
  ): Promise<readonly InboxProblem[]> {
    const found = await Promise.all(
      [...workers].map(async ([endpoint, { progress }]) => {
        if (!progress.isRunning) return [endpoint];
        return (await this.#isStalled(endpoint, progress, hasWaiting)) ? [endpoint] : [];
      }),
    );
    const names = found.flat();
    if (names.length === 0) return [];
    const severity = names.length === workers.size ? "unavailable" : "degraded";
    const message = `Deliveries wait, and this receiver takes none of: ${names.map((name) => `"${name}"`).join(", ")}. Resume the queue if it was paused, and restart the receiver.`;
    return [{ code: "INBOX_STALLED", severity, message }];
  }

  async #isStalled(
    endpoint: string,
    { isFree, taken }: WorkProgress,
    hasWaiting: (endpoint: string) => Promise<boolean>,
  ): Promise<boolean> {
    if (!isFree || !(await hasWaiting(endpoint))) {
      this.#idle.delete(endpoint);
      return false;
    }
    const known = this.#idle.get(endpoint);
    if (known?.taken === taken) return performance.now() - known.since >= this.#stalledMs;
    this.#idle.set(endpoint, { taken, since: performance.now() });
    return false;
  }
}
