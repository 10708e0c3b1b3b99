/** The maximum number of remembered sessions. Only clients that are signed in can add one. */
const defaultMaxSessions = 10_000;

export interface RevokedSessionsOptions {
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
  /** The listeners of open streams, by ID of their session. */
  readonly #listeners = new Map<string, Set<() => void>>();

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
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }

  has(id: string): boolean {
    return this.#expiries.has(id);
  }

  /** Calls `listener` when the session is added, or at once if it was added before. Returns a function that removes the listener. */
  watch(id: string, listener: () => void): () => void {
    if (this.has(id)) listener();
    const listeners = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }
}
