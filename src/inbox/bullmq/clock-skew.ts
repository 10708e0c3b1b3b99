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
