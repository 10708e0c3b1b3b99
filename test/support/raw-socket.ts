import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** An answer as it came over the wire. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** A request to be put on the wire as it stands. */
export interface RawRequest {
  method?: string;
  path: string;
  version?: string;
  /** `undefined` leaves a header out, a list repeats it. Characters go out as one byte each. */
  headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  body?: string | Uint8Array;
}

/** The bytes of a request. `Content-Length` is added unless a header of that name or `Transfer-Encoding` is given. */
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

/** One chunk of a body sent with `Transfer-Encoding: chunked`; an empty one ends it. */
export function chunk(bytes: string | Uint8Array): Buffer {
  const data = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n")]);
}

/** A TCP connection on which a test writes whatever it likes: no HTTP client would send what is tried here. */
export class RawSocket {
  /** Resolves when the other side has ended the connection, with a FIN or with a reset. */
  readonly ended: Promise<void>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #isEnded = false;
  #changed = Promise.withResolvers<void>();

  private constructor(socket: Socket) {
    this.#socket = socket;
    // What a reset interrupts is told by the answer that does not come.
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
    // Kept open after the server's FIN, so that a test alone decides when its own side ends.
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    await once(socket, "connect");
    return new RawSocket(socket);
  }

  send(...parts: readonly (string | Uint8Array)[]): this {
    for (const part of parts) this.#socket.write(part);
    return this;
  }

  /** Sends for as long as the receiver takes it. Returns how many bytes were handed to the system by then. */
  async sendUntilEnded(part: Uint8Array): Promise<number> {
    while (!this.#isEnded) {
      if (this.#socket.write(part)) continue;
      await Promise.race([new Promise((resolve) => this.#socket.once("drain", resolve)), this.ended]);
    }
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  /** Reads nothing from now on. */
  pause(): this {
    this.#socket.pause();
    return this;
  }

  /** Says that nothing more will come, and goes on listening (FIN). */
  finish(): this {
    this.#socket.end();
    return this;
  }

  /** Breaks the connection (RST). */
  reset(): this {
    this.#socket.resetAndDestroy();
    return this;
  }

  /** Lets go of the connection. */
  close(): void {
    this.#socket.destroy();
  }

  /**
   * The next whole answer on this connection.
   *
   * @throws when the connection ends without one.
   */
  async answer({ toHead = false }: { toHead?: boolean } = {}): Promise<RawAnswer> {
    for (;;) {
      const parsed = parseAnswer(this.#received, { toHead, isWhole: this.#isEnded });
      if (parsed) {
        this.#received = this.#received.subarray(parsed.length);
        return parsed.answer;
      }
      if (this.#isEnded) throw new Error(`The connection ended without a whole answer: ${JSON.stringify(this.rest)}`);
      await this.#changed.promise;
    }
  }

  /** Whether the other side has ended the connection. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** What came and was not taken as an answer yet. */
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

/** The parts of a body and where it ends; `undefined` while that is not to be seen. */
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
