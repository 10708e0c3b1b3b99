import type { Logger } from "../../core/log.ts";
import type { InboxProblem } from "../inbox.ts";
import { maxSkewMs, type StorageHistory } from "./queue-server.ts";
import type { QueueWorker } from "./queue-worker.ts";

/** Compares the clocks of this machine and the server, because BullMQ stores timestamps from this machine on the server. */
export class ClockSkew {
  readonly #options: { now: () => number; log: Logger };
  /** The last logged difference, in milliseconds. Positive if the server was ahead, 0 if the difference was tolerable. */
  #loggedMs = 0;
  /** The last measured difference, in milliseconds, with the same sign. 0 if the difference is tolerable. */
  #skewMs = 0;
  /** The start of `performance.now()` by each clock at the last measurement. It changes only if a clock is set. */
  #origins = { own: Number.POSITIVE_INFINITY, server: Number.POSITIVE_INFINITY };

  constructor(options: { now: () => number; log: Logger }) {
    this.#options = options;
  }

  /**
   * Measures the difference, and logs if it exceeds 5 s, changes by more than 5 s, or becomes tolerable again. Returns whether a clock
   * was set back since the last measurement, or may have been set back before the first one.
   */
  async measure(readServer: () => Promise<number>): Promise<boolean> {
    const before = this.#options.now();
    const startedAt = performance.now();
    const serverMs = await readServer();
    const halfTripMs = (performance.now() - startedAt) / 2;
    const skewMs = Math.round(serverMs - (before + halfTripMs));
    // The server may have read its clock at any time during the round trip.
    const isSkewed = Math.abs(skewMs) - halfTripMs > maxSkewMs;
    this.#skewMs = isSkewed ? skewMs : 0;
    this.#logChange();
    const last = this.#origins;
    this.#origins = { own: before - startedAt, server: serverMs - startedAt };
    return last.own - this.#origins.own > maxSkewMs || last.server - this.#origins.server > maxSkewMs;
  }

  #logChange(): void {
    if (Math.abs(this.#skewMs - this.#loggedMs) <= maxSkewMs) return;
    this.#loggedMs = this.#skewMs;
    const { log } = this.#options;
    if (this.#skewMs !== 0) log.warn({ code: "INBOX_CLOCK_SKEW", skewMs: this.#skewMs }, this.#message);
    else log.info("The clocks of this machine and the inbox server agree again.");
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

const message =
  "The inbox server has lost deliveries while this process was running: it is empty, or has older data. Deliveries that waited, and pauses of endpoints, are gone. Replay the missing deliveries on the Hub, in the Activity tab of the webhook. Check that INBOX_URL points to the same database as before, and that the inbox server stores its data on disk.";

/** Detects that an inbox server is empty or has older data than before. */
export class DataLoss {
  readonly #log: Logger;
  #last: StorageHistory | undefined;
  /** The problem since the first loss, until this process exits, because its deliveries are still missing. */
  problem: InboxProblem | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Compares the state of the server with the last one. Logs a loss, and returns whether there was one. */
  observe(history: StorageHistory): boolean {
    const last = this.#last;
    this.#last = history;
    if (!last || (last.identity === history.identity && last.checks < history.checks)) return false;
    this.#log.error({ code: "INBOX_DATA_LOST" }, message);
    this.problem = { code: "INBOX_DATA_LOST", severity: "degraded", message };
    return true;
  }
}

/** Detects endpoints whose deliveries are waiting although the worker has capacity. */
export class StallDetector {
  readonly #stalledMs: number;
  /** The last progress of each worker with waiting deliveries. `since`: when `claimed` last changed, by `performance.now()`. */
  readonly #waiting = new Map<string, { claimed: number; since: number }>();

  /** @param stalledMs a worker is stalled if it claims no waiting deliveries for this time. */
  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs;
  }

  /** Compares the progress of all workers with the previous call. Returns a problem if a worker is stalled or not running. */
  async findProblem(
    workers: ReadonlyMap<string, Pick<QueueWorker, "progress">>,
    hasWaiting: (endpoint: string) => Promise<boolean>,
  ): Promise<InboxProblem | undefined> {
    const findStalled = async ([endpoint, { progress }]: [string, Pick<QueueWorker, "progress">]) =>
      (await this.#isStalled(endpoint, progress, hasWaiting)) ? [endpoint] : [];
    const stalled = (await Promise.all([...workers].map(findStalled))).flat();
    if (stalled.length === 0) return undefined;
    const names = stalled.map((name) => `"${name}"`).join(", ");
    return {
      code: "INBOX_STALLED",
      severity: stalled.length === workers.size ? "unavailable" : "degraded",
      message: `This server does not run the deliveries of ${names}. If the queue is paused, resume it. Otherwise, restart the server.`,
    };
  }

  async #isStalled(
    endpoint: string,
    { isRunning, hasCapacity, claimed }: QueueWorker["progress"],
    hasWaiting: (endpoint: string) => Promise<boolean>,
  ): Promise<boolean> {
    if (!isRunning) return true;
    if (!hasCapacity || !(await hasWaiting(endpoint))) {
      this.#waiting.delete(endpoint);
      return false;
    }
    const last = this.#waiting.get(endpoint);
    if (last?.claimed === claimed) return performance.now() - last.since >= this.#stalledMs;
    this.#waiting.set(endpoint, { claimed, since: performance.now() });
    return false;
  }
}
