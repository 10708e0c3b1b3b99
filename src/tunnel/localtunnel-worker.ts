/**
 * The process that carries a tunnel's connections, forked by `localtunnel.ts`. It is a process of its own because
 * localtunnel offers no way to stop it while it connects, and because the errors it throws would be the user's.
 *
 * Only `TunnelCluster` of the package is used. Its outer class would register the tunnel itself: it hides every
 * failure and repeats for ever, so `localtunnel-registration.ts` does that part.
 */
import { setDefaultResultOrder } from "node:dns";

/** What this process is told to do, once, after it has reported `ready`. */
export interface CarryOrder {
  remoteHost: string;
  remotePort: number;
  localPort: number;
  /** How many connections to keep open to the tunnel's server. */
  connections: number;
  /** After how many milliseconds without a single connection the tunnel counts as lost. */
  patience: number;
}

/**
 * What this process tells: the package is `missing`, it is `ready` for its order, a connection stands (`connected`),
 * the server has `refused` while none stands, or none has stood for too long (`lost`).
 */
export type CarryReport = "missing" | "ready" | "connected" | "refused" | "lost";

// A server that closes every connection at once would otherwise be called again in a loop without a pause.
const reopenDelay = 20;

let lastReport: CarryReport | undefined;

process.once("disconnect", () => process.exit());
if (!process.connected) process.exit(); // The parent may have died while this file was loading.

// Ctrl-C reaches every process of the terminal. The parent may still have deliveries to finish, so it decides.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

// localtunnel connects to "localhost". Where that is ::1 first, another program may be listening there on our port.
setDefaultResultOrder("ipv4first");

const loaded = await import("localtunnel/lib/TunnelCluster.js").catch(() => undefined);
if (loaded) {
  const { default: TunnelCluster } = loaded;
  process.once("message", (order: unknown) => {
    if (isCarryOrder(order)) carry(order, TunnelCluster);
  });
  report("ready");
} else {
  report("missing");
}

function carry(order: CarryOrder, TunnelCluster: NonNullable<typeof loaded>["default"]): void {
  // No `local_host`: with it localtunnel rewrites the requests as text, which breaks bodies that are not ASCII.
  const cluster = new TunnelCluster({
    remote_host: order.remoteHost,
    remote_port: order.remotePort,
    local_port: order.localPort,
  });
  let standing = 0;
  // A failed attempt that was not refused (no route, no name) makes no sound in localtunnel: only the time tells.
  let patience = setTimeout(report, order.patience, "lost");

  cluster.on("open", (connection) => {
    standing += 1;
    clearTimeout(patience);
    report("connected");
    // Not localtunnel's own "dead": it forgets that when the local server resets, and would run out of connections.
    connection.once("close", () => {
      standing -= 1;
      if (standing === 0) patience = setTimeout(report, order.patience, "lost");
      setTimeout(() => cluster.open(), reopenDelay);
    });
  });
  // Not tried again: a server that restarted may have given this port to someone else's tunnel.
  cluster.on("error", () => {
    if (standing > 0) return;
    clearTimeout(patience);
    report("refused");
  });
  for (let count = 0; count < order.connections; count += 1) cluster.open();
}

function report(news: CarryReport): void {
  if (news !== lastReport) process.send?.(news);
  lastReport = news;
}

function isCarryOrder(value: unknown): value is CarryOrder {
  if (typeof value !== "object" || value === null) return false;
  if (!("remoteHost" in value) || typeof value.remoteHost !== "string") return false;
  if (!("remotePort" in value) || typeof value.remotePort !== "number") return false;
  if (!("localPort" in value) || typeof value.localPort !== "number") return false;
  if (!("connections" in value) || typeof value.connections !== "number") return false;
  return "patience" in value && typeof value.patience === "number";
}
