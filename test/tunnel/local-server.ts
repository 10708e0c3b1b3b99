import { createServer, type RequestListener } from "node:http";
import type { Socket } from "node:net";
import { createReachabilityCheck, type ReachabilityCheck } from "../../src/tunnel/reachability-check.ts";
import { listenOnPort } from "../support/free-port.ts";

/** A `node:http` server on 127.0.0.1, which closes at the end of its scope. */
export interface LocalServer extends AsyncDisposable {
  readonly port: number;
}

/** The options of {@link startLocalServer}. */
export interface LocalServerOptions {
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default: any free port. */
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

/** A server that answers a reachability check of a tunnel. */
export interface CheckedServer extends LocalServer {
  readonly reachabilityCheck: ReachabilityCheck;
  /** The headers of every reachability check. */
  readonly asked: readonly NodeJS.Dict<string | string[]>[];
  /** Replaces the answer to the reachability check; `undefined` restores the correct one. */
  answer(listener: RequestListener | undefined): void;
}

/** Starts a server that answers a reachability check, and everything else with "pong". */
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
