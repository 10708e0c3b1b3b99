import type { Duration } from "../core/duration.ts";
import type { OpenTunnelOptions } from "../tunnel/tunnel.ts";

/** How to launch a server. */
export interface LaunchOptions {
  /** Default `PORT`, else 7860, the port of a Space. 0 takes any free one. */
  port?: number;
  /** Default `HOST`, else `0.0.0.0` in a Space and `127.0.0.1` elsewhere: nobody else reaches a laptop by accident. */
  host?: string;
  /**
   * Opens a temporary public address that answers for `/webhooks/*` only, and closes it after 72 hours. Default: what
   * `TUNNEL` says (`1` or the name of a provider), else off. Where no secret is set, one is made for the session and
   * printed. A `publicUrl` here is watched, and has to lead to the port of the server itself.
   */
  tunnel?: boolean | Omit<OpenTunnelOptions, "port">;
  /**
   * Where the Hub reaches this server, when something in front of it leads here: told in the log and on the landing
   * page. A function where it may change. Default `PUBLIC_URL`, else that of the Space or of the tunnel.
   */
  publicUrl?: string | (() => string);
  /**
   * Whether to say at the start where the server is reached and whether it asks for a secret. Default `true`; what looks
   * like a mistake is told in any case.
   */
  announce?: boolean;
  /**
   * How long a client may take to send the headers (default 15 s) and a whole request (30 s), to send the next request
   * on its connection (10 s), and to read on while an answer waits for it (`write`, 30 s). `headers` must not be longer
   * than `request`.
   */
  timeouts?: { headers?: Duration; request?: Duration; keepAlive?: Duration; write?: Duration };
  /** Max open connections; further ones are closed at once. Default 2,000; `Infinity` for no limit. */
  maxConnections?: number;
  /**
   * Max requests on one connection, which is closed with the last answer. Default 1,000; `Infinity` for no limit. Of
   * these, 16 may wait for their answers at the same time: a client that pipelines more is disconnected.
   */
  maxRequestsPerSocket?: number;
  /** How long `close()`, SIGTERM and SIGINT wait for the requests in work. Default `"30s"`. */
  shutdownGrace?: Duration;
  /**
   * Whether the server manages the process: SIGTERM and SIGINT let running requests finish and exit with code 0 (a second
   * signal exits at once), unhandled rejections are logged instead of crashing the process, and a failed launch logs one
   * line and exits with code 1. With `false`, `launch()` rejects and leaves the process alone. Default `true`, and `false`
   * under a test runner (vitest, `node --test`, or `NODE_ENV=test`).
   */
  handleSignals?: boolean;
}

/** Where a launched server is reached. */
export interface LaunchedServer {
  /** The port it listens on. */
  port: number;
  /** Its address on this machine, without a trailing slash. */
  url: string;
  /** Its address for the Hub: of the Space or the tunnel, where there is one. That of a tunnel may change. */
  publicUrl: string;
}

/** A registered symbol, so that the copies of this package in a tool and in a user's project share it. */
const deliveryOnlyKey = Symbol.for("hub-webhooks.deliveryOnly");

/** Marks the public URL of a tool that only lets deliveries through, so that the pages of the server stay private. */
export function deliveryOnlyUrl(publicUrl: () => string): () => string {
  return Object.assign(publicUrl, { [deliveryOnlyKey]: true });
}

/** Whether the options contain an address at which others reach the whole server. */
export function isPubliclyReachable({ publicUrl, tunnel }: Pick<LaunchOptions, "publicUrl" | "tunnel">): boolean {
  const isGiven = publicUrl !== undefined && !(typeof publicUrl === "function" && deliveryOnlyKey in publicUrl);
  return isGiven || (typeof tunnel === "object" && tunnel.publicUrl !== undefined);
}
