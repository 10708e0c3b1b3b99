import type { InboxProblem } from "../inbox.ts";

/** What a worker shows of its progress. */
export interface WorkProgress {
  isRunning: boolean;
  /** Whether it could take another delivery. */
  isFree: boolean;
  /** How many deliveries it has taken so far. */
  taken: number;
}

/** Finds endpoints whose deliveries wait although their worker has nothing to do. */
export class WorkWatch {
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
