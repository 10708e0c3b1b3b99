import type { InboxProblem } from "../inbox.ts";

/** The progress of a worker. */
export interface WorkProgress {
  isRunning: boolean;
  /** Whether the worker could run another delivery. */
  hasCapacity: boolean;
  /** The number of deliveries that the worker has claimed so far. */
  claimed: number;
}

/** Detects endpoints whose deliveries are waiting although the worker has capacity. */
export class StallDetector {
  readonly #stalledMs: number;
  /** The last progress of each worker with waiting deliveries. `since`: when `claimed` last changed, by `performance.now()`. */
  readonly #waiting = new Map<string, { claimed: number; since: number }>();

  /** @param stalledMs a worker is stalled if it claims no waiting deliveries for this time in milliseconds. */
  constructor(stalledMs: number) {
    this.#stalledMs = stalledMs;
  }

  /** Compares the progress of all workers with the previous call. Returns a problem if a worker is stalled or not running. */
  async findProblem(
    workers: ReadonlyMap<string, { readonly progress: WorkProgress }>,
    hasWaiting: (endpoint: string) => Promise<boolean>,
  ): Promise<InboxProblem | undefined> {
    const found = await Promise.all(
      [...workers].map(async ([endpoint, { progress }]) => {
        if (!progress.isRunning) return [endpoint];
        return (await this.#isStalled(endpoint, progress, hasWaiting)) ? [endpoint] : [];
      }),
    );
    const stalled = found.flat();
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
    { hasCapacity, claimed }: WorkProgress,
    hasWaiting: (endpoint: string) => Promise<boolean>,
  ): Promise<boolean> {
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
