import { expect } from "vitest";
import { ConsoleClient as AnyConsoleClient, type SendToConsole } from "../../support/console-client.ts";

/** A response of the console's API. */
export interface ConsoleAnswer {
  status: number;
  headers: Headers;
  /** The parsed JSON. Tests assert its content. */
  body: unknown;
  text: string;
}

/** A signed-in client of a console's API, which parses the responses. */
export class ConsoleClient {
  readonly #client: AnyConsoleClient;

  private constructor(client: AnyConsoleClient) {
    this.#client = client;
  }

  /**
   * Signs in with a one-time link.
   *
   * @param send sends a request to a path of the console's server. Default: over a socket.
   */
  static async signIn(link: string, send: SendToConsole = (path, init) => fetch(new URL(path, link), init)) {
    const code = /#\/sign-in\/(\w+)$/.exec(link)?.[1] ?? "";
    const client = new AnyConsoleClient((path, init) => send(`/_console/${path}`, init));
    expect((await client.signIn({ code })).status).toBe(200);
    return new ConsoleClient(client);
  }

  /** Reads a resource, such as `webhooks/one?id=…`. */
  async get(path: string): Promise<ConsoleAnswer> {
    return answerOf(await this.#client.get(path));
  }

  /** Reads a resource that is not JSON. */
  download(path: string, init?: RequestInit): Promise<Response> {
    return this.#client.get(path, {}, init);
  }

  /** Sends a change. */
  async post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<ConsoleAnswer> {
    return answerOf(await this.#client.post(path, body, { headers }));
  }

  /** Opens the live stream. */
  async stream(init: RequestInit): Promise<ReadableStream<string>> {
    const { body } = await this.download("stream", init);
    if (!body) throw new Error("The stream has no body.");
    return body.pipeThrough(new TextDecoderStream());
  }
}

async function answerOf(response: Response): Promise<ConsoleAnswer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text), text };
}
