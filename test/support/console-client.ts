import type { SignInRequest } from "../../src/console/protocol/session.ts";

/** Sends a request to a path below `/_console/`. */
export type SendToConsole = (path: string, init?: RequestInit) => Promise<Response>;

/** Sends requests to the API of a console like its page: with the cookie and the CSRF token of its session. */
export class ConsoleClient {
  cookie = "";
  csrfToken = "";
  readonly #send: SendToConsole;

  constructor(send: SendToConsole) {
    this.#send = send;
  }

  async signIn(request: SignInRequest, headers: Record<string, string> = {}): Promise<Response> {
    const response = await this.#send("api/session", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(request),
    });
    this.cookie = response.headers.get("set-cookie")?.split(";")[0] ?? this.cookie;
    const { csrfToken } = await response.clone().json();
    this.csrfToken = csrfToken ?? this.csrfToken;
    return response;
  }

  get(path: string, headers: Record<string, string> = {}, init: RequestInit = {}): Promise<Response> {
    return this.#send(`api/${path}`, { ...init, headers: { cookie: this.cookie, ...headers } });
  }

  /** Returns the JSON body of a successful answer. */
  async read(path: string) {
    const response = await this.get(path);
    if (!response.ok) throw new Error(`${path} is answered with ${response.status}: ${await response.text()}`);
    return response.json();
  }

  post(path: string, body: unknown, { headers = {}, method = "POST" }: ChangeOptions = {}): Promise<Response> {
    const own = { cookie: this.cookie, "x-csrf-token": this.csrfToken, "content-type": "application/json" };
    return this.#send(`api/${path}`, { method, headers: { ...own, ...headers }, body: JSON.stringify(body) });
  }

  /** Changes something. Returns the status and the JSON body of the answer. */
  async change(path: string, body: unknown, options: ChangeOptions = {}) {
    const response = await this.post(path, body, options);
    return { status: response.status, body: await response.json() };
  }
}

interface ChangeOptions {
  headers?: Record<string, string>;
  method?: string;
}
