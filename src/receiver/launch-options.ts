import type { Duration } from "../core/duration.ts";
import type { OpenTunnelOptions } from "../tunnel/tunnel.ts";

/** Options of `launch()`. */
export interface LaunchOptions {
  /** Default `PORT`, else 7860, the port of a Space. 0 for any free port. */
  port?: number;
  /** Default `HOST`, else `0.0.0.0` in a Space and `127.0.0.1` elsewhere, so that a laptop stays private. */
  host?: string;
  /**
   * Opens a temporary public address for `/webhooks/*`, and closes it after 72 hours. Default: `TUNNEL` (`1` or the name
   * of a provider), else off. If no secret is set, one is created for the session and printed. A `publicUrl` here is
   * monitored, and must point to the port of the server.
   */
  tunnel?: boolean | Omit<OpenTunnelOptions, "port">;
  /**
   * The address at which the Hub reaches this server, for the log and the landing page. A function if it may change.
   * Default `PUBLIC_URL`, else the address of the Space or of the tunnel.
   */
  publicUrl?: string | (() => string);
  /**
   * Whether to log at startup where the server is reachable and whether it has a secret. Default `true`. Warnings are
   * always logged.
   */
  announce?: boolean;
  /**
   * How long a client may take to send the headers (default 15 s), a whole request (30 s) and the next request on its
   * connection (`keepAlive`, 10 s), and to read a response (`write`, 30 s). `headers` must not be longer than `request`.
   */
  timeouts?: { headers?: Duration; request?: Duration; keepAlive?: Duration; write?: Duration };
  /** Max open connections; further ones are closed at once. Default 2,000; `Infinity` for no limit. */
  maxConnections?: number;
  /**
   * Max requests on one connection, which is closed after the last response. Default 1,000; `Infinity` for no limit. A
   * client that pipelines more than 16 unanswered requests is disconnected.
   */
  maxRequestsPerSocket?: number;
  /** How long `close()`, SIGTERM and SIGINT wait for requests in progress. Default `"30s"`. */
  shutdownGrace?: Duration;
  /**
   * Whether the server manages the process: SIGTERM and SIGINT let running requests finish and exit with code 0 (a second
   * signal exits at once), unhandled rejections are logged instead of crashing the process, and a failed launch logs one
   * line and exits with code 1. With `false`, `launch()` rejects and leaves the process alone. Default `true`, and `false`
   * under a test runner (vitest, `node --test`, or `NODE_ENV=test`).
   */
  handleSignals?: boolean;
}

/** Where a launched server is reachable. */
export interface LaunchedServer {
  /** The port it listens on. */
  port: number;
  /** Its address on this machine, without a trailing slash. */
  url: string;
  /** Its public address: of the Space or the tunnel, if there is one. The address of a tunnel may change. */
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
