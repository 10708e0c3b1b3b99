import type * as z from "zod";
import { HubError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { readErrorResponse } from "./error-response.ts";
import { type HubFetchInit, isIdempotent, prepareFetch } from "./fetch.ts";
import { JsonArrayError } from "./json-array.ts";
import { lenient } from "./lenient.ts";
import type { CallOptions, InputOf, Operation, ResponseOf } from "./operation.ts";
import { packageVersion } from "./package-version.ts";
import { nextQuery } from "./pages.ts";
import { createRedact, sanitizeError, secretsIn } from "./redaction.ts";
import { actionOf, type HubRequest, type OperationInput, prepareRequest } from "./request.ts";
import { isWebPage, ResponseStalledError, readArrayElements, readText, untilAborted } from "./response-body.ts";
import { isConnectFailure, maxRetryAfterSeconds, retryDelayMs, wait } from "./retry.ts";
import { undocumentedBody } from "./schemas.ts";
import type { UnknownPart } from "./unknown-parts.ts";
import { UnknownPartWarnings } from "./unknown-parts.ts";

/** Lists of the Hub are much smaller. */
const maxResponseBytes = 50_000_000;

/** Options of {@link Transport.call}. */
export interface OperationOptions extends CallOptions {
  /** Whether the call can be repeated safely. Default: all methods except POST. */
  idempotent?: boolean;
  /** Skips the validation of the body, for values that the Hub itself returned. Default `false`. */
  bodyIsChecked?: boolean;
}

/** Settings of {@link Transport}. */
export interface TransportSettings {
  /** The base URL of the Hub, without a trailing slash. */
  endpoint: string;
  findToken: () => Promise<string>;
  fetch: typeof fetch;
  /** Milliseconds for one attempt; of an answer that is streamed, for each part of it. */
  timeoutMs: number;
  /** The maximum number of attempts, including the first. */
  attempts: number;
  /** Where warnings go. Default: `process.emitWarning`, where there is none `console.warn`. */
  logger?: Logger | undefined;
  wait?: typeof wait;
  /** From 0 up to 1. */
  random?: () => number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** A request, and whether it may be sent again after it may have arrived. */
interface PreparedRequest extends HubRequest {
  idempotent: boolean;
}

/** An answer of an operation, and what is known of it. */
interface ResponseContext {
  prepared: PreparedRequest;
  route: Operation;
  signal: AbortSignal;
}

/** How one attempt ended. `maybeProcessed` tells whether the Hub may have done what it was asked. */
type Attempt<Answer> = { answer: Answer } | { failure: HubError; maybeProcessed: boolean };

/** Reads an answer that is a success; the signal is that of the attempt. */
type Read<Answer> = (response: Response, signal: AbortSignal) => Promise<Answer>;

/** Calls operations over HTTP: validates requests, retries failures and parses responses. */
export class Transport {
  readonly #settings: Required<Omit<TransportSettings, "logger">>;
  readonly #warnings: UnknownPartWarnings;
  #token: Promise<string> | undefined;

  constructor({ logger, ...settings }: TransportSettings) {
    this.#settings = { wait, random: Math.random, now: Date.now, ...settings };
    this.#warnings = new UnknownPartWarnings(logger);
  }

  /**
   * @throws `ARGUMENT_INVALID`, `HUB_TOKEN_MISSING` and `HUB_TOKEN_INVALID` before anything is sent, the `HUB_…` codes after;
   * the reason of the signal when it is aborted.
   */
  async call<Route extends Operation>(
    route: Route,
    input: InputOf<Route>,
    options: OperationOptions = {},
  ): Promise<ResponseOf<Route>> {
    options.signal?.throwIfAborted();
    const prepared = await this.#prepare(route, { input, options });
    const schema = lenient<Route["response"]>(route.response);
    const answer = await this.#repeat(prepared, options.signal, (response, signal) =>
      this.#readJson(response, { prepared, route, signal }),
    );
    return this.#check(prepared, { schema, answer });
  }

  /**
   * The pages of a list, one after another: the next is asked for where the `Link` of the last one leads.
   *
   * @throws as {@link call} does.
   */
  async *pages<Route extends Operation>(
    route: Route,
    input: InputOf<Route>,
    options: CallOptions = {},
  ): AsyncGenerator<ResponseOf<Route>, void, undefined> {
    const schema = lenient<Route["response"]>(route.response);
    const asked = new Set<string>();
    let query: URLSearchParams | undefined;
    do {
      options.signal?.throwIfAborted();
      const prepared = await this.#prepare(route, { input, options, query });
      // It would go round for ever.
      if (asked.has(prepared.url)) throw this.#answerInvalid(prepared, "in pages that lead back to one another");
      asked.add(prepared.url);
      const { answer, next } = await this.#repeat(prepared, options.signal, async (response, signal) => ({
        answer: await this.#readJson(response, { prepared, route, signal }),
        next: nextQuery(response.headers.get("link")),
      }));
      yield this.#check(prepared, { schema, answer });
      options.signal?.throwIfAborted();
      query = next;
    } while (query !== undefined);
  }

  /**
   * The elements of a list that comes in one long answer, each as soon as it has arrived: the whole is never in memory.
   * What goes wrong after the answer has begun is not repeated.
   *
   * @throws as {@link call} does.
   */
  async *stream<Item extends z.ZodType>(
    route: Operation,
    { item, ...input }: OperationInput & { item: Item },
    options: CallOptions = {},
  ): AsyncGenerator<z.output<Item>, void, undefined> {
    options.signal?.throwIfAborted();
    const prepared = await this.#prepare(route, { input, options });
    const response = await this.#repeat(prepared, options.signal, async (begun) => begun);
    const schema = lenient<Item>(item);
    const { timeoutMs } = this.#settings;
    const elements = readArrayElements(response, { timeoutMs, signal: options.signal });
    try {
      for await (const answer of elements) {
        yield this.#check(prepared, { schema, answer });
        // Many may have arrived at once.
        options.signal?.throwIfAborted();
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (HubError.isInstance(error)) throw error;
      if (error instanceof JsonArrayError) {
        throw this.#answerInvalid(prepared, `with what is no list (${error.message})`);
      }
      if (error instanceof ResponseStalledError) throw this.#timedOut(prepared);
      throw this.#unreachable(prepared, error, true);
    }
  }

  /**
   * A call that no operation describes: the answer as it comes, its body not read yet.
   *
   * @throws as {@link call} does.
   */
  async fetch(path: string, init: HubFetchInit = {}): Promise<Response> {
    init.signal?.throwIfAborted();
    const request = await prepareFetch(path, init, {
      endpoint: this.#settings.endpoint,
      readToken: () => this.#readToken(),
    });
    const prepared = { ...request, idempotent: isIdempotent(request.init.method) };
    return this.#repeat(prepared, init.signal, async (begun) => begun);
  }

  /** Warns of parts of what the caller gave that this release does not list; its secrets are redacted. */
  warn(parts: readonly UnknownPart[], route: Operation, given: unknown): void {
    const redact = createRedact(secretsIn(given));
    this.#warnings.warn(parts, { operation: route.operationId, action: actionOf(route), redact });
  }

  async #prepare(
    route: Operation,
    {
      input,
      options,
      query,
    }: { input: OperationInput; options: OperationOptions; query?: URLSearchParams | undefined },
  ): Promise<PreparedRequest> {
    const request = await prepareRequest(route, {
      endpoint: this.#settings.endpoint,
      input,
      bodyIsChecked: options.bodyIsChecked ?? false,
      query,
      readToken: () => this.#readToken(),
    });
    this.#warnings.warn(request.newer, request);
    return { ...request, idempotent: options.idempotent ?? route.method !== "post" };
  }

  /** Looked up once; after a failure again, since it may have been set in between. */
  #readToken(): Promise<string> {
    this.#token ??= this.#settings.findToken().catch((error: unknown) => {
      this.#token = undefined;
      throw error;
    });
    return this.#token;
  }

  async #repeat<Answer>(
    prepared: PreparedRequest,
    signal: AbortSignal | undefined,
    read: Read<Answer>,
  ): Promise<Answer> {
    const { attempts, random, wait } = this.#settings;
    let maybeProcessed = false;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(prepared, { callerSignal: signal, read });
      if ("answer" in outcome) return outcome.answer;
      signal?.throwIfAborted();
      const { failure } = outcome;
      // What an earlier attempt has deleted, whose answer was lost, is not there any more.
      if (failure.status === 404 && maybeProcessed && prepared.init.method === "DELETE") {
        return read(new Response(null), new AbortController().signal);
      }
      maybeProcessed ||= outcome.maybeProcessed;

      const asked = failure.retryAfterSeconds;
      const isRetriable = failure.retryable && attempt < attempts && (asked ?? 0) <= maxRetryAfterSeconds;
      if (!isRetriable || (outcome.maybeProcessed && !prepared.idempotent)) throw failure;
      await wait(retryDelayMs({ attempt, random: random(), asked }), signal);
    }
  }

  /** @throws `HUB_RESPONSE_INVALID`. The caller checks its own signal afterwards. */
  async #attempt<Answer>(
    prepared: PreparedRequest,
    { callerSignal, read }: { callerSignal: AbortSignal | undefined; read: Read<Answer> },
  ): Promise<Attempt<Answer>> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#settings.timeoutMs);
    const signal = callerSignal ? AbortSignal.any([callerSignal, timeout.signal]) : timeout.signal;
    try {
      return await this.#exchange(prepared, { signal, read });
    } catch (error) {
      if (HubError.isInstance(error)) throw error;
      if (timeout.signal.aborted) return { failure: this.#timedOut(prepared), maybeProcessed: true };
      const maybeProcessed = !isConnectFailure(error);
      return { failure: this.#unreachable(prepared, error, maybeProcessed), maybeProcessed };
    } finally {
      clearTimeout(timer);
    }
  }

  async #exchange<Answer>(
    prepared: PreparedRequest,
    { signal, read }: { signal: AbortSignal; read: Read<Answer> },
  ): Promise<Attempt<Answer>> {
    const { fetch, endpoint, now } = this.#settings;
    const { action, url, init, redact } = prepared;
    // A redirect would take the token along, or the request without its body.
    const response = await untilAborted(fetch(url, { ...init, redirect: "manual", signal }), signal);
    if (!response.ok) {
      const warning = response.status >= 500 ? retryWarning(prepared) : "";
      const context = { action, endpoint, redact, signal, now: now(), retryWarning: warning };
      const failure = await readErrorResponse(response, context);
      return { failure, maybeProcessed: response.status !== 429 };
    }
    return { answer: await read(response, signal) };
  }

  async #readJson(response: Response, { prepared, route, signal }: ResponseContext): Promise<unknown> {
    const body = await readText(response, { limit: maxResponseBytes, signal });
    if ("tooLong" in body) throw this.#answerInvalid(prepared, "at a length that no answer of the Hub has");
    return this.#parse(body.text, { prepared, route });
  }

  #check<Answer>(
    prepared: PreparedRequest,
    { schema, answer }: { schema: z.ZodType<Answer>; answer: unknown },
  ): Answer {
    const result = schema.safeParse(answer);
    if (result.success) return result.data;
    const problem = result.error.issues[0];
    const field = prepared.redact(problem?.path.join(".") ?? "");
    throw this.#answerInvalid(prepared, `in another shape than expected (${field || "answer"}: ${problem?.message})`);
  }

  #parse(text: string, { prepared, route }: Omit<ResponseContext, "signal">): unknown {
    if (text === "") return {}; // As after a deletion.
    try {
      return JSON.parse(text);
    } catch {
      // Nobody knows what is to stand there, only that it is no page of another site.
      if (route.response === undocumentedBody && !isWebPage(text)) return {};
      // Without the parser's message: it quotes the answer.
      throw this.#answerInvalid(
        prepared,
        `with ${isWebPage(text) ? "a web page (HTML)" : "something else"} instead of JSON`,
      );
    }
  }

  #answerInvalid(prepared: PreparedRequest, how: string): HubError {
    const { endpoint } = this.#settings;
    return new HubError(
      `Could not ${prepared.action}: the Hub answered ${how}. Its API may have changed since ${packageVersion}: update the package. Otherwise check the address of the Hub (HF_ENDPOINT, now ${endpoint}).${retryWarning(prepared)}`,
      { code: "HUB_RESPONSE_INVALID" },
    );
  }

  #timedOut(prepared: PreparedRequest): HubError {
    const { timeoutMs, endpoint } = this.#settings;
    return new HubError(
      `Could not ${prepared.action}: the Hub did not answer within ${timeoutMs} ms. Check the connection to ${endpoint}, raise "timeout" or try again later.${retryWarning(prepared)}`,
      { code: "HUB_TIMED_OUT", retryable: true },
    );
  }

  #unreachable(prepared: PreparedRequest, error: unknown, maybeProcessed: boolean): HubError {
    const { endpoint } = this.#settings;
    const warning = maybeProcessed ? retryWarning(prepared) : "";
    const cause = sanitizeError(error, prepared.redact);
    return new HubError(
      `Could not ${prepared.action}: the Hub cannot be reached (${cause.message}). Check the connection and the address (HF_ENDPOINT, now ${endpoint}).${warning}`,
      { code: "HUB_UNREACHABLE", retryable: true, cause },
    );
  }
}

/** For calls that must not run twice: the Hub may have processed the request before it failed. */
function retryWarning({ idempotent }: PreparedRequest): string {
  return idempotent ? "" : " The Hub may have carried it out all the same: check before you try again.";
}
