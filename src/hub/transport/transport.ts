import type * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import { HubError } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { readJson } from "../../core/text.ts";
import { loadOnce, untilAborted } from "../../core/time.ts";
import type { CallOptions, InputOf, Operation, ResponseOf } from "../operation.ts";
import { nextQuery } from "../pages.ts";
import { undocumentedBody } from "../schemas.ts";
import { lenient } from "../validation/lenient.ts";
import { createUnknownPartWarner, packageVersion, type UnknownPart } from "../validation/unknown-parts.ts";
import { isConnectFailure, maxRetryAfterSeconds, readErrorResponse, retryDelayMs, wait } from "./failures.ts";
import { followRedirects, isAllowed } from "./redirects.ts";
import {
  actionOf,
  type HubFetchInit,
  type HubRequest,
  type OperationInput,
  type OperationOptions,
  prepareFetch,
  prepareRequest,
} from "./request.ts";
import { createRedact, sanitizeError, secretsIn } from "./request-secrets.ts";
import {
  isWebPage,
  JsonArrayError,
  ResponseStalledError,
  readArrayElements,
  readBytes,
  readEvents,
  readText,
} from "./response-body.ts";

/** The maximum size of a response in bytes, which is much larger than the lists that the Hub returns. */
const maxResponseBytes = 50_000_000;

export interface TransportSettings {
  /** The Hub's base URL, without a trailing slash. */
  hubUrl: string;
  findToken: () => Promise<string>;
  fetch: typeof fetch;
  /** The timeout of one attempt, or of each part of a streamed response. */
  timeoutMs: number;
  /** The maximum number of attempts, including the first attempt. */
  attempts: number;
  /** Logs warnings. Default: `process.emitWarning`, or `console.warn` in runtimes without `process.emitWarning`. */
  logger?: Logger | undefined;
  wait?: typeof wait;
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  random?: () => number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

interface PreparedRequest extends HubRequest {
  /** Whether the request can be repeated safely even if the Hub has already processed the request. */
  idempotent: boolean;
  /** Whether to follow redirects to other servers, without the token. Default `false`. */
  followsRedirects?: boolean;
  /** The additional timeout of an attempt for a large body. Default 0. */
  addedTimeoutMs?: number;
}

/** An upload to a URL that the Hub chose. */
export interface UploadRequest extends CallOptions {
  method: "PUT" | "POST";
  url: string;
  headers?: Record<string, string>;
  body: Blob | string;
  /** Whether to send the token, if the URL is on the Hub. Default `false`. */
  sendsToken?: boolean;
}

/** The speed below which an upload times out, in bytes per millisecond. */
const minUploadSpeed = 100;

/** The result of one attempt. `maybeProcessed`: whether the Hub may have processed the failed request. */
type Attempt<Answer> = { answer: Answer } | { failure: HubError; maybeProcessed: boolean };

/** Reads a successful response. The signal is aborted when the attempt times out or the caller cancels the call. */
type Read<Answer> = (response: Response, signal: AbortSignal) => Promise<Answer>;

/** Calls operations over HTTP: validates requests, retries failed attempts, and parses responses. */
export class Transport {
  readonly #settings: Required<Omit<TransportSettings, "logger">>;
  readonly #warn: ReturnType<typeof createUnknownPartWarner>;
  readonly #target: { hubUrl: string; readToken: () => Promise<string> };

  constructor({ logger, ...settings }: TransportSettings) {
    this.#settings = { wait, random: Math.random, now: Date.now, ...settings };
    this.#warn = createUnknownPartWarner(logger);
    this.#target = { hubUrl: settings.hubUrl, readToken: loadOnce(settings.findToken) };
  }

  /**
   * Calls an operation.
   *
   * @throws `ARGUMENT_INVALID`, `HUB_TOKEN_MISSING`, or `HUB_TOKEN_INVALID` before the request is sent, other `HUB_…` codes after
   *   the request was sent, and the signal's abort reason.
   */
  async call<Called extends Operation>(
    operation: Called,
    input: InputOf<Called>,
    options: OperationOptions = {},
  ): Promise<ResponseOf<Called>> {
    const prepared = await this.#prepare(operation, { input, options });
    const schema = lenient<Called["response"]>(operation.response);
    const answer = await this.#repeat(prepared, options.signal, (response, signal) =>
      this.#readJson(response, { prepared, operation, signal }),
    );
    return this.#check(prepared, { schema, answer });
  }

