import type { Logger } from "../../core/logger.ts";

/** How often a link is logged at most. Anyone can open the sign-in page. */
const intervalMs = 600_000;

export interface RequestedLinksOptions {
  /** Creates a one-time link. */
  createLink: (baseUrl: string) => string;
  /** Returns the public URL of the server, without a trailing slash. Empty if it is unknown. */
  publicUrl: () => string;
  log: Logger;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/**
 * Logs a sign-in link when a client opens the sign-in page of a server that has logged none, because it was not launched. The link has
 * no host if the server does not know its own: the client chooses the host of its request, so a link to it could hand the code to
 * another server.
 */
export class RequestedLinks {
  readonly #options: RequestedLinksOptions;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RequestedLinksOptions) {
    this.#options = options;
  }

  /** Logs a link, at most one in ten minutes. */
  request(): void {
    const { createLink, publicUrl, log, now } = this.#options;
    const sinceMs = now() - this.#loggedAt;
    // The time is negative if the clock was set back.
    if (sinceMs >= 0 && sinceMs < intervalMs) return;
    this.#loggedAt = now();
    const baseUrl = publicUrl();
    const open = baseUrl === "" ? "Open this path below the URL of the server" : "Open the console with this link";
    log.info(
      { console: createLink(baseUrl) },
      `${open}, which is valid once and for one hour. Set CONSOLE_TOKEN to sign in at any time.`,
    );
  }
}
