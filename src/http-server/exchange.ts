import { IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { headersOf, type JsonAnswer } from "../http/answer.ts";
import { type DirectConnection, lingerMs, maxLingerBytes } from "./direct.ts";

export interface ExchangeOptions {
  onRequest: (exchange: Exchange) => void;
  /** Called when a response cannot be sent because other code in the process has ended it. */
  onAnswerError: (exchange: Exchange, error: unknown) => void;
  /** Called with the reason when the server answers 400 to an ambiguous request. */
  onMalformed: (reason: string) => void;
}

/** Creates the function that receives every request of a server, and passes each unambiguous one to `onRequest`. */
export function createExchangeHandler(
  connections: Connections,
  { onRequest, onAnswerError, onMalformed }: ExchangeOptions,
): (incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue?: boolean) => void {
  return (incoming, outgoing, expectsContinue = false) => {
    const exchange = new Exchange(incoming, outgoing, expectsContinue);
    connections.get(incoming.socket)?.add(exchange);
    // Without a listener, this error would end the process.
    outgoing.on("error", (error) => onAnswerError(exchange, error));
    // Node keeps the connection of a pipelined response that is destroyed before the earlier responses are sent.
    if (!outgoing.socket) outgoing.once("socket", (socket: Socket) => outgoing.destroyed && socket.destroy());
    const problem = headProblem(incoming);
    if (problem === undefined) return onRequest(exchange);
    exchange.lingerAfterAnswer();
    onMalformed(problem);
    outgoing.writeHead(400, { connection: "close", "content-length": 0 }).end();
  };
}

/**
 * Returns the reason why a request that Node's parser accepts must be refused: a proxy in front of the server could
 * interpret its headers differently, which enables request smuggling. Returns `undefined` for unambiguous requests.
 */
function headProblem(request: IncomingMessage): string | undefined {
  const { httpVersionMajor, httpVersionMinor, url = "", rawHeaders, headers } = request;
  // Node accepts the versions "HTTP/2.0" and "HTTP/0.9" in HTTP/1 syntax.
  if (httpVersionMajor !== 1) return "Unsupported HTTP version";
  // A `Request` cannot have such a URL.
  if (!url.startsWith("/") && hasCredentials(url)) return "Credentials in the URL";
  // Node uses the first Host header, but a proxy can use another one.
  if (hasSeveralHosts(rawHeaders)) return "Multiple Host headers";
  const coding = headers["transfer-encoding"];
  if (coding === undefined) return undefined;
  // HTTP/1.0 has no Transfer-Encoding, so a proxy can end the body elsewhere.
  if (httpVersionMinor === 0) return "Transfer-Encoding in HTTP/1.0";
  // For "gzip, chunked", Node decodes the chunks but does not decompress the body.
  return coding.toLowerCase() === "chunked" ? undefined : "Unsupported Transfer-Encoding";
}

function hasCredentials(url: string): boolean {
  const { username, password } = URL.parse(url) ?? {};
  return Boolean(username || password);
}

function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host").length > 1;
}

/** A request of Node's HTTP server and its response. */
export class Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** The connection. Node removes the socket from a request whose body stream was cancelled. */
  readonly socket: Socket;
  /** Whether the client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, expectsContinue: boolean) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.socket = incoming.socket;
    this.expectsContinue = expectsContinue;
    if (expectsContinue) this.#continueOnRead();
  }

  /** Whether the body is being read. If so, the reader, such as the web stream of Hono's adapter, reports errors of `incoming`. */
  get hasBodyReader(): boolean {
    return this.incoming.listenerCount("error") > 0;
  }

  /**
   * Keeps the connection readable for up to 500 ms after the response if the body has not arrived. Closing the
   * connection immediately would reset the connection, and the client might not be able to read the response.
   */
  lingerAfterAnswer(): void {
    const { incoming, outgoing } = this;
    outgoing.once("finish", () => {
      // Wait for the parser: a body in the same packet as the headers is parsed only after an early response is sent.
      if (!incoming.complete) setImmediate(linger, this);
    });
  }

  /** Sends `100 Continue` when the body is first read, so that a request can be refused before the client sends the body. */
  #continueOnRead(): void {
    const { incoming, outgoing } = this;
    const read = incoming._read;
    incoming._read = (size) => {
      incoming._read = read;
      // After a response, Node reads the rest of the body only to discard it.
      if (!outgoing.headersSent) outgoing.writeContinue();
      incoming._read(size);
    };
  }
}

