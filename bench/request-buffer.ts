/** What to send. */
export interface RequestOptions {
  port: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The header that carries an id of its own with each request. */
  idHeader: string;
  /** How many endpoints take turns at random; 0 sends everything to the one named "bench". */
  endpoints: number;
}

const zero = 0x30;
const nine = 0x39;

/**
 * A request that is built once and altered in place, which is safe once its answer is there: composing each anew would
 * make the load generator as slow as what it measures.
 */
export class RequestBuffer {
  readonly bytes: Buffer;
  readonly #lastDigitOfId: number;
  readonly #lastDigitOfPath: number;
  readonly #endpoints: number;

  constructor({ port, headers, body, idHeader, endpoints }: RequestOptions, connection: number) {
    const path = endpoints === 0 ? "/webhooks/bench" : "/webhooks/bench-00000";
    // Another one in each run: what a store has seen in the run before would be a duplicate, and cost nothing.
    const id = `${crypto.randomUUID().slice(0, 8)}-3f4e-4b${String(connection).padStart(2, "0")}-a6d8-000000000000`;
    const head = [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      "User-Agent: bench",
      "Accept: */*",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${Buffer.byteLength(body)}`,
      `${idHeader}: ${id}`,
    ].join("\r\n");
    this.bytes = Buffer.from(`${head}\r\n\r\n${body}`);
    this.#lastDigitOfId = head.length - 1;
    this.#lastDigitOfPath = `POST ${path}`.length - 1;
    this.#endpoints = endpoints;
  }

  /** Gives the request a new id, and a new endpoint where there are several. */
  renew(): Buffer {
    let at = this.#lastDigitOfId;
    while (this.bytes[at] === nine) this.bytes[at--] = zero;
    this.bytes[at] = (this.bytes[at] ?? zero) + 1;
    if (this.#endpoints > 0) this.#chooseEndpoint();
    return this.bytes;
  }

  #chooseEndpoint(): void {
    let rest = Math.floor(Math.random() * this.#endpoints);
    for (let digit = 0; digit < 5; digit += 1) {
      this.bytes[this.#lastDigitOfPath - digit] = zero + (rest % 10);
      rest = Math.floor(rest / 10);
    }
  }
}
