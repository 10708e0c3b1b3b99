import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { messageOf } from "../../core/describe.ts";
import { isLoopbackAddress } from "../../core/urls.ts";

const maxResponseBytes = 64 * 1024;

export interface HttpRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** The timeout for connecting, sending the request, and reading the whole response. */
  timeoutMs: number;
  signal: AbortSignal;
}

export type HttpResult =
  | { response: { status: number; headers: Record<string, string>; body: string; truncated: boolean } }
  | { failure: string };

export type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/** Sends POST requests over keep-alive connections. */
export class HttpSender {
  readonly #allowRemote: boolean;
  readonly #lookup: Lookup;
  readonly #agents = {
    "http:": new HttpAgent({ keepAlive: true }),
    "https:": new HttpsAgent({ keepAlive: true }),
  };

  /** @param options.lookup resolves host names. Default `lookup` from `node:dns`. */
  constructor({ allowRemote, lookup }: { allowRemote: boolean; lookup?: Lookup }) {
    this.#allowRemote = allowRemote;
    this.#lookup = loopbackOnly(lookup);
  }

  /** Does not follow redirects, because the Hub does not, and the new location would receive the secret. */
  async send(request: HttpRequest): Promise<HttpResult> {
    const url = new URL(request.url);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    // Node does not call `lookup` for IP addresses, so addresses are checked here.
    if (!this.#allowRemote && isIP(host) && !isLoopbackAddress(host)) return { failure: remoteHostFailure(host) };
    try {
      return await this.#send(url, request);
    } catch (error) {
      // Node throws for invalid requests, such as a request with an invalid header.
      return { failure: messageOf(error) };
    }
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #send(url: URL, { headers, body, timeoutMs, signal }: HttpRequest): Promise<HttpResult> {
    const secure = url.protocol === "https:";
    return new Promise((resolve) => {
      const outgoing = (secure ? httpsRequest : httpRequest)(url, {
        method: "POST",
        headers: { ...headers, "content-length": Buffer.byteLength(body) },
        agent: secure ? this.#agents["https:"] : this.#agents["http:"],
        signal,
        ...(!this.#allowRemote && { lookup: this.#lookup }),
      });
      const finish = (result: HttpResult) => {
        clearTimeout(timeout);
        resolve(result);
      };
      const timeout = setTimeout(() => {
        finish({ failure: `no complete response within ${timeoutMs / 1000} s` });
        outgoing.destroy();
      }, timeoutMs);
      outgoing.on("response", (incoming) => readResponse(incoming, finish));
      outgoing.on("upgrade", ({ statusCode }, socket) => {
        finish({ failure: `unsupported response: status ${statusCode} switches to another protocol` });
        socket.destroy();
      });
      outgoing.on("error", (error) => finish({ failure: messageOf(error) }));
      outgoing.end(body);
    });
  }
}

/** Fails for remote addresses. A check before connecting would not be enough, because of DNS rebinding. */
export function loopbackOnly(lookupAny: Lookup = lookup): Lookup {
  return (hostname, options, callback) => {
    lookupAny(hostname, options, (error, address, family) => {
      const addresses = typeof address === "string" ? [address] : address?.map((found) => found.address);
      const remoteAddress = error ? undefined : addresses.find((found) => !isLoopbackAddress(found));
      callback(remoteAddress === undefined ? error : new Error(remoteHostFailure(hostname)), address, family);
    });
  };
}

function remoteHostFailure(host: string): string {
  return `"${host}" is not this machine. To deliver to other machines, start the local Hub with --allow-remote (LocalHub.launch({ allowRemote: true }))`;
}

function readResponse(incoming: IncomingMessage, finish: (result: HttpResult) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const end = (truncated: boolean) => {
    const body = Buffer.concat(chunks).subarray(0, maxResponseBytes).toString("utf8");
    const headers = joinValues(incoming.headers);
    finish({ response: { status: incoming.statusCode ?? 0, headers, body, truncated } });
  };
  incoming.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= maxResponseBytes) return;
    end(true);
    incoming.destroy();
  });
  incoming.on("end", () => end(false));
  incoming.on("error", (error) => finish({ failure: `the response ended early: ${messageOf(error)}` }));
}

function joinValues(headers: IncomingMessage["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
