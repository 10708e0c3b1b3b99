/**
 * The process that keeps a tunnel's connections open, forked by `localtunnel.ts`. A separate process is needed because
 * localtunnel cannot be stopped while it connects, and because uncaught errors of localtunnel would crash the user's
 * process.
 *
 * The process uses only `TunnelCluster` from the package. The package's main class hides every failure and retries
 * forever, so `localtunnel.ts` requests the tunnel instead. The build bundles this class into the file of this
 * process. Users therefore do not install the package, which depends on an old axios that has known vulnerabilities.
 */
import { setDefaultResultOrder } from "node:dns";
import type { EventEmitter } from "node:events";
import type { Socket } from "node:net";
// @ts-expect-error The package has no types.
import untypedCluster from "localtunnel/lib/TunnelCluster.js";

/** `open` opens one connection to the tunnel server. */
const TunnelCluster: new (options: {
  remote_host: string;
  remote_port: number;
  local_port: number;
}) => EventEmitter<{ open: [connection: Socket]; error: [error: Error] }> & { open(): void } = untypedCluster;

/** The configuration of this process, received once after the `ready` report. */
export interface LocaltunnelConfig {
  remoteHost: string;
  remotePort: number;
  localPort: number;
  /** The number of connections to keep open. */
  connections: number;
  /** The time without any connection after which the tunnel counts as lost. */
  timeoutMs: number;
}

/**
 * A message from this process. `ready`: the process waits for its configuration. `connected`: a connection is open.
 * `refused`: the tunnel server refused a connection while no other connection was open. `lost`: the tunnel had no
 * connection for `timeoutMs`.
 */
type LocaltunnelReport = "ready" | "connected" | "refused" | "lost";

// Without a delay, a server that closes every connection immediately would cause a busy loop.
const reopenDelayMs = 20;

let lastReport: LocaltunnelReport | undefined;

// If the parent exits while this file is loading, the `ready` report fails, which also ends this process.
process.once("disconnect", () => process.exit());

// Ignore Ctrl+C, which signals every process of the terminal. The parent stops this process after its deliveries are
// finished.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

// localtunnel connects to "localhost". If ::1 came first, it could connect to another program.
setDefaultResultOrder("ipv4first");

process.once("message", (config) => {
  if (isLocaltunnelConfig(config)) connectTunnel(config);
});
report("ready");

function connectTunnel(config: LocaltunnelConfig): void {
  // Do not set `local_host`. With it, localtunnel rewrites requests as text, which breaks bodies that are not ASCII.
  const cluster = new TunnelCluster({
    remote_host: config.remoteHost,
    remote_port: config.remotePort,
    local_port: config.localPort,
  });
  let openConnections = 0;
  // localtunnel reports only refused connections. This timer detects other failures, such as a missing route.
  let lossTimer = setTimeout(report, config.timeoutMs, "lost");

  cluster.on("open", (connection) => {
    openConnections += 1;
    clearTimeout(lossTimer);
    report("connected");
    // Do not use localtunnel's "dead" event, which is not emitted when the local server resets a connection. The tunnel
    // would run out of connections.
    connection.once("close", () => {
      openConnections -= 1;
      if (openConnections === 0) lossTimer = setTimeout(report, config.timeoutMs, "lost");
      setTimeout(() => cluster.open(), reopenDelayMs);
    });
  });
  // Do not retry the connection, because a restarted tunnel server may have assigned this port to another client.
  cluster.on("error", () => {
    if (openConnections === 0) report("refused");
  });
  for (let count = 0; count < config.connections; count += 1) cluster.open();
}

function report(state: LocaltunnelReport): void {
  if (state !== lastReport) process.send?.(state);
  lastReport = state;
}

function isLocaltunnelConfig(value: unknown): value is LocaltunnelConfig {
  if (typeof value !== "object" || value === null) return false;
  if (!("remoteHost" in value) || typeof value.remoteHost !== "string") return false;
  if (!("remotePort" in value) || typeof value.remotePort !== "number") return false;
  if (!("localPort" in value) || typeof value.localPort !== "number") return false;
  if (!("connections" in value) || typeof value.connections !== "number") return false;
  return "timeoutMs" in value && typeof value.timeoutMs === "number";
}

await Promise.resolve();
