/** The maximum number of remembered sessions. Only clients that are signed in can add one. */
const defaultMaxSessions = 10_000;

export interface RevokedSessionsOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  /** If there are more, the oldest ones become valid again. Default `10_000`. */
  maxSessions?: number;
}

/** The sessions that were signed out in this process and have not expired. */
export class RevokedSessions {
  readonly #now: () => number;
  readonly #maxSessions: number;
  /** When each session expires, in milliseconds since the epoch, by ID. Signed out first is first. */
  readonly #expiries = new Map<string, number>();

  constructor({ now, maxSessions = defaultMaxSessions }: RevokedSessionsOptions) {
    this.#now = now;
    this.#maxSessions = maxSessions;
  }

  add(id: string, expiresAt: number): void {
    const now = this.#now();
    for (const [known, expiry] of this.#expiries) if (expiry <= now) this.#expiries.delete(known);
    this.#expiries.set(id, expiresAt);
    for (const oldest of this.#expiries.keys()) {
      if (this.#expiries.size <= this.#maxSessions) break;
      this.#expiries.delete(oldest);
    }
  }

  has(id: string): boolean {
    return this.#expiries.has(id);
  }
}
