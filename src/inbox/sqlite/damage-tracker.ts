import { isDamage } from "../../core/files.ts";
import type { Logger } from "../../core/log.ts";
import type { InboxProblem } from "../inbox.ts";

/** The minimum time between two log lines about the same damage. */
const logEveryMs = 10 * 60_000;

export interface DamageTrackerOptions {
  file: string;
  log: Logger;
  monotonicNow: () => number;
}

/**
 * Tracks which endpoints have damaged deliveries. Each poll finds the damage again, so the damage is logged at most every ten
 * minutes.
 */
export class DamageTracker {
  readonly #options: DamageTrackerOptions;
  readonly #endpoints = new Set<string>();
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DamageTrackerOptions) {
    this.#options = options;
  }

  /**
   * Records an error for an endpoint if file damage caused the error. Returns `false` for other errors, which the caller must
   * handle.
   */
  recordIfDamage(error: unknown, endpoint: string): boolean {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if (!isDamage(cause)) return false;
    const { log, monotonicNow } = this.#options;
    const isNew = !this.#endpoints.has(endpoint);
    this.#endpoints.add(endpoint);
    if (isNew || monotonicNow() - this.#loggedAt >= logEveryMs) {
      this.#loggedAt = monotonicNow();
      log.error({ code: "INBOX_DAMAGED", endpoint, err: cause }, this.#message());
    }
    return true;
  }

  problem(): InboxProblem | undefined {
    if (this.#endpoints.size === 0) return undefined;
    return { code: "INBOX_DAMAGED", severity: "degraded", message: this.#message() };
  }

  #message(): string {
    const { file } = this.#options;
    const names = [...this.#endpoints].map((endpoint) => `"${endpoint}"`).join(", ");
    return `Part of the inbox "${file}" is damaged: some deliveries of ${names} cannot be read. Other deliveries still run. To recover the file, stop the server, run \`sqlite3 FILE .recover | sqlite3 NEW\`, move FILE, FILE-wal, and FILE-shm away, and rename NEW to FILE.`;
  }
}
