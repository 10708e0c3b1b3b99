import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Connection, type Connections } from "./connection.ts";

/** How much of the process a client may take up, by the connections it opens and by answers that it does not read. */
export interface ConnectionLimits {
  /** Open connections; further ones are closed at once. `Infinity` for no limit. */
  maxConnections: number;
  /** Requests on one connection; it is closed after the last of them. `Infinity` for no limit. */
  maxRequestsPerSocket: number;
  /** How long an answer may wait for the client to read on, in milliseconds. */
  writeMs: number;
}

/** What a receiver allows unless `launch()` is told otherwise. */
export const defaultLimits: ConnectionLimits = { maxConnections: 2_000, maxRequestsPerSocket: 1_000, writeMs: 30_000 };

/** Between two warnings about connections that were refused, in milliseconds. */
const warningIntervalMs = 60_000;

/** Receives what the owner of a server should see of its connections. */
export type Warn = (fields: object, message: string) => void;

/** Applies the limits to a server and keeps its open connections in `connections`. */
export function limitConnections(
  server: Server,
  { connections, limits, warn }: { connections: Connections; limits: ConnectionLimits; warn: Warn },
): void {
  server.on("connection", (socket) => {
    connections.set(socket, new Connection(limits.maxRequestsPerSocket));
    socket.once("close", () => connections.delete(socket));
  });

  server.maxConnections = limits.maxConnections;
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.on("drop", () => {
    if (performance.now() - warnedAt < warningIntervalMs) return;
    warnedAt = performance.now();
    const { maxConnections } = limits;
    warn({ maxConnections }, "connections refused: maxConnections are open");
  });

  // 0 stands for no limit.
  server.maxRequestsPerSocket = Number.isFinite(limits.maxRequestsPerSocket) ? limits.maxRequestsPerSocket : 0;

  server.timeout = limits.writeMs;
  server.on("timeout", (socket: Socket) => {
    if (socket.writableLength > 0) {
      warn({ timeoutMs: limits.writeMs }, "connection closed: the client does not read its answer");
      socket.destroy();
    } else if (server.keepAliveTimeout > 0 && connections.get(socket)?.isIdle) {
      socket.destroy();
    }
    // Else a handler is running, or the request is not whole: both have time limits of their own.
  });
}
