import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { WebhookError } from "../errors.ts";
import { webhooksPath } from "../server/delivery-request.ts";
import type { Probe } from "../tunnel/probe.ts";
import { connectionHeaders } from "./connection-headers.ts";
import { LatestDelivery, type ObservedDelivery } from "./latest-delivery.ts";
import type { PassedDelivery, Replayed } from "./passed-delivery.ts";

/** What a {@link FrontDoor} leads to. */
export interface FrontDoorOptions {
  /** Where it listens on this machine. Left out: 7860, or any other port where that is taken. */
  port: number | undefined;
  /** Answered on both its sockets, so that whoever asks for it from outside sees that the way leads here. */
  probe: Probe;
  /** The port of the server behind it; waited for while the server is loaded anew. */
  serverPort: () => Promise<number>;
  /** Told of every delivery that was answered. */
  onDelivery: (delivery: PassedDelivery) => void;
  /** How long a request waits for a server, in milliseconds. Default 20,000: the Hub waits for 30 seconds. */
  longestWaitMs?: number;
}

/** The port of a Space, and of a launched server. */
export const usualPort = 7860;
const retryAfterSeconds = "1";
/** A tunnel holds ten or so; whoever opens more and says nothing must not use up all that there are. */
const mostPublicConnections = 1_000;

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
    const passing = { agent: new Agent({ keepAlive: true }), latest: new LatestDelivery() };
    const own = createServer((incoming, outgoing) => pass(options, passing, { incoming, outgoing }));
    // The tunnel's server opens connections before it needs them: an idle one must not be taken for a slow one.
    const lasting = { headersTimeout: 0, requestTimeout: 0, keepAliveTimeout: 0 };
    const open = createServer(lasting, (incoming, outgoing) => {
      if (isForWebhooks(incoming) || isProbe(options.probe, incoming)) pass(options, passing, { incoming, outgoing });
      else outgoing.writeHead(404).end();
    });
    open.maxConnections = mostPublicConnections;
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

interface Passing {
  agent: Agent;
  latest: LatestDelivery;
}

interface Sockets {
  own: Server;
  open: Server;
  passing: Passing;
}

interface Exchange {
  incoming: IncomingMessage;
  outgoing: ServerResponse;
}

/** Passes a request on as it came, once there is a server, and its answer back. */
function pass(options: FrontDoorOptions, { agent, latest }: Passing, { incoming, outgoing }: Exchange): void {
  if (isProbe(options.probe, incoming)) {
    outgoing.setHeader("content-type", "text/plain").end(options.probe.answer);
    return;
  }
  const delivery = latest.observe({ incoming, outgoing, onAnswered: options.onDelivery });
  void serverPort(options).then(
    (port) => {
      // Whoever has hung up meanwhile sends it again; what is left of this one would never end.
      if (outgoing.destroyed) return;
      const { method, url: path } = incoming;
      const inner = request({ host: "127.0.0.1", port, agent, method, path, headers: passedOn(incoming) });
      inner.on("response", (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.statusMessage, endToEnd(answer.rawHeaders, ofAnswer));
        answer.pipe(outgoing);
        answer.on("error", () => outgoing.destroy());
      });
      inner.on("error", () => {
        if (outgoing.headersSent) outgoing.destroy();
        else answerLater(outgoing, { error: "The server went away in the middle of this request.", delivery });
      });
      // Whoever hangs up is told to the handler, by its signal.
      outgoing.on("close", () => inner.destroy());
      delivery?.follow();
      incoming.pipe(inner);
    },
    (reason: unknown) => {
      if (!WebhookError.isInstance(reason)) answerLater(outgoing, { error: "There is no server.", delivery });
      else answerLater(outgoing, { error: "The server's file does not load.", code: reason.code, delivery });
    },
  );
}

/** The port, or an error once the sender would not wait for an answer any more. */
async function serverPort({ serverPort: find, longestWaitMs = 20_000 }: FrontDoorOptions): Promise<number> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("late")), longestWaitMs);
  try {
    return await Promise.race([find(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function answerLater(
  outgoing: ServerResponse,
  { error, code = "CLOSING", delivery }: { error: string; code?: string; delivery: ObservedDelivery | undefined },
): void {
  delivery?.giveUp(error);
  // What is still to come of the body would have to be read before another request.
  outgoing.writeHead(503, {
    "content-type": "application/json",
    "retry-after": retryAfterSeconds,
    connection: "close",
  });
  outgoing.end(JSON.stringify({ error, code }));
}

const ofRequest: ReadonlySet<string> = new Set(connectionHeaders);
/** Node chooses anew how an answer is framed: a client of HTTP/1.0 knows no chunks. */
const ofAnswer: ReadonlySet<string> = new Set([...connectionHeaders, "transfer-encoding"]);

function endToEnd(rawHeaders: readonly string[], dropped: ReadonlySet<string>): string[] {
  const isKept = (index: number) => !dropped.has(rawHeaders[index - (index % 2)]?.toLowerCase() ?? "");
  return rawHeaders.filter((_text, index) => isKept(index));
}

/**
 * The server takes HTTP/1.0 for a sign of a proxy, and so a connection that is not to be kept, and opens no page of the
 * owner to it: neither must be hidden from it.
 */
function passedOn({ rawHeaders, httpVersion, headers }: IncomingMessage): string[] {
  return [
    ...endToEnd(rawHeaders, ofRequest),
    ...(httpVersion === "1.0" ? ["Via", "1.0 hub-webhooks-dev"] : []),
    ...(/\bkeep-alive\b/i.test(headers.connection ?? "") ? [] : ["Connection", "close"]),
  ];
}

/** Also where it ends up once the server has resolved the dots in it. */
function isForWebhooks({ url = "" }: IncomingMessage): boolean {
  const resolved = URL.parse(`http://127.0.0.1${url}`)?.pathname ?? "";
  return url.startsWith(webhooksPath) && resolved.startsWith(webhooksPath);
}

function isProbe(probe: Probe, { method, url }: IncomingMessage): boolean {
  return method === "GET" && url === probe.path;
}

async function listen(server: Server, port: number | undefined): Promise<void> {
  try {
    await listenOn(server, port ?? usualPort);
  } catch (error) {
    if (port !== undefined || !isTaken(error)) throw listenFailed(error, port ?? usualPort);
    await listenOn(server, 0);
  }
}

function listenOn(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port }, () => {
      server.off("error", reject);
      resolve();
    });
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
