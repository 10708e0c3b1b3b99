import { expect } from "vitest";

/** A response of the console's API. */
export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  /** The parsed JSON. Tests assert its content. */
  body: unknown;
  text: string;
}

type Send = (path: string, init?: RequestInit) => Promise<Response>;

/** A signed-in client of a console's API. */
export class ConsoleClient {
  readonly #send: Send;
  readonly #cookie: string;
  readonly #csrfToken: string;

  private constructor({ send, cookie, csrfToken }: { send: Send; cookie: string; csrfToken: string }) {
    this.#send = send;
    this.#cookie = cookie;
    this.#csrfToken = csrfToken;
  }

  /**
   * Signs in with a one-time link.
   *
   * @param send sends a request to a path of the console's server. Default: over a socket.
   */
  static async signIn(link: string, send: Send = (path, init) => fetch(new URL(path, link), init)) {
    const code = /#\/sign-in\/(\w+)$/.exec(link)?.[1];
    const response = await send("/_console/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code }),
    });
    expect(response.status).toBe(200);
    const { csrfToken } = await response.json();
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    return new ConsoleClient({ send, cookie, csrfToken });
  }

  /** Reads a resource, such as `webhooks/one?id=…`. */
  async get(path: string): Promise<ConsoleAnswer> {
    return answerOf(await this.download(path));
  }

  /** Reads a resource that is not JSON. */
  async download(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#send(`/_console/api/${path}`, { ...init, headers: { cookie: this.#cookie } });
  }

  /** Sends a change. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    const response = await this.#send(`/_console/api/${path}`, {
      method: "POST",
      headers: {
        cookie: this.#cookie,
        "content-type": "application/json",
        "x-csrf-token": this.#csrfToken,
        ...headers,
      },
      body: JSON.stringify(body),
    });
    return answerOf(response);
  }

  /** Opens the live stream. */
  async stream({ signal }: { signal: AbortSignal }): Promise<ReadableStream<string>> {
    const response = await this.#send("/_console/api/stream", { headers: { cookie: this.#cookie }, signal });
    if (!response.body) throw new Error("The stream has no body.");
    return response.body.pipeThrough(new TextDecoderStream());
  }
}

async function answerOf(response: Response): Promise<ConsoleAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
}