function linger({ incoming, socket }: Exchange): void {
  if (incoming.complete) return;
  // After the response, Node no longer destroys the request with its connection, and a reader of the body would wait forever.
  if (socket.destroyed) return void incoming.destroy();
  let bytes = 0;
  // Runs after Node's parser.
  const onData = (chunk: Uint8Array) => {
    if (incoming.complete) return stop();
    bytes += chunk.length;
    // Node pauses the connection if the body has no reader, or its reader stopped.
    if (bytes <= maxLingerBytes) return void socket.resume();
    // Stop reading without destroying the socket, because a reset can prevent the client from reading the response.
    socket.pause();
    socket.end();
  };
  const stop = () => {
    clearTimeout(timer);
    socket.off("data", onData).off("close", onClose);
  };
  const onClose = () => {
    stop();
    if (!incoming.complete) incoming.destroy();
  };
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.on("data", onData).once("close", onClose).resume();
}

export type Connections = Map<Duplex, Connection>;

export class Connection {
  exchange: Exchange | undefined;
  /** Responses that were incomplete when the next request arrived, oldest first. */
  #pipelined: ServerResponse[] = [];
  readonly #direct: DirectConnection | undefined;
  readonly #maxRequests: number;
  #requests = 0;

  /** @param direct reads the connection until Node's server adopts it. */
  constructor(maxRequests: number, direct?: DirectConnection) {
    this.#maxRequests = maxRequests;
    this.#direct = direct;
  }

  /** The reader of the connection, unless Node's server reads it. */
  get direct(): DirectConnection | undefined {
    return this.#direct?.isAdopted ? undefined : this.#direct;
  }

  /** Adds the next exchange. The response to the last allowed request closes the connection. */
  add(exchange: Exchange): void {
    this.#requests += 1;
    const count = this.#requests + (this.#direct?.requestCount ?? 0);
    // By default, Node only sends `Connection: close` and waits until the client closes the connection.
    if (count >= this.#maxRequests) exchange.outgoing.shouldKeepAlive = false;
    const previous = this.exchange?.outgoing;
    this.exchange = exchange;
    if (previous && !previous.writableFinished) this.#pipelined.push(previous);
  }

  /** The last response before the one of the current exchange, if it is not sent yet. */
  get earlierResponse(): ServerResponse | undefined {
    return this.#pipelined.findLast(({ writableFinished }) => !writableFinished);
  }

  /** Whether the maximum number of requests is waiting for responses. */
  get isFull(): boolean {
    if (this.#pipelined.length < maxUnanswered) return false;
    this.#pipelined = this.#pipelined.filter(({ writableFinished }) => !writableFinished);
    return this.#pipelined.length >= maxUnanswered;
  }

  /** Whether a request is in progress: from its complete head to the end of its response. */
  get hasRequest(): boolean {
    return this.direct?.hasRequest ?? (this.exchange !== undefined && !this.isIdle);
  }

  /** Whether the body of the request in progress is incomplete. */
  get isReceiving(): boolean {
    return this.direct?.isReceiving ?? this.exchange?.incoming.complete === false;
  }

  /** Whether every request on this connection is answered. `false` before the first request. */
  get isIdle(): boolean {
    return this.direct?.isIdle ?? this.exchange?.outgoing.writableFinished ?? false;
  }
}

/**
 * The maximum number of unanswered requests on one connection. Clients that use pipelining send only a few requests at
 * a time.
 */
const maxUnanswered = 16;

/**
 * Returns a request class with two changes:
 *
 * - It stops the parser of a connection with too many unanswered requests. Node's parser creates every request in a packet of
 *   64 KiB, such as 2,000 requests of 32 bytes, even after the connection is closed. Only the method CONNECT stops the parser, so
 *   the first request above the limit is presented as CONNECT, for which the server emits a `connect` event.
 * - It passes no data to listeners after it is destroyed. Node would pass buffered data to the web stream of the body, and this
 *   stream throws an uncaught error if a route has canceled it.
 */
export function createRequestClass(connections: Connections): typeof IncomingMessage {
  return class extends IncomingMessage {
    // Bun passes additional arguments.
    constructor(...given: [socket: Socket]) {
      super(...given);
      if (!connections.get(this.socket)?.isFull) return;
      // The parser sets both properties and then reads them, so accessors must override the values.
      Object.defineProperty(this, "method", { get: () => "CONNECT", set() {} });
      Object.defineProperty(this, "upgrade", { get: () => true, set() {} });
    }

    override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
      this.removeAllListeners("data");
      super._destroy(error, callback);
    }
  };
}

export function sendJson(outgoing: ServerResponse, answer: JsonAnswer): void {
  const { status, content } = answer;
  if (content === null) outgoing.writeHead(status, { "content-length": 0 }).end();
  else outgoing.writeHead(status, { ...headersOf(answer), "content-length": Buffer.byteLength(content) }).end(content);
}
