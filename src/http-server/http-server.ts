import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import {
  answerHalfClosed,
  boundedMessages,
  type ConnectionLimits,
  type Connections,
  limitConnections,
  type Warn,
} from "./connection.ts";
import { Exchange } from "./exchange.ts";
import { headProblem } from "./request-head.ts";

interface HttpServerOptions {
  /** Timeouts and other options of Node's HTTP server. */
  server: ServerOptions;
  limits: ConnectionLimits;
  /** The interval between probes to half-closed clients, in milliseconds. Default `1000`. */
  probeMs: number | undefined;
  onRequest: (exchange: Exchange) => void;
  /** Called with the reason when the server answers 400 to an ambiguous request. */
  onMalformed: (reason: string) => void;
  warn: Warn;
}

/**
 * Creates an HTTP server that limits the resources of each client and refuses ambiguous requests. Supports half-closed
 * clients and `Expect: 100-continue`.
 */
export function createHttpServer({
  server: options,
  limits,
  probeMs,
  onRequest,
  onMalformed,
  warn,
}: HttpServerOptions): {
  server: Server;
  connections: Connections;
} {
  const connections: Connections = new Map();
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean) => {
    const exchange = new Exchange(incoming, outgoing, expectsContinue);
    connections.get(incoming.socket)?.add(exchange);
    const problem = headProblem(incoming);
    if (problem === undefined) return onRequest(exchange);
    exchange.lingerAfterAnswer();
    onMalformed(problem);
    outgoing.writeHead(400, { connection: "close", "content-length": 0 }).end();
  };
  const server = createServer({ ...options, IncomingMessage: boundedMessages(connections) }, (incoming, outgoing) =>
    handle(incoming, outgoing, false),
  );
  server.on("checkContinue", (incoming, outgoing) => handle(incoming, outgoing, true));
  limitConnections(server, { connections, limits, warn });
  answerHalfClosed(server, connections, probeMs);
  return { server, connections };
}
