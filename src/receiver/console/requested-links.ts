import type { Logger } from "../../core/logger.ts";
import { isLoopbackHost } from "../../core/loopback.ts";
import { consolePath } from "../../core/paths.ts";

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

/** Logs a sign-in link when a client opens the sign-in page of a server that has logged none, because it was not launched. */
export class RequestedLinks {
  readonly #options: RequestedLinksOptions;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RequestedLinksOptions) {
    this.#options = options;
  }

  /** Logs a link, at most one in ten minutes. `url`: the URL of the request. */
  request(url: string): void {
    const { createLink, publicUrl, log, now } = this.#options;
    const sinceMs = now() - this.#loggedAt;
    // The time is negative if the clock was set back.
    if (sinceMs >= 0 && sinceMs < intervalMs) return;
    this.#loggedAt = now();
    const baseUrl = publicUrl() || localBaseOf(new URL(url));
    const open = baseUrl === "" ? "Add this path to the URL of the server" : "Open the console with this link";
    log.info(
      { console: createLink(baseUrl) },
      `${open}, which is valid once and for one hour. Set CONSOLE_TOKEN to sign in at any time.`,
    );
  }
}

/**
 * Returns the URL of a request up to the path of the console, if the host is this machine. The client chooses any other host, so a
 * link to it could hand the code to a foreign server.
 */
function localBaseOf({ origin, hostname, pathname }: URL): string {
  return isLoopbackHost(hostname) ? `${origin}${pathname.slice(0, pathname.indexOf(consolePath))}` : "";
}
