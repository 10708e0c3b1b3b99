import type { Duration } from "../../core/duration.ts";
import type { OpenTunnelOptions } from "../../tunnel/tunnel.ts";

/** Options of `launch()`. */
export interface LaunchOptions {
  /** The port to listen on, or 0 for any free port. Default: `PORT`, else `7860`, the port of a Space. */
  port?: number;
  /**
   * The host to listen on. Default: `HOST`, else `0.0.0.0` in a Space, else `127.0.0.1`, to which only this machine can
   * connect.
   */
  host?: string;
  /**
   * Opens a tunnel with a temporary public URL for `/webhooks/*`, which closes after 72 hours. Default: `TUNNEL` (`1` or the
   * name of a provider), else no tunnel. If no secret is set, the server creates and prints a secret for the session. An
   * `existingUrl` in these options is the URL of your own tunnel: it must point to the port of the server and is monitored.
   */
  tunnel?: boolean | Omit<OpenTunnelOptions, "port">;
  /**
   * The public URL of this server, for the log and the landing page. Pass a function if the URL may change. Default:
   * `PUBLIC_URL`, else the URL of the Space or tunnel.
   */
  publicUrl?: string | (() => string);
  /**
   * Whether to log the URLs of the server and whether a secret is set at startup. Warnings are always logged. Default
   * `true`.
   */
  announce?: boolean;
  /**
   * The maximum times for a client to send the headers (`headers`, default `"15s"`), to send a whole request (`request`,
   * default `"30s"`), to send the next request on the same connection (`keepAlive`, default `"10s"`), and to read a response
   * (`write`, default `"30s"`). `headers` must not be longer than `request`.
   */
  timeouts?: { headers?: Duration; request?: Duration; keepAlive?: Duration; write?: Duration };
  /**
   * The maximum number of open connections. Further connections are closed immediately. `Infinity` disables the limit.
   * Default `2000`.
   */
  maxConnections?: number;
  /**
   * The maximum number of requests on one connection, which is closed after the last response. `Infinity` disables the
   * limit. A client that pipelines more than 16 unanswered requests is always disconnected. Default `1000`.
   */
  maxRequestsPerSocket?: number;
  /**
   * How long `close()`, SIGTERM and SIGINT wait for running handlers: first for requests in progress, and in the remaining
   * time for background handlers, whose `signal` is aborted when this wait starts. Background deliveries that do not finish
   * are queued again. Default `"30s"`.
   */
  shutdownGrace?: Duration;
  /**
   * Whether the server manages the process. If `true`, SIGTERM and SIGINT let running requests finish and exit the process
   * with code 0, or with code 1 if requests do not finish within `shutdownGrace` (a second signal exits immediately), unhandled rejections are logged and do not crash the process, and a
   * failed launch logs one line and exits with code 1. If `false`, a failed `launch()` rejects, and the process is
   * unchanged. Default `true`, but `false` under a test runner (vitest, `node --test`, or `NODE_ENV=test`).
   */
  handleSignals?: boolean;
}

/** The port and URLs of a launched server. */
export interface LaunchedServer {
  /** The port on which the server listens. */
  port: number;
  /** The URL of the server on this machine, without a trailing slash. */
  url: string;
  /** The public URL, from the Space or tunnel if there is one, else the same as `url`. The URL of a tunnel may change. */
  publicUrl: string;
}
