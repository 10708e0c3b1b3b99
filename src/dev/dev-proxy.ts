import { once } from "node:events";
import { Agent, type IncomingMessage, type Server, type ServerOptions } from "node:http";
import { WebhookError } from "../core/errors.ts";
import { webhooksPath } from "../receiver/delivery-request.ts";
import { malformedRefused } from "../receiver/node/client-errors.ts";
import { defaultLimits } from "../receiver/node/connection.ts";
import { createHttpServer } from "../receiver/node/http-server.ts";
import { LatestDelivery } from "./delivery-recorder.ts";
import { createHostCheck, type HostCheckOptions, refuseHost } from "./host-check.ts";
import { listenFrom } from "./next-free-port.ts";
import type { Replayed } from "./passed-delivery.ts";
import { isProbe, notPassed, type Passing, type PassOptions, type ProxiedExchange, pass } from "./proxy-request.ts";

/** What a {@link FrontDoor} leads to. */
export interface FrontDoorOptions extends PassOptions, HostCheckOptions {
  /** Where it listens on this machine. Default 7860, or the next free port. */
  port: number | undefined;
  /** How often a client that has ended its side is sent a probe, in milliseconds. Default 1,000. */
  probeMs?: number;
}

/** The port of a Space, and of a launched server. */
export const usualPort = 7860;
/** A tunnel holds about ten; idle ones that somebody else opens must not use up every file descriptor. */
const maxConnections = 1_000;

/**
 * Where a server is reached while it comes and goes: two sockets that stay open, and a request that arrives while
 * there is no server waits for the next one. One is for this machine, the other, on which nothing but webhooks
 * answers, for a tunnel to lead to.
 */
export class FrontDoor {
  /** The port for this machine. */
  readonly port: number;
  /** The port for a tunnel. */
  readonly publicPort: number;
  readonly #options: FrontDoorOptions;
  readonly #servers: readonly Server[];
  readonly #agent: Agent;
  readonly #latest: LatestDelivery;

  private constructor(options: FrontDoorOptions, { own, open, passing }: Sockets) {
    this.#options = options;
    this.#servers = [own, open];
    this.#agent = passing.agent;
    this.#latest = passing.latest;
    this.port = portOf(own);
    this.publicPort = portOf(open);
  }

  /**
   * Opens both sockets on 127.0.0.1.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`.
   */
  static async open(options: FrontDoorOptions): Promise<FrontDoor> {
    const passing = { agent: new Agent({ keepAlive: true }), latest: new LatestDelivery(), isLocal: false };
    const isLocal = !options.takesAnyHost;
    const isForeign = createHostCheck(options);
    const own = serve(options, {}, (exchange) =>
      isForeign(exchange.incoming) ? refuseHost(exchange) : pass(options, { ...passing, isLocal }, exchange),
    );
    // The tunnel's server opens connections before it needs them: an idle one must not be taken for a slow one.
    const lasting = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
    const open = serve(options, lasting, (exchange) => {
      const { incoming, outgoing } = exchange;
      if (isForWebhooks(incoming) || isProbe(options.probe, incoming)) return pass(options, passing, exchange);
      outgoing.writeHead(404).end();
    });
    await listen(own, options.port);
    try {
      await listen(open, 0);
    } catch (error) {
      own.close();
      throw error;
    }
    return new FrontDoor(options, { own, open, passing });
  }

  /** Its address on this machine, without a trailing slash. */
  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /**
   * Sends the latest delivery once more, as a new one, so that it is run even where the inbox knows it already.
   * `undefined`: there was none yet.
   *
   * @throws `SERVER_FILE_INVALID` while the server does not load.
   */
  async replay(): Promise<Replayed | undefined> {
    return this.#latest.replay(await this.#options.serverPort());
  }

  /** Closes both sockets and what is open on them. */
  async close(): Promise<void> {
    const closed = this.#servers.map((server) => once(server, "close"));
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
    this.#agent.destroy();
    await Promise.all(closed);
  }
}

interface Sockets {
  own: Server;
  open: Server;
  passing: Passing;
}

/** A server with the limits of a receiver, which refuses what a receiver refuses. No request can make it throw. */
function serve(
  { onProblem, probeMs }: FrontDoorOptions,
  timeouts: ServerOptions,
  answer: (exchange: ProxiedExchange) => void | Promise<void>,
): Server {
  const handle = async (exchange: ProxiedExchange) => {
    try {
      await answer(exchange);
    } catch (error) {
      notPassed(exchange.outgoing, { error, onProblem });
    }
  };
  const { server } = createHttpServer({
    server: timeouts,
    limits: { ...defaultLimits, maxConnections, maxRequestsPerSocket: Number.POSITIVE_INFINITY },
    probeMs,
    onRequest: (exchange) => {
      if (exchange.expectsContinue) {
        exchange.lingerAfterAnswer();
        // The client decides whether the body still follows a response to the headers.
        exchange.outgoing.shouldKeepAlive = false;
      }
      void handle(exchange);
    },
    onMalformed: (reason) => onProblem(`400: ${malformedRefused} (${reason}).`),
    warn: (_fields, message) => onProblem(`${message}.`),
  });
  return server;
}

/** Also where it ends up once the server has resolved the dots in it. */
function isForWebhooks({ url = "" }: IncomingMessage): boolean {
  const resolved = URL.parse(`http://127.0.0.1${url}`)?.pathname ?? "";
  return url.startsWith(webhooksPath) && resolved.startsWith(webhooksPath);
}

async function listen(server: Server, port: number | undefined): Promise<void> {
  const listenOnce = (wanted: number) => listenOn(server, wanted);
  try {
    if (port !== undefined) await listenOnce(port);
    else await listenFrom(usualPort, { listen: listenOnce, isTaken });
  } catch (error) {
    throw listenFailed(error, port ?? usualPort);
  }
}

function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const listening = () => {
      server.off("error", failed);
      resolve();
    };
    const failed = (error: Error) => {
      server.off("listening", listening);
      reject(error);
    };
    server.once("error", failed).once("listening", listening);
    server.listen({ host: "127.0.0.1", port });
  });
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EADDRINUSE";
}

function listenFailed(cause: unknown, port: number): WebhookError {
  return isTaken(cause)
    ? new WebhookError(`Port ${port} is taken: end the program that listens there, or choose another port.`, {
        code: "PORT_IN_USE",
        cause,
      })
    : new WebhookError(`Port ${port} of 127.0.0.1 cannot be listened on: choose another one.`, {
        code: "LISTEN_FAILED",
        cause,
      });
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address === "object" && address !== null) return address.port;
  throw new WebhookError("The socket has no port.", { code: "LISTEN_FAILED" });
}
