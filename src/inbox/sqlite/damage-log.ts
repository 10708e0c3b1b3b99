import type { Logger } from "../../core/logger.ts";
import type { InboxProblem } from "../inbox.ts";
import { isDamage } from "./sqlite-error.ts";

/** How often the same damage is logged, in milliseconds. */
const logEveryMs = 10 * 60_000;

/** What a {@link DamageLog} is made from. */
export interface DamageLogOptions {
  file: string;
  log: () => Logger;
  /** Milliseconds of a clock that is never set. */
  monotonicNow: () => number;
}

/** Keeps note of damaged parts of the file: each poll meets them, and one line in ten minutes is enough. */
export class DamageLog {
  readonly #options: DamageLogOptions;
  readonly #endpoints = new Set<string>();
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: DamageLogOptions) {
    this.#options = options;
  }

  /** Takes in an error met at an endpoint. Returns whether it shows damage; any other is left to the caller. */
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

  /** Forgets what was found: the deliveries are in another file now. */
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
    return `Part of the inbox "${file}" is damaged: some deliveries of ${names} cannot be read. The others go on. To save what can be saved, stop the receiver, run \`sqlite3 FILE .recover | sqlite3 NEW\`, move FILE and the two files beside it away, and move NEW to its place.`;
  }
}
