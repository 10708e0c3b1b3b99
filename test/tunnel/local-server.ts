import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { createReachabilityCheck, type ReachabilityCheck } from "../../src/tunnel/reachability-check.ts";
import { listenOnPort } from "../support/free-port.ts";

/** An HTTP server on 127.0.0.1. It closes at the end of its scope. */
export interface LocalServer extends AsyncDisposable {
  readonly port: number;
}

/** Options of {@link startLocalServer}. */
export interface LocalServerOptions {
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default: a free port. */
  port?: number;
  onConnection?: (socket: Socket) => void;
}

/**
 * Starts the local server of a tunnel.
 *
 * @example
 * ```ts
 * await using local = await startLocalServer((_request, response) => response.end("pong"));
 * ```
 */
export async function startLocalServer(
  handler: RequestListener,
  { host = "127.0.0.1", port = 0, onConnection }: LocalServerOptions = {},
): Promise<LocalServer> {
  const server = createServer(handler);
  if (onConnection) server.on("connection", onConnection);
  const boundPort = await listenOnPort(server, { host, port });
  return {
    port: boundPort,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server that answers the reachability checks of a tunnel. */
export interface CheckedServer extends LocalServer {
  readonly reachabilityCheck: ReachabilityCheck;
  /** The headers of all reachability checks. */
  readonly asked: readonly NodeJS.Dict<string | string[]>[];
  /** Sets the response to reachability checks; `undefined` restores the correct one. */
  answer(listener: RequestListener | undefined): void;
}

/** Starts a server that answers reachability checks correctly and all other requests with "pong". */
export async function startCheckedServer(
  options: { port?: number; reachabilityCheck?: ReachabilityCheck } = {},
): Promise<CheckedServer> {
  const reachabilityCheck = options.reachabilityCheck ?? createReachabilityCheck();
  const asked: NodeJS.Dict<string | string[]>[] = [];
  let other: RequestListener | undefined;
  const server = await startLocalServer((request, response) => {
    if (request.url !== reachabilityCheck.path) return void response.end("pong");
    asked.push(request.headers);
    if (other) other(request, response);
    else response.setHeader("content-type", "text/plain").end(reachabilityCheck.answer);
  }, options);
  return {
    reachabilityCheck,
    asked,
    port: server.port,
    answer(listener) {
      other = listener;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
