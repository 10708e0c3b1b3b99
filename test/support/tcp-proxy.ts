import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { listenOnPort } from "./free-port.ts";

/** Stands before a server, to make it look frozen or gone. */
export interface TcpProxy {
  /** The address of the server, by way of the proxy. */
  urlOf(url: string): string;
  /** From now on nothing passes, and nobody is told. */
  freeze(): void;
  /** Lets pass what has come meanwhile, and all that follows. */
  thaw(): void;
  /** Resets every connection, and refuses new ones. */
  cut(): Promise<void>;
  /** Connects to another port from now on; connections that are open stay. */
  redirect(port: number): void;
  /** Listens again. */
  mend(): Promise<void>;
}

/** Starts a proxy to a port; it is closed when the test is over. */
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
    mend: async () => void (await listenOnPort(server, { port })),
  };
}
