import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** A port of this machine on which nobody listens right now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listenOnPort(server);
  server.close();
  await once(server, "close");
  return port;
}

/** Starts a server, by default on a free port of this machine, and returns the port. */
export async function listenOnPort(server: Server, { port = 0, host = "127.0.0.1" } = {}): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  return address.port;
}

/** Rejects where something listens on a port of this machine already. */
export async function expectFree(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}
