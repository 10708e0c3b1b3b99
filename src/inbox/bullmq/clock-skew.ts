import type { Logger } from "../../core/logger.ts";
import type { InboxProblem } from "../inbox.ts";

/** The maximum tolerated difference between the two clocks, in milliseconds. */
const maxSkewMs = 5_000;

/**
 * Compares the clocks of this machine and the inbox server, because BullMQ stores timestamps from this machine on the
 * server.
 */
export class ClockSkew {
  readonly #now: () => number;
  readonly #log: Logger;
  /**
   * The last logged difference, in milliseconds. Positive if the server was ahead, 0 if the difference was tolerable.
   */
  #loggedMs = 0;
  /** The last measured difference, in milliseconds, with the same sign. 0 if the difference is tolerable. */
  #skewMs = 0;

  /** @param options.now milliseconds since the epoch. */
  constructor({ now, log }: { now: () => number; log: Logger }) {
    this.#now = now;
    this.#log = log;
  }

  /**
   * Measures the difference between the clocks. Logs when the difference first exceeds 5 s, changes by more than 5 s,
   * or becomes tolerable again.
   */
  async measure(readServer: () => Promise<number>): Promise<void> {
    const before = this.#now();
    const startedAt = performance.now();
    const serverMs = await readServer();
    const halfTripMs = (performance.now() - startedAt) / 2;
    const skewMs = Math.round(serverMs - (before + halfTripMs));
    // The server may have read its clock at any time during the round trip.
    const isSkewed = Math.abs(skewMs) - halfTripMs > maxSkewMs;
    this.#skewMs = isSkewed ? skewMs : 0;
    if (Math.abs(this.#skewMs - this.#loggedMs) <= maxSkewMs) return;
    this.#loggedMs = this.#skewMs;
    if (isSkewed) this.#log.warn({ code: "INBOX_CLOCK_SKEW", skewMs }, this.#message);
    else this.#log.info("The clocks of this machine and the inbox server agree again.");
  }

  get problem(): InboxProblem | undefined {
    if (this.#skewMs === 0) return undefined;
    return { code: "INBOX_CLOCK_SKEW", severity: "degraded", message: this.#message };
  }

  get #message(): string {
    const seconds = (Math.abs(this.#skewMs) / 1_000).toFixed(1);
    const side = this.#skewMs > 0 ? "behind" : "ahead of";
    return `The clock of this machine is ${seconds} s ${side} the clock of the inbox server. Retries run early or late by the same amount. Synchronize both clocks, for example with NTP.`;
  }
}
