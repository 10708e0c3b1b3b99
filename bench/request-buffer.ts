/** What to send. */
export interface RequestOptions {
  port: number;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The header that contains the ID of each request. */
  idHeader: string;
  /** The number of endpoints that are chosen at random. With 0, every request goes to the endpoint "bench". */
  endpoints: number;
}

const zero = 0x30;
const nine = 0x39;

/**
 * A request that is built once and then modified after each response. Building a new request each time would make the
 * load generator as slow as the servers that it measures.
 */
export class RequestBuffer {
  readonly bytes: Buffer;
  readonly #lastDigitOfId: number;
  readonly #lastDigitOfPath: number;
  readonly #endpoints: number;

  constructor({ port, headers, body, idHeader, endpoints }: RequestOptions, connection: number) {
    const path = endpoints === 0 ? "/webhooks/bench" : "/webhooks/bench-00000";
    // IDs differ in each run, because a store would treat the IDs of an earlier run as duplicates.
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

  /** Sets a new ID and, if there are several, a new endpoint. */
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
