import type { Logger } from "../../core/logger.ts";
import type { InboxProblem } from "../inbox.ts";
import { isDamage } from "./database.ts";

/** The minimum time between two log lines about the same damage, in milliseconds. */
const logEveryMs = 10 * 60_000;

export interface DamageTrackerOptions {
  file: string;
  log: () => Logger;
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
}

/** Tracks which endpoints have damaged deliveries. Each poll finds them again, so they are logged at most every ten minutes. */
export class DamageTracker {
  readonly #options: DamageTrackerOptions;
  readonly #endpoints = new Set<string>();
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DamageTrackerOptions) {
    this.#options = options;
  }

  /** Records an error of an endpoint if damage caused it. Returns whether it did; the caller handles other errors. */
  note(error: unknown, endpoint: string): boolean {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    if (!isDamage(cause)) return false;
    const { log, monotonicNow } = this.#options;
    const isNew = !this.#endpoints.has(endpoint);
    this.#endpoints.add(endpoint);
    if (isNew || monotonicNow() - this.#loggedAt >= logEveryMs) {
      this.#loggedAt = monotonicNow();
      log().error({ code: "INBOX_DAMAGED", endpoint, err: cause }, this.#message());
    }
    return true;
  }

  /** Forgets the damage after the file was restored. */
  clear(): void {
    this.#endpoints.clear();
  }

  problem(): InboxProblem | undefined {
    if (this.#endpoints.size === 0) return undefined;
    return { code: "INBOX_DAMAGED", severity: "degraded", message: this.#message() };
  }

  #message(): string {
    const { file } = this.#options;
    const names = [...this.#endpoints].map((endpoint) => `"${endpoint}"`).join(", ");
    return `Part of the inbox "${file}" is damaged: some deliveries of ${names} cannot be read. All others still run. To recover the file, stop the receiver, run \`sqlite3 FILE .recover | sqlite3 NEW\`, move FILE and the two files beside it away, and rename NEW to FILE.`;
  }
}
