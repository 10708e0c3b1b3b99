import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listenOnPort } from "./free-port.ts";

/** A proxy that makes a server appear frozen or unreachable. */
export interface TcpProxy {
  /** Returns the URL with the proxy's host and port. */
  urlOf(url: string): string;
  /** Stops forwarding data without closing connections. */
  freeze(): void;
  /** Forwards the data received while frozen, then continues. */
  thaw(): void;
  /** Resets all connections and refuses new ones. */
  cut(): Promise<void>;
  /** Sends new connections to another port. Open connections stay. */
  redirect(port: number): void;
  /** Listens again. */
  restore(): Promise<void>;
}

/** Starts a proxy for a port. It closes after the test. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let current = target;
  const keep = (socket: Socket, other: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
    socket.on("data", (bytes) => other.write(bytes));
    if (isFrozen) socket.pause();
  };
  const server = createServer((client) => {
    const upstream = connect(current, "127.0.0.1");
    keep(client, upstream);
    keep(upstream, client);
  });
  const port = await listenOnPort(server);
  const cut = async () => {
    for (const socket of sockets) socket.resetAndDestroy();
    if (!server.listening) return;
    server.close();
    await once(server, "close");
  };
  onTestFinished(cut);
  return {
    urlOf: (url) => Object.assign(new URL(url), { port: `${port}` }).href,
    freeze() {
      isFrozen = true;
      for (const socket of sockets) socket.pause();
    },
    thaw() {
      isFrozen = false;
      for (const socket of sockets) socket.resume();
    },
    cut,
    redirect(port) {
      current = port;
    },
    restore: async () => void (await listenOnPort(server, { port })),
  };
}
