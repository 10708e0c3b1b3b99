import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";

/** A `node:http` server on 127.0.0.1, which closes at the end of its scope. */
export interface LocalServer extends AsyncDisposable {
  readonly port: number;
}

/**
 * Starts a server for a tunnel to lead to.
 *
 * @example
 * ```ts
 * await using local = await startLocalServer((_request, response) => response.end("pong"));
 * ```
 */
export async function startLocalServer(
  handler: RequestListener,
  address: { host?: string; port?: number } = {},
): Promise<LocalServer> {
  const server = createServer(handler);
  server.listen(address.port ?? 0, address.host ?? "127.0.0.1");
  await once(server, "listening");
  const bound = server.address();
  if (typeof bound !== "object" || bound === null) throw new Error("The server has no port.");
  return {
    port: bound.port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
