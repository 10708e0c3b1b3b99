import type { Socket } from "node:net";
import type { WebhookError } from "../core/errors.ts";
import { webhooksPath } from "../core/urls.ts";
import { bodyIncomplete, checkBodyHeaders, concatenate, decodeText } from "../http/body.ts";

/**
 * One request line and one header or more. Node decides about all other characters, and about folded lines. A segment of the path cannot
 * start with a dot, because `..` leads to another path.
 */
const plainHead = new RegExp(
  String.raw`^POST ${webhooksPath}([\w-][\w.-]*(?:/[\w-][\w.-]*)*) HTTP/1\.1\r\n((?:[!#$%&'*+.^${"`"}|~\w-]+:[\t -~]*\r\n)+)$`,
);

/** Headers that change how the connection or the body is read. */
const connectionHeaders = ["transfer-encoding", "connection", "proxy-connection", "expect", "upgrade"] as const;

const plainHost = /^[\w.-]+(?::\d+)?$/;
/** The last valid `Host`, because most requests have the same one, and parsing it is expensive. */
let validHost: string | undefined;

function isValidHost(host: string | undefined): boolean {
  if (host === undefined) return false;
  if (host === validHost) return true;
  if (!plainHost.test(host) || !URL.canParse(`http://${host}`)) return false;
  validHost = host;
  return true;
}

/** The head of a request. */
export interface Head {
  endpointName: string;
  headers: ReadonlyMap<string, string>;
  contentLength: number;
}

/** Parses the text of a head, up to its last header. Returns `undefined` for a request that Node must read. */
export function parseHead(text: string): Head | undefined {
  const [, endpointName, lines] = plainHead.exec(text) ?? [];
  if (endpointName === undefined || lines === undefined) return undefined;
  const headers = new Map<string, string>();
  let count = 0;
  for (let start = 0; start < lines.length; count += 1) {
    const colon = lines.indexOf(":", start);
    const end = lines.indexOf("\r", colon);
    headers.set(lines.slice(start, colon).toLowerCase(), lines.slice(colon + 1, end).trim());
    start = end + 2;
  }
  // A proxy could use the other value of a repeated header.
  if (headers.size !== count || !isValidHost(headers.get("host"))) return undefined;
  const length = headers.get("content-length") ?? "";
  if (!/^\d{1,15}$/.test(length)) return undefined;
  for (const name of connectionHeaders) {
    const value = headers.get(name);
    if (value !== undefined && !(name === "connection" && value.toLowerCase() === "keep-alive")) return undefined;
  }
  return { endpointName, headers, contentLength: Number(length) };
}

/** A delivery that is read directly from a socket. */
export class DirectRequest {
  readonly method = "POST";
  readonly bindings = undefined;
  readonly endpointName: string;
  readonly #headers: ReadonlyMap<string, string>;
  readonly #socket: Socket;
  readonly #chunks: Uint8Array[] = [];
  /** The number of bytes of the body that have not arrived. */
  #missing: number;
  #reading: PromiseWithResolvers<string> | undefined;
  #failure: WebhookError | undefined;
  #controller: AbortController | undefined;
  #isDisconnected = false;
  #isAnswered = false;

  constructor({ endpointName, headers, contentLength }: Head, socket: Socket) {
    this.endpointName = endpointName;
    this.#headers = headers;
    this.#missing = contentLength;
    this.#socket = socket;
  }

  get url(): string {
    return `http://${this.#headers.get("host")}${webhooksPath}${this.endpointName}`;
  }

  get headers(): Headers {
    return new Headers([...this.#headers]);
  }

  header(name: string): string | null {
    return this.#headers.get(name) ?? null;
  }

  captureHeaders(): () => Iterable<readonly [name: string, value: string]> {
    const headers = this.#headers;
    return () => headers;
  }

  /** Aborts when the client disconnects before the response. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isDisconnected) this.#abort();
    return this.#controller.signal;
  }

  get isComplete(): boolean {
    return this.#missing === 0;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Called when the response is sent. The rest of the body is then discarded. */
  end(): void {
    this.#isAnswered = true;
    if (!this.isComplete) this.fail(bodyIncomplete());
  }

  /**
   * Reads the body as text.
   *
   * @throws `ENCODING_UNSUPPORTED` (415), `BODY_TOO_LARGE` (413), `BODY_INCOMPLETE` (400 or 408), `BODY_NOT_JSON` (400).
   */
  async readBody(limit: number): Promise<string> {
    const length = this.#headers.get("content-length");
    checkBodyHeaders({ encoding: this.#headers.get("content-encoding"), length }, limit);
    if (this.#failure) throw this.#failure;
    if (this.isComplete) return this.#decode();
    this.#reading ??= Promise.withResolvers();
    this.#socket.resume();
    return this.#reading.promise;
  }

  /** Adds bytes of the body. Returns the bytes after the body. */
  add(bytes: Buffer): Buffer | undefined {
    const taken = Math.min(this.#missing, bytes.length);
    this.#missing -= taken;
    if (!this.#isAnswered && taken > 0) {
      this.#chunks.push(taken === bytes.length ? bytes : bytes.subarray(0, taken));
      if (this.isComplete) this.#endReading();
      // Without a reader, the body has no limit.
      else if (!this.#reading) this.#socket.pause();
    }
    return taken === bytes.length ? undefined : bytes.subarray(taken);
  }

  /** Ends the reading of a body that does not arrive. */
  fail(error: WebhookError): void {
    this.#failure ??= error;
    this.#reading?.reject(error);
  }

  /** Ends the request because its client has disconnected. */
  disconnect(): void {
    if (!this.isComplete) this.fail(bodyIncomplete());
    if (this.#isAnswered) return;
    this.#isDisconnected = true;
    if (this.#controller) this.#abort();
  }

  #abort(): void {
    this.#controller?.abort(new Error("The connection ended before the response was sent."));
  }

  #endReading(): void {
    try {
      this.#reading?.resolve(this.#decode());
    } catch (error) {
      this.#reading?.reject(error);
    }
  }

  #decode(): string {
    const [first = new Uint8Array(), ...others] = this.#chunks;
    return decodeText(others.length === 0 ? first : concatenate(this.#chunks));
  }
}
