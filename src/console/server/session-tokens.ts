/** How long a sign-in is valid. */
const sessionMs = 7 * 24 * 3_600_000;

const encoder = new TextEncoder();

/** A valid session. */
export interface Session {
  /** The value of the `X-CSRF-Token` header for changes in this session. */
  readonly csrfToken: string;
  /**
   * Calls `listener` when this process signs the session out, or at once if it already did. Returns a function that removes the
   * listener.
   */
  readonly onSignOut: (listener: () => void) => () => void;
  /** Whether the session has expired since the request. */
  readonly hasExpired: () => boolean;
}

/**
 * Creates and checks the values of session cookies: `<expiry>.<random>.<signature>`. Sessions are signed rather than stored, so
 * that they survive a restart of a server with a console token, and are valid on each of its replicas. A session that was signed
 * out is only invalid in this process, until it restarts. Changing the console token ends all sessions.
 */
export class SessionTokens {
  readonly #key: Promise<CryptoKey>;
  readonly #now: () => number;
  readonly #revoked: RevokedSessions;

  /**
   * @param options `secret`: signs the sessions. By default, a random secret of this object. `now`: milliseconds since the epoch.
   */
  constructor({ secret, now }: { secret: string | undefined; now: () => number }) {
    this.#now = now;
    this.#revoked = new RevokedSessions({ now });
    const bytes = secret === undefined ? crypto.getRandomValues(new Uint8Array(32)) : encoder.encode(secret);
    this.#key = crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
  }

  /** The lifetime of a session, in seconds. */
  get maxAgeSeconds(): number {
    return sessionMs / 1_000;
  }

  /**
   * The name of the cookie. Two servers on this machine share their cookies, because browsers ignore the port. The name
   * depends on the secret, so that signing in to one server does not sign out of the other.
   */
  async cookieName(): Promise<string> {
    return `hub_webhooks_${(await this.#sign("cookie name")).slice(0, 12)}`;
  }

  /** Creates the value of a cookie. */
  async create(): Promise<string> {
    const expiresAt = (this.#now() + sessionMs).toString(36);
    const content = `${expiresAt}.${toHex(crypto.getRandomValues(new Uint8Array(16)))}`;
    return `${content}.${await this.#sign(`session ${content}`)}`;
  }

  /** Returns the session of a cookie, or `undefined` if the value is forged, has expired, or was revoked. */
  async verify(value: string): Promise<Session | undefined> {
    const read = await this.#read(value);
    if (!read) return undefined;
    const csrfToken = await this.#sign(`csrf ${read.content}`);
    return {
      csrfToken,
      onSignOut: (listener) => this.#revoked.watch(read.content, listener),
      hasExpired: () => read.expiresAt <= this.#now(),
    };
  }

  /** Makes the session of a cookie invalid in this process. */
  async revoke(value: string): Promise<void> {
    const read = await this.#read(value);
    if (read) this.#revoked.add(read.content, read.expiresAt);
  }

  /** Returns the content and the expiry of a valid session. The expiry is in milliseconds since the epoch. */
  async #read(value: string): Promise<{ content: string; expiresAt: number } | undefined> {
    const [expiry = "", random = "", signature = "", rest] = value.split(".");
    const content = `${expiry}.${random}`;
    if (rest !== undefined || !/^[\da-f]{64}$/.test(signature)) return undefined;
    const bytes = Uint8Array.from(signature.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    const isValid = await crypto.subtle.verify("HMAC", await this.#key, bytes, encoder.encode(`session ${content}`));
    const expiresAt = Number.parseInt(expiry, 36);
    if (!isValid || expiresAt <= this.#now() || this.#revoked.has(content)) return undefined;
    return { content, expiresAt };
  }

  async #sign(text: string): Promise<string> {
    return toHex(new Uint8Array(await crypto.subtle.sign("HMAC", await this.#key, encoder.encode(text))));
  }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

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
