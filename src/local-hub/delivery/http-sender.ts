import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import { messageOf } from "../../core/describe-error.ts";
import { isLoopbackAddress } from "../../core/loopback.ts";

/** What of an answer is kept; more is not read. */
const longestAnswer = 64 * 1024;

/** One POST of a delivery. */
export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** For all of it: connecting, sending, and the whole answer. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** How a POST ended: with an answer, or with a reason why there is none. */
export type PostResult =
  | { answer: { status: number; headers: Record<string, string>; body: string; truncated: boolean } }
  | { failure: string };

/** Posts deliveries over connections that are kept open. */
export class Poster {
  readonly #allowRemote: boolean;
  readonly #lookup: ReturnType<typeof loopbackOnly>;
  readonly #agents = {
    "http:": new HttpAgent({ keepAlive: true }),
    "https:": new HttpsAgent({ keepAlive: true }),
  };

  /** `lookup`: how names become addresses; by default as the system does it. */
  constructor({ allowRemote, lookup }: { allowRemote: boolean; lookup?: Lookup }) {
    this.#allowRemote = allowRemote;
    this.#lookup = loopbackOnly(lookup);
  }

  /** Sends one POST. Redirects are not followed: the Hub does not, and one would carry the secret to elsewhere. */
  async post(post: Post): Promise<PostResult> {
    const url = new URL(post.url);
    const host = url.hostname.replace(/^\[|\]$/g, "");
    // An address is not looked up, so the check of the lookup would not see it.
    if (!this.#allowRemote && isIP(host) && !isLoopbackAddress(host)) return { failure: remoteTarget(host) };
    try {
      return await this.#send(url, post);
    } catch (error) {
      // What Node refuses to send at all, a header that no HTTP can carry among it.
      return { failure: messageOf(error) };
    }
  }

  /** Closes the connections that are open. */
  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  #send(url: URL, post: Post): Promise<PostResult> {
    const secure = url.protocol === "https:";
    return new Promise((resolve) => {
      const outgoing = (secure ? httpsRequest : httpRequest)(url, {
        method: "POST",
        headers: { ...post.headers, "content-length": Buffer.byteLength(post.body) },
        agent: secure ? this.#agents["https:"] : this.#agents["http:"],
        signal: post.signal,
        ...(!this.#allowRemote && { lookup: this.#lookup }),
      });
      const settle = (result: PostResult) => {
        clearTimeout(limit);
        resolve(result);
      };
      const limit = setTimeout(() => {
        settle({ failure: `no complete answer within ${post.timeoutMs / 1000} s` });
        outgoing.destroy();
      }, post.timeoutMs);
      outgoing.on("response", (incoming) => readAnswer(incoming, settle));
      outgoing.on("upgrade", ({ statusCode }, socket) => {
        settle({ failure: `an answer of ${statusCode} asks for another protocol` });
        socket.destroy();
      });
      outgoing.on("error", (error) => settle({ failure: messageOf(error) }));
      outgoing.end(post.body);
    });
  }
}

function readAnswer(incoming: IncomingMessage, settle: (result: PostResult) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const finish = (truncated: boolean) => {
    const body = Buffer.concat(chunks).subarray(0, longestAnswer).toString("utf8");
    settle({ answer: { status: incoming.statusCode ?? 0, headers: plain(incoming.headers), body, truncated } });
  };
  incoming.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length <= longestAnswer) return;
    finish(true);
    incoming.destroy();
  });
  incoming.on("end", () => finish(false));
  incoming.on("error", (error) => settle({ failure: `the answer broke off: ${messageOf(error)}` }));
}

function plain(headers: IncomingMessage["headers"]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}

/** `lookup` of `node:dns`, or what does the same. */
export type Lookup = (
  hostname: string,
  options: LookupOptions,
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
) => void;

/**
 * Makes a lookup, for a connection, that fails where any address is not loopback: a name that was checked before could
 * by now stand for another address (DNS rebinding).
 */
export function loopbackOnly(lookupAny: Lookup = lookup): Lookup {
  return (hostname, options, callback) => {
    lookupAny(hostname, options, (error, address, family) => {
      const addresses = typeof address === "string" ? [address] : address?.map((found) => found.address);
      const stranger = error ? undefined : addresses.find((found) => !isLoopbackAddress(found));
      callback(stranger === undefined ? error : new Error(remoteTarget(hostname)), address, family);
    });
  };
}

/** What is said of a target that is not on this machine. */
export function remoteTarget(host: string): string {
  return `${host} is not this machine: start the local Hub with --allow-remote (LocalHub.launch({ allowRemote: true })) to deliver there`;
}
