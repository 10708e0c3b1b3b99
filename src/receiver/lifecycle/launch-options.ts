import type { Duration } from "../../core/duration.ts";
import type { OpenTunnelOptions } from "../../tunnel/tunnel.ts";

/** Options of `launch()`. */
export interface LaunchOptions {
  /** The port to listen on, or 0 for any free port. Default: `PORT`, else `7860`, the default port of a Space. */
  port?: number;
  /**
   * The host to listen on. Default: `HOST`, else `0.0.0.0` in a Space, else `127.0.0.1`, to which only this machine can
   * connect.
   */
  host?: string;
  /**
   * Whether to open a tunnel, or the tunnel's options. The tunnel has a temporary public URL for `/webhooks/*`, and
   * closes after 72 hours. Default: `TUNNEL` (`1` or the name of a provider), else no tunnel. If no secret is set, the
   * server creates and prints a secret for the session. If the options contain an `existingUrl`, no tunnel is opened:
   * the server only polls this URL, which must point to the server's port.
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
   * How long `close()`, SIGTERM, and SIGINT wait for running handlers. The server first waits for requests in progress.
   * In the remaining time, it aborts the `signal` of background handlers and waits for them. Background deliveries that
   * do not finish are queued again. Default `"30s"`.
   */
  shutdownGrace?: Duration;
  /**
   * Whether the server handles signals and errors of the process. Default `true`, but `false` under a test runner (vitest,
   * `node --test`, or `NODE_ENV=test`). If `true`:
   *
   * - SIGTERM and SIGINT let running requests finish, and exit the process with code 0, or with code 1 if requests do not
   *   finish within `shutdownGrace`. A second signal exits immediately.
   * - Unhandled rejections are logged and do not crash the process.
   * - A failed launch logs one line and exits the process with code 1.
   *
   * If `false`, a failed `launch()` rejects, and signals and rejections are not handled.
   */
  handleSignals?: boolean;
}

/** The port and URLs of a launched server. */
export interface LaunchedServer {
  /** The port on which the server listens. */
  port: number;
  /** The URL of the server on this machine, without a trailing slash. */
  url: string;
  /**
   * The public URL: from the `publicUrl` option or `PUBLIC_URL`, else from the Space or tunnel, else the same as `url`.
   * The URL of a tunnel can change.
   */
  publicUrl: string;
}