  /** Yields the pages of a list. Follows the `Link` headers of the responses. @throws like {@link call}. */
  async *pages<Called extends Operation>(
    operation: Called,
    input: InputOf<Called>,
    options: CallOptions = {},
  ): AsyncGenerator<ResponseOf<Called>, void, undefined> {
    const schema = lenient<Called["response"]>(operation.response);
    const requested = new Set<string>();
    let query: URLSearchParams | undefined;
    do {
      const prepared = await this.#prepare(operation, { input, options, query });
      if (requested.has(prepared.url)) throw this.#responseInvalid(prepared, "pages in a cycle");
      requested.add(prepared.url);
      const { answer, next } = await this.#repeat(prepared, options.signal, async (response, signal) => ({
        answer: await this.#readJson(response, { prepared, operation, signal }),
        next: nextQuery(response.headers.get("link")),
      }));
      yield this.#check(prepared, { schema, answer });
      options.signal?.throwIfAborted();
      query = next;
    } while (query !== undefined);
  }

  /**
   * Yields the elements of a JSON array as they arrive, without loading the whole response into memory. Does not retry after the
   * response has started.
   *
   * @throws like {@link call}.
   */
  async *stream<Item extends z.ZodMiniType>(
    operation: Operation,
    { item, ...input }: OperationInput & { item: Item },
    options: CallOptions = {},
  ): AsyncGenerator<z.output<Item>, void, undefined> {
    const prepared = await this.#prepare(operation, { input, options });
    const response = await this.#repeat(prepared, options.signal, async (started) => started);
    const { timeoutMs } = this.#settings;
    yield* this.#items(prepared, {
      elements: readArrayElements(response, { timeoutMs, signal: options.signal }),
      item,
      signal: options.signal,
    });
  }

  /**
   * Yields the JSON objects of a stream of server-sent events as they arrive. Does not retry after the response has started. With
   * `endsWhenIdle`, ends instead of throwing if no data arrives for `idleMs`.
   *
   * @throws like {@link call}.
   */
  async *events<Item extends z.ZodMiniType>(
    operation: Operation,
    { item, idleMs, endsWhenIdle, ...input }: OperationInput & { item: Item; idleMs: number; endsWhenIdle?: boolean },
    { signal }: CallOptions = {},
  ): AsyncGenerator<z.output<Item>, void, undefined> {
    const prepared = await this.#prepare(operation, { input, options: { signal } });
    prepared.init.headers.accept = "text/event-stream";
    const response = await this.#repeat(prepared, signal, async (started) => started);
    const elements = readEvents(response, { timeoutMs: idleMs, signal });
    yield* this.#items(prepared, { elements, item, signal, endsWhenIdle });
  }

  /** Waits before a call is repeated by the caller. `attempt` is the number of the failed attempt. */
  waitBeforeRetry(attempt: number, signal: AbortSignal | undefined, requestedSeconds?: number): Promise<void> {
    const { wait, random } = this.#settings;
    return wait(retryDelayMs({ attempt, random: random(), requestedSeconds }), signal);
  }

  /** Yields the validated elements of a response. */
  async *#items<Item extends z.ZodMiniType>(
    prepared: PreparedRequest,
    {
      elements,
      item,
      signal,
      endsWhenIdle = false,
    }: CallOptions & { elements: AsyncGenerator<unknown, void>; item: Item; endsWhenIdle?: boolean | undefined },
  ): AsyncGenerator<z.output<Item>, void, undefined> {
    const schema = lenient<Item>(item);
    try {
      for await (const answer of elements) {
        yield this.#check(prepared, { schema, answer });
        signal?.throwIfAborted();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (HubError.isInstance(error)) throw error;
      if (error instanceof JsonArrayError) {
        throw this.#responseInvalid(prepared, `a response that is not a JSON array (${error.message})`);
      }
      if (error instanceof ResponseStalledError && endsWhenIdle) return;
      if (error instanceof ResponseStalledError) throw this.#timedOut(prepared);
      throw this.#unreachable(prepared, error, true);
    }
  }

  /**
   * Reads a file. Follows redirects, such as those to the servers that store large files, but never sends the token there.
   *
   * @throws `FILE_TOO_LARGE` if the file has more than `maxBytes` bytes, otherwise like {@link call}.
   */
  async download<Called extends Operation>(
    operation: Called,
    input: InputOf<Called>,
    { maxBytes, signal }: CallOptions & { maxBytes: number },
  ): Promise<Uint8Array> {
    const prepared = await this.#prepare(operation, { input, options: { signal } });
    prepared.init.headers.accept = "*/*";
    prepared.followsRedirects = true;
    return this.#repeat(prepared, signal, async (response, attemptSignal) => {
      const bytes = await readBytes(response, { limit: maxBytes, signal: attemptSignal });
      if (bytes !== undefined) return bytes;
      throw new HubError(
        `Could not ${prepared.action}: the file has more than ${maxBytes} bytes. Raise "maxBytes", or download the file with @huggingface/hub.`,
        { code: "FILE_TOO_LARGE" },
      );
    });
  }

  /**
   * Uploads content to a URL that the Hub chose, such as the URL of another server that stores large files. Returns the headers of the
   * response.
   *
   * @throws `HUB_REFUSED` if the URL is not allowed, otherwise like {@link call}.
   */
  async upload({ method, url, headers = {}, body, sendsToken = false, signal }: UploadRequest): Promise<Headers> {
    signal?.throwIfAborted();
    const { hubUrl } = this.#settings;
    const [target, hub] = [URL.parse(url), new URL(hubUrl)];
    if (target === null || !isAllowed(target, hub)) {
      throw new HubError(
        "Could not upload a file: the Hub returned a URL that is not allowed. Check the URL of the Hub (HF_ENDPOINT).",
        { code: "HUB_REFUSED" },
      );
    }
    const token = sendsToken && target.origin === hub.origin ? await this.#target.readToken() : undefined;
    // Anyone with the signature in the query can upload.
    const signed = [...target.searchParams.values(), ...Object.values(headers)].filter(({ length }) => length >= 8);
    const prepared = {
      ...{ operationId: "uploadFile", action: "upload a file", url, idempotent: true, unknownParts: [] },
      init: { method, headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }, body },
      redact: createRedact([...signed, token ?? ""]),
      addedTimeoutMs: typeof body === "string" ? 0 : body.size / minUploadSpeed,
    };
    return this.#repeat(prepared, signal, async (response) => {
      response.body?.cancel().catch(() => {});
      return response.headers;
    });
  }

  /** Sends a request without an operation. Returns the response without reading the body. @throws like {@link call}. */
  async fetch(path: string, init: HubFetchInit = {}): Promise<Response> {
    init.signal?.throwIfAborted();
    const request = await prepareFetch(path, init, this.#target);
    const prepared = { ...request, idempotent: init.idempotent ?? !["POST", "PATCH"].includes(request.init.method) };
    return this.#repeat(prepared, init.signal, async (started) => started);
  }

  /**
   * Waits before a failed request is repeated. `attempt` is the number of the failed attempt. Returns `false` without waiting if the
   * request must not be repeated.
   *
   * @throws the signal's abort reason.
   */
  async waitToRepeat(
    { retryable, retryAfterSeconds }: HubError,
    { attempt, signal }: { attempt: number; signal: AbortSignal | undefined },
  ): Promise<boolean> {
    if (!retryable || attempt >= this.#settings.attempts || (retryAfterSeconds ?? 0) > maxRetryAfterSeconds)
      return false;
    await this.waitBeforeRetry(attempt, signal, retryAfterSeconds);
    return true;
  }

  /** Logs warnings about unknown parts of an argument. The warnings contain no secrets from the argument. */
  warn(parts: readonly UnknownPart[], operation: Operation, argument: unknown): void {
    const redact = createRedact(secretsIn(argument));
    this.#warn(parts, { operationId: operation.operationId, action: actionOf(operation), redact });
  }

  async #prepare(
    operation: Operation,
    {
      input,
      options,
      query,
    }: { input: OperationInput; options: OperationOptions; query?: URLSearchParams | undefined },
  ): Promise<PreparedRequest> {
    options.signal?.throwIfAborted();
    const request = await prepareRequest(operation, { ...options, input, query }, this.#target);
    this.#warn(request.unknownParts, request);
    return { ...request, idempotent: options.idempotent ?? request.init.method !== "POST" };
  }

  async #repeat<Answer>(
    prepared: PreparedRequest,
    signal: AbortSignal | undefined,
    read: Read<Answer>,
  ): Promise<Answer> {
    /** The failure of an earlier attempt that the Hub may have processed. */
    let earlier: HubError | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(prepared, { callerSignal: signal, read });
      if ("answer" in outcome) return outcome.answer;
      signal?.throwIfAborted();
      const { failure } = outcome;
      // An earlier attempt has probably deleted the resource, but the client did not receive the response.
      if (failure.status === 404 && earlier && prepared.init.method === "DELETE") {
        return read(new Response(null), AbortSignal.any([]));
      }
      // A caller must not conclude from a refusal that nothing was changed.
      failure.cause ??= earlier;
      if (outcome.maybeProcessed && !prepared.idempotent) throw failure;
      if (!(await this.waitToRepeat(failure, { attempt, signal }))) throw failure;
      if (outcome.maybeProcessed) earlier ??= failure;
    }
  }

  /**
   * Makes one attempt. If the caller's signal is aborted, returns a failure, so the caller must check the signal. @throws
   * `HUB_RESPONSE_INVALID`.
   */
  async #attempt<Answer>(
    prepared: PreparedRequest,
    { callerSignal, read }: { callerSignal: AbortSignal | undefined; read: Read<Answer> },
  ): Promise<Attempt<Answer>> {
    const { fetch, hubUrl, now, timeoutMs } = this.#settings;
    const { action, url, init, redact, followsRedirects = false, addedTimeoutMs = 0 } = prepared;
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), timeoutMs + addedTimeoutMs);
    const signal = callerSignal ? AbortSignal.any([callerSignal, timeout.signal]) : timeout.signal;
    const send = (target: string, request: RequestInit) =>
      untilAborted(fetch(target, { redirect: "manual", ...request, signal }), signal);
    try {
      const response = await followRedirects(send, { url, init, hubUrl, leavesHub: followsRedirects });
      if (response.ok) return { answer: await read(response, signal) };
      const warning = response.status >= 500 ? retryWarning(prepared) : "";
      const context = { action, hubUrl, redact, signal, now: now(), retryWarning: warning };
      const failure = await readErrorResponse(response, context);
      return { failure, maybeProcessed: response.status !== 429 };
    } catch (error) {
      if (HubError.isInstance(error)) throw error;
      if (timeout.signal.aborted) return { failure: this.#timedOut(prepared), maybeProcessed: true };
      const maybeProcessed = !isConnectFailure(error);
      return { failure: this.#unreachable(prepared, error, maybeProcessed), maybeProcessed };
    } finally {
      clearTimeout(timer);
    }
  }

  #check<Answer>(
    prepared: PreparedRequest,
    { schema, answer }: { schema: z.ZodMiniType<Answer>; answer: unknown },
  ): Answer {
    const result = schema.safeParse(answer, { error: describeIssue });
    if (result.success) return result.data;
    const problem = result.error.issues[0];
    const field = prepared.redact(problem?.path.join(".") ?? "");
    throw this.#responseInvalid(prepared, `an unexpected response (${field || "response"}: ${problem?.message})`);
  }

  async #readJson(
    response: Response,
    { prepared, operation, signal }: { prepared: PreparedRequest; operation: Operation; signal: AbortSignal },
  ): Promise<unknown> {
    const body = await readText(response, { limit: maxResponseBytes, signal });
    if (body === undefined) throw this.#responseInvalid(prepared, `a response of more than ${maxResponseBytes} bytes`);
    if (body === "") return {}; // Some deletions return no body.
    const json = readJson(body);
    if (json !== undefined) return json;
    const isPage = isWebPage(body);
    // HTML pages are rejected, because they come from a proxy or another website.
    if (operation.response === undocumentedBody && !isPage) return {};
    throw this.#responseInvalid(prepared, `${isPage ? "a web page (HTML)" : "another format"} instead of JSON`);
  }

  #responseInvalid(prepared: PreparedRequest, received: string): HubError {
    const { hubUrl } = this.#settings;
    return new HubError(
      `Could not ${prepared.action}: the Hub returned ${received}. Update the package if the API has changed since ${packageVersion}. Otherwise, check the URL of the Hub (HF_ENDPOINT, currently ${hubUrl}).${retryWarning(prepared)}`,
      { code: "HUB_RESPONSE_INVALID" },
    );
  }

  #timedOut(prepared: PreparedRequest): HubError {
    const { timeoutMs, hubUrl } = this.#settings;
    return new HubError(
      `Could not ${prepared.action}: the Hub did not respond within ${timeoutMs} ms. Check the connection to ${hubUrl}, increase "timeout", or try again later.${retryWarning(prepared)}`,
      { code: "HUB_TIMED_OUT", retryable: true },
    );
  }

  #unreachable(prepared: PreparedRequest, error: unknown, maybeProcessed: boolean): HubError {
    const { hubUrl } = this.#settings;
    const warning = maybeProcessed ? retryWarning(prepared) : "";
    const cause = sanitizeError(error, prepared.redact);
    return new HubError(
      `Could not ${prepared.action}: the Hub is not reachable (${cause.message}). Check the connection and the URL of the Hub (HF_ENDPOINT, currently ${hubUrl}).${warning}`,
      { code: "HUB_UNREACHABLE", retryable: true, cause },
    );
  }
}

/** Returns a warning for requests that are not safe to repeat. */
function retryWarning({ idempotent }: PreparedRequest): string {
  return idempotent ? "" : " The Hub may have processed the request, so check before you try again.";
}
