import { once } from "node:events";
import { Agent, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import { WebhookError } from "../core/errors.ts";
import { isRefusedPort } from "../core/options.ts";
import { consolePath, defaultPort, isLoopbackHost, webhooksPath } from "../core/urls.ts";
import type { Exchange } from "../http-server/exchange.ts";
import { createHttpServer, defaultLimits, malformedRefused, openSocket } from "../http-server/server.ts";
import { isReachabilityRequest } from "../tunnel/reachability-check.ts";
import { DeliveryObserver, type ProxyOptions, proxyRequest, sendBadGateway, sendRefusal } from "./proxy-request.ts";

export interface DevProxyOptions extends ProxyOptions {
  /** The local port. Default: 7860, or the next free port. */
  port: number | undefined;
  /** Answers requests for the console, which is only served on the local port. */
  console?: (exchange: Exchange) => Promise<void>;
  /** Whether to accept requests with any `Host`. By default, only hosts of this machine are accepted. */
  allowAnyHost?: boolean;
  /** Called once for each foreign host whose requests are rejected. */
  onForeignHost?: (host: string) => void;
  /** The interval of probes to a half-closed client. Default `1000`. */
  probeIntervalMs?: number;
}

/** A tunnel needs about ten. The limit prevents idle connections of other clients from exhausting the file descriptors. */
const maxConnections = 1_000;

export type DevProxy = Awaited<ReturnType<typeof openDevProxy>>;

/**
 * Opens a proxy with a stable URL in front of a server that is reloaded. Requests wait until the server is running again.
 * The proxy listens on two sockets of 127.0.0.1: one for this machine, and one for a tunnel, which serves only webhooks.
 *
 * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
 */
export async function openDevProxy(options: DevProxyOptions) {
  const agent = new Agent({ keepAlive: true });
  const observer = new DeliveryObserver();
  const localSocket = { ...options, agent, observer, showsErrorDetails: !options.allowAnyHost };
  const publicSocket = { ...localSocket, showsErrorDetails: false };
  const isForeign = createHostCheck(options);
  const local = createProxyServer(options, {}, (exchange) => {
    if (isForeign(exchange.incoming)) {
      const error = "Open this server at 127.0.0.1 or localhost.";
      return sendRefusal(exchange, { status: 403, code: "CROSS_SITE_REFUSED", error, page: {} });
    }
    if (options.console && isForConsole(exchange.incoming)) return options.console(exchange);
    return proxyRequest(localSocket, exchange);
  });
  // A tunnel server opens connections in advance, so idle connections are normal.
  const noTimeouts = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
  const tunnel = createProxyServer(options, noTimeouts, (exchange) => {
    const { incoming, outgoing } = exchange;
    if (isForWebhooks(incoming) || isReachabilityRequest(options.reachabilityCheck, incoming))
      return proxyRequest(publicSocket, exchange);
    outgoing.writeHead(404).end();
  });
  const servers = [local, tunnel];
  const port = await listen(local, options.port);
  const publicPort = await listen(tunnel, 0).catch((error: unknown) => {
    local.close();
    throw error;
  });
  for (const server of servers) server.on("error", (error) => options.onProblem(notAccepted(error)));
  return {
    /** The port for clients on this machine. */
    port,
    /** Without a trailing slash. */
    url: `http://127.0.0.1:${port}`,
    /** The port to which a tunnel forwards requests. */
    publicPort,
    /**
     * Sends the latest delivery again, with a new ID, because the inbox would treat the same ID as a duplicate. Returns
     * `undefined` if there is no delivery yet.
     *
     * @throws `SERVER_FILE_INVALID` while the server does not load; `NO_RESPONSE` if the server does not answer.
     */
    replay: async () => observer.replay(await options.serverPort()),
    async close(): Promise<void> {
      const closed = servers.map((server) => once(server, "close"));
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
      agent.destroy();
      await Promise.all(closed);
    },
  };
}

/** Any client can send any number of host names. */
const maxReportedHosts = 20;

/**
 * Returns a function that checks whether the `Host` header is foreign. This prevents DNS rebinding: a site can resolve its
 * own name to this machine to share the origin of the server, but the browser still sends the name of the site as the host.
 */
function createHostCheck({ allowAnyHost, onForeignHost }: DevProxyOptions) {
  const reported = new Set<string>();
  return ({ headers: { host } }: IncomingMessage): boolean => {
    if (allowAnyHost || host === undefined || isLoopbackHost(URL.parse(`http://${host}`)?.hostname ?? "")) return false;
    if (!reported.has(host) && reported.size < maxReportedHosts) {
      reported.add(host);
      onForeignHost?.(host);
    }
    return true;
  };
}

/** Creates an HTTP server that checks requests like a deployed server. If `answer` fails, the response has status 502. */
function createProxyServer(
  { onProblem, probeIntervalMs }: DevProxyOptions,
  timeouts: ServerOptions,
  answer: (exchange: Exchange) => void | Promise<void>,
): Server {
  const { server } = createHttpServer({
    server: timeouts,
    limits: { ...defaultLimits, maxConnections, maxRequestsPerSocket: Number.POSITIVE_INFINITY },
    probeMs: probeIntervalMs,
    onRequest: async (exchange) => {
      exchange.lingerAfterAnswer();
      try {
        await answer(exchange);
      } catch (error) {
        sendBadGateway(exchange.outgoing, { error, onProblem });
      }
    },
    onAnswerError: ({ outgoing }, error) => sendBadGateway(outgoing, { error, onProblem }),
    onMalformed: (reason) => onProblem(`400: ${malformedRefused} (${reason}).`),
    warn: (_fields, message) => onProblem(`${message}.`),
  });
  return server;
}

function notAccepted(error: Error): string {
  return `A connection could not be accepted (${error.message}). If the error code is EMFILE, raise the limit on open files (ulimit -n).`;
}

function isForConsole({ url = "" }: IncomingMessage): boolean {
  const [path = ""] = url.split("?", 1);
  return path === consolePath || path.startsWith(`${consolePath}/`);
}

/** Checks the path as sent and with resolved dot segments, because the server resolves them. */
function isForWebhooks({ url = "" }: IncomingMessage): boolean {
  const resolved = URL.parse(`http://127.0.0.1${url}`)?.pathname ?? "";
  return url.startsWith(webhooksPath) && resolved.startsWith(webhooksPath);
}

function listen(server: Server, port: number | undefined): Promise<number> {
  const listenOn = (wanted: number) => openSocket(server, { host: "127.0.0.1", port: wanted });
  return port === undefined ? listenOnFreePort(defaultPort, listenOn) : listenOn(port);
}

/** The number of ports to try before the system chooses a port. */
const maxAttempts = 21;

/**
 * Listens on a port, or on the next free one if it is in use. A port such as 7861 is easier to remember than a random one.
 *
 * @param listen opens the socket, and throws `PORT_IN_USE` if the port is in use. With port 0, the system chooses a port.
 * @throws any other error of `listen`.
 */
export async function listenOnFreePort<Listening>(
  firstPort: number,
  listen: (port: number) => Promise<Listening>,
): Promise<Listening> {
  for (let port = firstPort; port < firstPort + maxAttempts; port += 1) {
    if (isRefusedPort(port)) continue;
    try {
      return await listen(port);
    } catch (error) {
      if (!WebhookError.isInstance(error) || error.code !== "PORT_IN_USE") throw error;
    }
  }
  return listen(0);
}
