import { channel } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import { Server, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { WebhookError } from "../core/errors.ts";
import { webhooksPath } from "../core/urls.ts";
import {
  type Answer,
  assertValidHeader,
  errorAnswer,
  headersOf,
  internalError,
  isResponse,
  withoutFraming,
} from "../http/answer.ts";
import { bodyIncomplete } from "../http/body.ts";
import { DirectRequest, parseHead } from "./direct-request.ts";

/*
 * Reads deliveries from their socket, without the parser, streams, and response of Node's HTTP server, which take longer than the rest of
 * an inline delivery.
 *
 * A connection starts here. This file only reads requests that every HTTP parser interprets in the same way: a POST below `/webhooks/`
 * with `Content-Length`, of plain characters, without a repeated header. With any other request, the connection and the bytes that have
 * arrived are passed to Node's server, which reads the connection until it closes.
 */

export interface DirectOptions {
  /** Answers a request. Returns `undefined` if Node's server must read the request. */
  answer: (request: DirectRequest) => Promise<Answer> | undefined;
  /** Called with the reason when a response cannot be sent, which is then answered with 500. */
  onError: (error: unknown) => void;
}

interface DirectSettings extends DirectOptions {
  server: Server;
  /** The function of Node's server that reads a connection. */
  adopt: (socket: Socket) => void;
  maxRequests: number;
  /** The header lines of a response after which the connection stays open. */
  keepAlive: string;
}

/** Creates the reader of a connection, or returns `undefined` if Node's server reads it. */
export type OpenDirect = (socket: Socket) => DirectConnection | undefined;

/**
 * Replaces the reader of a server's connections, and checks the timeouts of `connections` in intervals. Returns `undefined` on Bun,
 * whose server has no reader that can be replaced.
 */
export function readDirectly(
  server: Server,
  connections: ReadonlyMap<unknown, { direct: DirectConnection | undefined }>,
  { maxRequests, checkMs, ...options }: DirectOptions & { maxRequests: number; checkMs: number | undefined },
): OpenDirect | undefined {
  const [adopt] = server.listeners("connection");
  if (!adopt) return undefined;
  server.removeAllListeners("connection");
  const keepAlive = keepAliveLines(server, maxRequests);
  const settings = { ...options, server, adopt: adopt.bind(server), maxRequests, keepAlive };
  let timer: ReturnType<typeof setInterval> | undefined;
  server.on("listening", () => {
    timer = setInterval(() => {
      const now = performance.now();
      for (const { direct } of connections.values()) direct?.checkTimeout(now);
    }, checkMs).unref();
  });
  server.on("close", () => clearInterval(timer));
  return (socket) => {
    if (!isObserved()) return new DirectConnection(socket, settings);
    settings.adopt(socket);
    return undefined;
  };
}

/** A longer head is left to Node, which limits it. */
const maxHeadBytes = 8 * 1024;

const start = `POST ${webhooksPath}`;
const lineFeed = /(?<!\r)\n/;

/** Whether the rest of a head can arrive that this file reads. Node refuses most others before they are complete. */
function isPartOfHead(bytes: Buffer): boolean {
  if (bytes.length > maxHeadBytes) return false;
  const text = bytes.toString("latin1");
  return (text.length < start.length ? start.startsWith(text) : text.startsWith(start)) && !lineFeed.test(text);
}

/** Node's server adds this time to the keep-alive timeout, so that a client does not send a request just when it ends. */
const keepAliveBufferMs = 1_000;

/**
 * How long the connection stays open after an early response, so that a client that is still sending can read the
 * response.
 */
export const lingerMs = 500;
export const maxLingerBytes = 256 * 1024;

/** Reads the requests of one connection, one after the other. */
export class DirectConnection {
  readonly #socket: Socket;
  readonly #settings: DirectSettings;
  #request: DirectRequest | undefined;
  /** An incomplete head. */
  #head: Buffer | undefined;
  #requestCount = 0;
  #isAdopted = false;
  /** Whether the connection closes after the response. */
  #isLast = false;
  /** When the connection was opened, its current request began, or its last response was sent. */
  #since = performance.now();
  #lingering: { timer: ReturnType<typeof setTimeout>; bytes: number } | undefined;

  constructor(socket: Socket, settings: DirectSettings) {
    this.#socket = socket;
    this.#settings = settings;
    socket.setTimeout(settings.server.timeout);
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose);
    socket.on("error", this.#onError).on("timeout", this.#onTimeout);
  }

  /** Whether a request is in progress: from its complete head to the end of its response. */
  get hasRequest(): boolean {
    return this.#request?.isAnswered === false || this.#socket.writableLength > 0;
  }

  /** Whether the body of the request in progress is incomplete. */
  get isReceiving(): boolean {
    return this.#request?.isComplete === false;
  }

  /** Whether every request is answered. `false` before the first request. */
  get isIdle(): boolean {
    return this.#requestCount > 0 && !this.hasRequest;
  }

  /** The number of requests that were read directly. */
  get requestCount(): number {
    return this.#requestCount;
  }

  /** Whether Node's server reads the connection. */
  get isAdopted(): boolean {
    return this.#isAdopted;
  }

  /** Sends `100 Continue`, which clients ignore, to detect whether a half-closed client has disconnected. */
  probe(): void {
    if (this.#request?.isAnswered === false && this.#socket.writable) this.#socket.write(continueResponse);
  }

  checkTimeout(now: number): void {
    const { requestTimeout, headersTimeout, keepAliveTimeout } = this.#settings.server;
    const elapsed = now - this.#since;
    if (this.#request) {
      if (!this.isReceiving || this.#request.isAnswered || elapsed < requestTimeout) return;
      this.#isLast = true;
      this.#request.fail(bodyLate());
    } else if (this.#requestCount === 0 || this.#head) {
      if (elapsed >= headersTimeout) this.#refuse("ERR_HTTP_REQUEST_TIMEOUT");
    } else if (this.#socket.writableLength > 0) {
      // The client is reading the response, for which the write timeout applies.
      this.#since = now;
    } else if (keepAliveTimeout > 0 && elapsed >= keepAliveTimeout + keepAliveBufferMs) this.#socket.destroy();
  }

  readonly #onData = (chunk: Buffer): void => {
    const request = this.#request;
    if (!request) this.#receive(this.#head ? Buffer.concat([this.#head, chunk]) : chunk);
    else {
      const rest = request.add(chunk);
      if (rest) this.#keep(rest);
      if (this.#lingering) this.#onDiscarded(request, chunk.length);
    }
  };

  /** Puts back the bytes of the next request until the response. Otherwise, the end of the connection would arrive before them. */
  #keep(bytes: Buffer): void {
    this.#socket.pause();
    this.#socket.unshift(bytes);
  }

  /** Reads a request. */
  #receive(bytes: Buffer): void {
    // The connection is closing.
    if (!this.#socket.writable) return;
    if (!this.#head) this.#since = performance.now();
    const end = bytes.indexOf("\r\n\r\n");
    const isIncomplete = end === -1 && isPartOfHead(bytes);
    this.#head = isIncomplete ? bytes : undefined;
    if (isIncomplete) return;
    const head = end === -1 || end > maxHeadBytes ? undefined : parseHead(bytes.toString("latin1", 0, end + 2));
    if (head) this.#start(new DirectRequest(head, this.#socket), bytes, end + 4);
    else this.#handOver(bytes);
  }

  #start(request: DirectRequest, bytes: Buffer, headLength: number): void {
    const rest = request.add(bytes.subarray(headLength));
    const answering = this.#settings.answer(request);
    if (!answering) {
      this.#handOver(bytes);
      return;
    }
    this.#request = request;
    this.#requestCount += 1;
    this.#isLast = this.#requestCount >= this.#settings.maxRequests;
    if (rest) this.#keep(rest);
    answering.then(
      (answer) => this.#send(request, answer),
      (error) => this.#fail(request, error),
    );
  }

  /** Passes the connection to Node's server, with the bytes that it has not read. */
  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#isAdopted = true;
    socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    socket.off("error", this.#onError).off("timeout", this.#onTimeout);
    socket.pause();
    socket.unshift(bytes);
    this.#settings.adopt(socket);
    socket.resume();
  }

  #send(request: DirectRequest, answer: Answer): void {
    try {
      if (isResponse(answer)) void this.#sendResponse(request, answer);
      else {
        const { status, content } = answer;
        const headers = content === null ? [] : Object.entries(headersOf(answer));
        this.#write(request, { status, headers, content: content ?? "" });
      }
    } catch (error) {
      this.#fail(request, error);
    }
  }

  /** Sends a `Response` whose body is in memory. */
  async #sendResponse(request: DirectRequest, response: Response): Promise<void> {
    try {
      // First, because the body of a `Blob` sets the content type.
      const hasBody = response.body !== null;
      const { status } = response;
      const headers = new Headers(withoutFraming(response, request.method).headers);
      // Hono's Node adapter has the same default.
      if (hasBody && !headers.has("content-type")) headers.set("content-type", "text/plain; charset=UTF-8");
      if (headers.get("connection")?.toLowerCase() === "close") this.#isLast = true;
      headers.delete("connection");
      this.#write(request, { status, headers, content: new Uint8Array(await response.arrayBuffer()) });
    } catch (error) {
      this.#fail(request, error);
    }
  }

  /** @throws before anything is sent, when the status or a header is not valid in HTTP. */
  #write(request: DirectRequest, { status, headers, content }: Sent): void {
    if (!Number.isInteger(status) || status < 200 || status > 999) {
      throw new RangeError(`Status ${status} is not valid in HTTP.`);
    }
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
    let hasDate = false;
    for (const [name, value] of headers) {
      assertValidHeader(name, value);
      head += `${name}: ${value}\r\n`;
      hasDate ||= name === "date";
    }
    const length = typeof content === "string" ? Buffer.byteLength(content) : content.length;
    // Responses with these statuses must not have a length (RFC 9110, section 8.6).
    if (status !== 204 && status !== 304) head += `content-length: ${length}\r\n`;
    const socket = this.#socket;
    const closes = this.#isLast || socket.readableEnded;
    if (!hasDate) head += `Date: ${currentDate()}\r\n`;
    head += `${closes ? "Connection: close\r\n" : this.#settings.keepAlive}\r\n`;
    request.end();
    // The client has disconnected.
    if (!socket.writable) return;
    if (typeof content === "string") socket.write(head + content, length === content.length ? "latin1" : "utf8");
    else {
      socket.cork();
      socket.write(head, "latin1");
      socket.write(content);
      socket.uncork();
    }
    if (request.isComplete || socket.readableEnded) this.#next();
    else {
      this.#lingering = { timer: setTimeout(() => socket.destroy(), lingerMs), bytes: 0 };
      socket.resume();
    }
  }

  /** Counts bytes of a body that has no reader anymore. */
  #onDiscarded(request: DirectRequest, count: number): void {
    if (request.isComplete) this.#next();
    else if (this.#lingering) {
      this.#lingering.bytes += count;
      if (this.#lingering.bytes <= maxLingerBytes) return;
      // Stop reading without destroying the socket, because a reset can prevent the client from reading the response.
      this.#socket.pause();
      this.#socket.end();
    }
  }

  /** Ends a request that was answered and read: reads the next one, or closes the connection. */
  #next(): void {
    clearTimeout(this.#lingering?.timer);
    this.#lingering = undefined;
    this.#request = undefined;
    this.#since = performance.now();
    const socket = this.#socket;
    if (this.#isLast || socket.readableEnded) socket.destroySoon();
    // The client does not read its responses.
    else if (socket.writableNeedDrain) socket.pause().once("drain", () => socket.resume());
    else if (socket.isPaused()) socket.resume();
  }

  #fail(request: DirectRequest, error: unknown): void {
    if (request.isAnswered) this.#socket.destroy();
    else this.#send(request, errorAnswer(internalError(error)));
    this.#settings.onError(error);
  }

  /** Refuses an incomplete request like Node's server, with one of its codes. */
  #refuse(code: string): void {
    this.#settings.server.emit("clientError", Object.assign(new Error("Incomplete request"), { code }), this.#socket);
  }

  readonly #onEnd = (): void => {
    if (this.#head) this.#refuse("HPE_INVALID_EOF_STATE");
    else if (!this.#request) this.#socket.end();
    else if (this.#request.isAnswered) this.#socket.destroySoon();
    else if (this.isReceiving) this.#request.fail(bodyIncomplete());
  };

  readonly #onClose = (): void => {
    clearTimeout(this.#lingering?.timer);
    this.#request?.disconnect();
  };

  readonly #onError = () => this.#socket.destroy();
  readonly #onTimeout = (): void => {
    // Idle connections have their own timeout.
    if (!this.isIdle) this.#settings.server.emit("timeout", this.#socket);
  };
}

