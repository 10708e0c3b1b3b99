/** How long a link is valid. A link in a log must not open the console weeks later. */
const linkMs = 3_600_000;
/** The maximum number of links that are valid at the same time. */
const maxLinks = 20;

/** Creates the codes of one-time sign-in links. A code is valid once, for one hour. */
export class SignInLinks {
  readonly #now: () => number;
  /** The codes that are not used yet, and the times at which they expire. Oldest first. */
  readonly #expiries = new Map<string, number>();

  /** @param now returns milliseconds since the epoch. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Creates a link to a console.
   *
   * The code is in the fragment, which browsers do not send: it appears in no log of a server or proxy, and a program that
   * prefetches links does not use it up.
   *
   * @param consoleUrl the URL of the console, with a trailing slash.
   */
  create(consoleUrl: string): string {
    const code = crypto.randomUUID().replaceAll("-", "");
    this.#expiries.set(code, this.#now() + linkMs);
    for (const oldest of this.#expiries.keys()) {
      if (this.#expiries.size <= maxLinks) break;
      this.#expiries.delete(oldest);
    }
    return `${consoleUrl}#/sign-in/${code}`;
  }

  /** Uses a code. Returns whether it was valid. The code has 122 random bits, so comparing it reveals nothing useful. */
  use(code: string): boolean {
    const expiresAt = this.#expiries.get(code);
    if (expiresAt === undefined) return false;
    this.#expiries.delete(code);
    return expiresAt > this.#now();
  }
}
