import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { ObjectStoreError } from "./object-store.ts";
import { parseErrorCode } from "./s3-xml.ts";

/** A request to the S3 API. */
export interface S3Request {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  url: URL;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array;
}

/** A successful response whose body was read. */
export interface S3Response {
  /** The headers of the store. If the store redirected the request to a CDN, these are the headers of the redirect. */
  headers: Headers;
  isRedirected: boolean;
  body: Uint8Array;
}

/** A repeatable request is sent up to three times, with these pauses in milliseconds. */
const pausesMs = [200, 800];
/** The maximum pause that a store can request, in milliseconds. */
const maxRequestedPauseMs = 5_000;
/** A transfer may take longer than the timeout if it is at least this fast. */
const minBytesPerMs = 100;

/** Statuses below 500 after which the same request can succeed, or after which its effect is unknown. */
const transientStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429]);
/** Codes with status 400 for a body that was changed or cut off on the way. */
const transientCodes: ReadonlySet<string> = new Set([
  "BadDigest",
  "IncompleteBody",
  "RequestTimeout",
  "XAmzContentSHA256Mismatch",
]);

const hints: Readonly<Record<string, string>> = {
  RequestTimeTooSkewed: " Set the clock of this machine.",
  PermanentRedirect: " Check the region and the endpoint.",
  TemporaryRedirect: " Check the region and the endpoint.",
  AuthorizationHeaderMalformed: " Check the region.",
};

/** Sends signed requests to the S3 API. Errors contain no URLs, keys, or signatures. */
export class S3Client {
  readonly #signer: AwsClient;
  readonly #timeoutMs: number;

  constructor({ signer, timeoutMs }: { signer: AwsClient; timeoutMs: number }) {
    this.#signer = signer;
    this.#timeoutMs = timeoutMs;
  }

  /** Repeats a request whose effect is the same if it is sent twice. @throws {@link ObjectStoreError} */
  async sendRepeatedly(request: S3Request): Promise<S3Response> {
    for (const pauseMs of pausesMs) {
      try {
        return await this.send(request);
      } catch (error) {
        if (!(error instanceof ObjectStoreError) || error.isRefused) throw error;
        await wait(Math.max(pauseMs, Math.min(error.retryAfterMs ?? 0, maxRequestedPauseMs)));
      }
    }
    return this.send(request);
  }

  /** Sends a request once. @throws {@link ObjectStoreError} unless the status of the response is 2xx. */
  async send({ method, url, headers = {}, body = new Uint8Array() }: S3Request): Promise<S3Response> {
    const request = {
      method,
      // The store rejects a body that was cut off or changed on the way.
      headers: { ...headers, "x-amz-content-sha256": createHash("sha256").update(body).digest("hex") },
      ...(method === "PUT" && { body: new Uint8Array(body) }),
      redirect: "manual" as const,
    };
    using deadline = new Deadline(this.#timeoutMs);
    deadline.restart(body.length);
    try {
      const first = await fetch(await this.#signer.sign(url, { ...request, signal: deadline.signal }));
      const target = method === "GET" ? redirectTarget(first, url) : undefined;
      if (target === undefined) return await readResponse({ method, response: first, deadline });
      await first.body?.cancel();
      // The signature is only for the store. A CDN receives none of the headers.
      const second = await fetch(target, { signal: deadline.signal });
      const { body } = await readResponse({ method, response: second, deadline, isFromCdn: true });
      return { headers: first.headers, isRedirected: true, body };
    } catch (cause) {
      if (cause instanceof ObjectStoreError) throw cause;
      const reason = deadline.signal.aborted
        ? `has not responded to ${method} in time`
        : `is not reachable for ${method}${describeCause(cause)}`;
      // Without the cause, whose message can contain the URL of a CDN with a signature.
      throw new ObjectStoreError(`The bucket ${reason}.`, { isRefused: false });
    }
  }
}

/** Aborts a request. The time can be extended for the size of a transfer. */
class Deadline implements Disposable {
  readonly #timeoutMs: number;
  readonly #controller = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  restart(bytes: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), this.#timeoutMs + bytes / minBytesPerMs);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/** Returns the target of a redirect. A redirect from https to http is not followed. */
function redirectTarget({ status, headers }: Response, url: URL): URL | undefined {
  const location = headers.get("location");
  if (status < 300 || status >= 400 || location === null) return undefined;
  const target = URL.parse(location, url);
  return target?.protocol === "https:" || target?.protocol === url.protocol ? target : undefined;
}

async function readResponse({
  method,
  response,
  deadline,
  isFromCdn = false,
}: {
  method: S3Request["method"];
  response: Response;
  deadline: Deadline;
  isFromCdn?: boolean;
}): Promise<S3Response> {
  const { status, headers } = response;
  const bytes = Number(headers.get("content-length"));
  deadline.restart(method === "HEAD" || !Number.isSafeInteger(bytes) ? 0 : bytes);
  const body = await response.bytes();
  const isRedirectOfHead = method === "HEAD" && status >= 300 && status < 400;
  if (response.ok || isRedirectOfHead) return { headers, isRedirected: false, body };
  // A CDN does not decide whether an object exists or a request is valid: its URLs expire.
  if (isFromCdn) {
    throw new ObjectStoreError(`The CDN of the bucket responded to ${method} with status ${status}.`, {
      isRefused: false,
      status,
    });
  }
  // The response to HEAD has no body. HEAD is only sent for objects that exist, so the bucket exists.
  const code = method === "HEAD" && status === 404 ? "NoSuchKey" : parseErrorCode(body);
  const retryAfterMs = 1_000 * Number(headers.get("retry-after") ?? Number.NaN);
  const detail = code === undefined ? "" : ` (${code})`;
  const hint = (code === undefined ? undefined : hints[code]) ?? "";
  throw new ObjectStoreError(`The bucket responded to ${method} with status ${status}${detail}.${hint}`, {
    isRefused: isRefusal(status, code),
    status,
    ...(code !== undefined && { s3Code: code }),
    ...(retryAfterMs >= 0 && Number.isFinite(retryAfterMs) && { retryAfterMs }),
  });
}

/** Whether a request had no effect and fails again. 501: the store does not support a header of the request. */
function isRefusal(status: number, code: string | undefined): boolean {
  if (status === 501) return true;
  return status < 500 && !transientStatuses.has(status) && !transientCodes.has(code ?? "");
}

/** Returns the code of a failed connection, such as ` (ECONNREFUSED)`. Messages of failed connections contain addresses. */
function describeCause(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && "code" in cause ? ` (${cause.code})` : "";
}
