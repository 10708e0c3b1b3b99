/**
 * The process that holds a tunnel's connections, forked by `localtunnel.ts`. It is a separate process because localtunnel
 * cannot be stopped while it connects, and because its uncaught errors would crash the user's process.
 *
 * The process uses only `TunnelCluster` from the package. The package's main class hides every failure and retries
 * forever, so `localtunnel-server.ts` requests the tunnel instead.
 */
import { setDefaultResultOrder } from "node:dns";

/** The configuration that this process receives once, after it has reported `ready`. */
export interface LocaltunnelConfig {
  remoteHost: string;
  remotePort: number;
  localPort: number;
  /** How many connections to keep open to the tunnel server. */
  connections: number;
  /** How long the tunnel may have no connection before it counts as lost, in milliseconds. */
  timeoutMs: number;
}

/**
 * A message of this process: the package is `missing`, the process is `ready` for its configuration, a connection is
 * established (`connected`), the tunnel server `refused` a connection while no other one was open, or there was no
 * connection for too long (`lost`).
 */
export type LocaltunnelReport = "missing" | "ready" | "connected" | "refused" | "lost";

// Without a pause, a server that closes every connection immediately would cause a busy loop.
const reopenDelayMs = 20;

let lastReport: LocaltunnelReport | undefined;

// If the parent dies while this file is loading, reporting `ready` fails, which also ends the process.
process.once("disconnect", () => process.exit());

// Ctrl+C reaches every process of the terminal. The parent decides when to stop: it may have deliveries to finish.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

// localtunnel connects to "localhost". If that resolves to ::1 first, another program may be listening there.
setDefaultResultOrder("ipv4first");

const loaded = await import("localtunnel/lib/TunnelCluster.js").catch(() => undefined);
if (loaded) {
  const { default: TunnelCluster } = loaded;
  process.once("message", (config: unknown) => {
    if (isLocaltunnelConfig(config)) connectTunnel(config, TunnelCluster);
  });
  report("ready");
} else {
  report("missing");
}

function connectTunnel(config: LocaltunnelConfig, TunnelCluster: NonNullable<typeof loaded>["default"]): void {
  // `local_host` is not set, because localtunnel would then rewrite requests as text, which breaks bodies that are not
  // ASCII.
  const cluster = new TunnelCluster({
    remote_host: config.remoteHost,
    remote_port: config.remotePort,
    local_port: config.localPort,
  });
  let openConnections = 0;
  // localtunnel reports only refused connections. Other failures (no route, no DNS entry) are detected by this timer.
  let lossTimer = setTimeout(report, config.timeoutMs, "lost");

  cluster.on("open", (connection) => {
    openConnections += 1;
    clearTimeout(lossTimer);
    report("connected");
    // localtunnel's "dead" event is not used: it is not emitted when the local server resets a connection, so
    // connections would run out.
    connection.once("close", () => {
      openConnections -= 1;
      if (openConnections === 0) lossTimer = setTimeout(report, config.timeoutMs, "lost");
      setTimeout(() => cluster.open(), reopenDelayMs);
    });
  });
  // The connection is not retried, because a tunnel server that restarted may have assigned this port to another
  // client.
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