interface Sent {
  status: number;
  headers: Iterable<readonly [name: string, value: string]>;
  content: string | Uint8Array;
}

const continueResponse = "HTTP/1.1 100 Continue\r\n\r\n";

/** Returns the lines that Node's server sends on connections that stay open. */
function keepAliveLines({ keepAliveTimeout }: Server, maxRequests: number): string {
  if (keepAliveTimeout === 0) return "Connection: keep-alive\r\n";
  const max = Number.isFinite(maxRequests) ? `, max=${maxRequests}` : "";
  return `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeout / 1_000)}${max}\r\n`;
}

let dateSecond = 0;
let date = "";

/** Returns the time as in the header `Date`. */
function currentDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = new Date(second * 1_000).toUTCString();
  }
  return date;
}

function bodyLate(): WebhookError {
  return new WebhookError("The body did not arrive in time. Send the request again.", {
    code: "BODY_INCOMPLETE",
    status: 408,
  });
}

/** A subscriber of this channel, such as a tracing library, expects Node's request and response. */
const requestStart = channel("http.server.request.start");

/** Whether other code observes the requests of Node's servers. OpenTelemetry replaces the method instead of subscribing. */
function isObserved(): boolean {
  return requestStart.hasSubscribers || Server.prototype.emit !== EventEmitter.prototype.emit;
}
