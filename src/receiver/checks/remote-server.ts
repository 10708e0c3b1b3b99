import * as z from "zod/mini";
import { messageOf } from "../../core/describe.ts";
import { directFetch } from "../../core/fetch.ts";
import { isOnThisMachine, webhooksPath } from "../../core/urls.ts";
import { webhookPayload } from "../../payload/samples.ts";
import type { EndpointDetails } from "../control.ts";
import { probeAgent } from "../request.ts";

/** The answer to a request. `status` is 0 without an answer, and `failure` is then the reason. */
export interface ServerAnswer {
  status: number;
  /** The code of an error of this package. */
  code?: string | undefined;
  failure?: string;
  body?: unknown;
}

interface RemoteServerOptions {
  /** The address without a trailing slash. */
  url: string;
  /** The token of the owner, who reads more than others. */
  consoleToken?: string | undefined;
  fetch?: typeof fetch | undefined;
  signal?: AbortSignal | undefined;
  /** Default 30 s, like the Hub. */
  timeoutMs?: number | undefined;
}

const errorBody = z.object({ code: z.string() });
const readiness = z.object({ problems: z.array(z.object({ message: z.string() })) });

/** The requests to a server that runs somewhere. They never follow a redirect, and reject only when the signal is aborted. */
export class RemoteServer {
  readonly #options: RemoteServerOptions;

  constructor(options: RemoteServerOptions) {
    this.#options = options;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ServerAnswer> {
    return this.#request(path, { headers });
  }

  /** Sends a request to the API of the console as its owner. */
  async callConsole(path: string, body?: object): Promise<ServerAnswer> {
    const headers = { authorization: `Bearer ${this.#options.consoleToken}`, "content-type": "application/json" };
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return this.#request(`/_console/api/${path}`, { ...init, headers });
  }

  /** Returns why the server is not ready, or `undefined` if it is. The reasons are only for the owner. */
  async findProblem(): Promise<string | undefined> {
    const { url, consoleToken } = this.#options;
    const basic = isConfidential(url) && consoleToken && Buffer.from(`owner:${consoleToken}`).toString("base64");
    const answer = await this.get("/ready", basic ? { authorization: `Basic ${basic}` } : {});
    if (answer.status >= 200 && answer.status < 300) return undefined;
    const reason = readiness.safeParse(answer.body).data?.problems[0]?.message;
    return `not ready: ${reason ?? `GET /ready ${describeAnswer(answer)}`}`;
  }

  /**
   * Sends a delivery that every endpoint refuses, but only after it found the endpoint and checked the secret: JSON that is no payload. No
   * handler runs. {@link isProof} returns whether the answer proves address, routing, and secret.
   */
  probe(endpoint: string, secret: string): Promise<ServerAnswer> {
    return this.#deliver(endpoint, { secret, body: {} });
  }

  /** Sends a sample of a push, which runs the handler. */
  sample({ name, watch = [] }: EndpointDetails, secret: string): Promise<ServerAnswer> {
    const watched = watch.find(({ type }) => type !== "user" && type !== "org");
    const repo = { type: watched?.type ?? "dataset", name: watched?.name ?? "me/data" };
    return this.#deliver(name, { secret, body: webhookPayload("repo.content", { repo }) });
  }

  #deliver(endpoint: string, { secret, body }: { secret: string; body: object }): Promise<ServerAnswer> {
    return this.#request(`${webhooksPath}${encodeURIComponent(endpoint)}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-webhook-secret": secret, "user-agent": probeAgent },
      body: JSON.stringify(body),
    });
  }

  async #request(path: string, init: RequestInit): Promise<ServerAnswer> {
    const { url, fetch: send = directFetch, signal, timeoutMs = 30_000 } = this.#options;
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await send(`${url}${path}`, {
        ...init,
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      });
      const body: unknown = await response.json().catch((error: unknown) => {
        if (!(error instanceof SyntaxError)) throw error;
      });
      return { status: response.status, code: errorBody.safeParse(body).data?.code, body };
    } catch (error) {
      signal?.throwIfAborted();
      return { status: 0, failure: messageOf(error) };
    }
  }
}

/** Whether a secret can be sent to an address. */
export function isConfidential(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isOnThisMachine(hostname);
}

/** Whether the answer to {@link RemoteServer.probe} proves that a delivery arrives with this secret. */
export function isProof({ status, code }: ServerAnswer): boolean {
  return status === 422 && code === "PAYLOAD_INVALID";
}

/** Describes an answer as the end of a sentence. */
export function describeAnswer({ status, code, failure }: ServerAnswer): string {
  return failure === undefined
    ? `was answered with ${status}${code ? ` (${code})` : ""}`
    : `was not answered: ${failure}`;
}
