import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** An HTTP response as received. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** An HTTP request that is sent without validation. */
export interface RawRequest {
  method?: string;
  path: string;
  version?: string;
  /** `undefined` omits a header, a list repeats it. Each character is sent as one byte. */
  headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: string | Uint8Array;
}

/** Returns the bytes of a request. Adds `Content-Length` unless it or `Transfer-Encoding` is given. */
export function requestBytes({
  method = "POST",
  path,
  version = "HTTP/1.1",
  headers = {},
  body = "",
}: RawRequest): Buffer {
  const bytes = Buffer.from(body);
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const isFramed = names.includes("content-length") || names.includes("transfer-encoding");
  const framed = isFramed ? headers : { ...headers, "Content-Length": String(bytes.length) };
  const lines = Object.entries(framed).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((item) => `${name}: ${item}\r\n`),
  );
  return Buffer.concat([Buffer.from(`${method} ${path} ${version}\r\n${lines.join("")}\r\n`, "latin1"), bytes]);
}

/** Returns a chunk of a body with `Transfer-Encoding: chunked`. An empty chunk ends the body. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
}

/** A TCP connection on which tests send bytes that no HTTP client would send. */
export class RawSocket {
  /** Resolves when the server has ended the connection with FIN or RST. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    // A reset shows as a missing response, so its error needs no handling.
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      const onEnded = () => {
        this.#isEnded = true;
        this.#wake();
        resolve();
      };
      socket.on("end", onEnded).on("close", onEnded);
    });
  }

  /** Connects to the host and port of a URL. */
  static async open(url: string): Promise<RawSocket> {
    const { hostname, port } = new URL(url);
    // The socket stays open after the server's FIN, so that the test decides when to end its side.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await once(socket, "connect");
    return new RawSocket(socket);
  }

  send(...parts: readonly (string | Uint8Array)[]): this {
    for (const part of parts) this.#socket.write(part);
    return this;
  }

  /** Sends repeatedly until the server ends the connection. Returns the number of bytes passed to the system. */
  async sendUntilEnded(part: Uint8Array): Promise<number> {
    while (!this.#isEnded) {
      if (this.#socket.write(part)) continue;
      await Promise.race([new Promise((resolve) => this.#socket.once("drain", resolve)), this.ended]);
    }
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  /** Stops reading. */
  pause(): this {
    this.#socket.pause();
    return this;
  }

  resume(): this {
    this.#socket.resume();
    return this;
  }

  /** Ends this side of the connection (FIN) and continues to read. */
  finish(): this {
    this.#socket.end();
    return this;
  }

  /** Resets the connection (RST). */
  reset(): this {
    this.#socket.resetAndDestroy();
    return this;
  }

  /** Closes the connection. */
  close(): void {
    this.#socket.destroy();
  }

  /**
   * Returns the next complete response.
   *
   * @throws {Error} If the connection ends first.
   */
  async answer({ toHead = false }: { toHead?: boolean } = {}): Promise<RawAnswer> {
    for (;;) {
      const parsed = parseAnswer(this.#received, { toHead, isWhole: this.#isEnded });
      if (parsed) {
        this.#received = this.#received.subarray(parsed.length);
        return parsed.answer;
      }
      if (this.#isEnded)
        throw new Error(`The connection ended without a complete answer: ${JSON.stringify(this.rest)}`);
      await this.#changed.promise;
    }
  }

  /** Whether the server has ended the connection. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Received text that is not part of a returned response. */
  get rest(): string {
    return this.#received.toString("latin1");
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}

function parseAnswer(
  bytes: Buffer,
  { toHead, isWhole }: { toHead: boolean; isWhole: boolean },
): { answer: RawAnswer; length: number } | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...headerLines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  const headers = new Headers(
    headerLines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  const start = headEnd + 4;
  const body = toHead ? { parts: [], end: start } : readBody(bytes, start, { headers, isWhole });
  if (!body || bytes.length < body.end) return undefined;
  return { length: body.end, answer: { status, headers, text: Buffer.concat(body.parts).toString() } };
}

/** Returns the parts of a body and its end, or `undefined` while the body is incomplete. */
function readBody(
  bytes: Buffer,
  start: number,
  { headers, isWhole }: { headers: Headers; isWhole: boolean },
): { parts: Buffer[]; end: number } | undefined {
  if (headers.get("transfer-encoding") === "chunked") return readChunks(bytes, start);
  const claimed = headers.get("content-length");
  if (claimed === null && !isWhole) return undefined;
  const end = claimed === null ? bytes.length : start + Number(claimed);
  return { parts: [bytes.subarray(start, end)], end };
}

function readChunks(bytes: Buffer, start: number): { parts: Buffer[]; end: number } | undefined {
  const parts: Buffer[] = [];
  let position = start;
  for (;;) {
    const sizeEnd = bytes.indexOf("\r\n", position);
    if (sizeEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", position, sizeEnd), 16);
    parts.push(bytes.subarray(sizeEnd + 2, sizeEnd + 2 + size));
    position = sizeEnd + 2 + size + 2;
    if (size === 0) return { parts, end: position };
  }
}
