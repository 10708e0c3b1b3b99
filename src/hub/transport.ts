import { HubError } from "../errors.ts";
import { isWebPage, readText, untilAborted } from "./answer-text.ts";
import { argumentInvalid, checkArgument } from "./arguments.ts";
import type { AnswerOf, AnswerSchema, ContractRoute, InputOf } from "./contract-route.ts";
import { createRedact, type Redact, secretsIn } from "./redaction.ts";
import { readRefusal } from "./refusal.ts";
import { retell } from "./retell.ts";
import { longestAskedSeconds, neverConnected, wait, waitBefore } from "./retry.ts";
import { tolerant } from "./tolerant.ts";

/** A full list of the Hub is far smaller, in bytes. */
const longestAnswer = 50_000_000;

/** What every call can be given. */
export interface CallOptions {
  /** Ends the call, a wait between two attempts too: it rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}

/** How {@link Transport.call} treats one operation. */
export interface OperationOptions extends CallOptions {
  /** Whether doing it twice is the same as doing it once. Default: all but POST. */
  idempotent?: boolean;
  /** The body is made of what the Hub itself has said, which is not for us to judge. Default `false`. */
  bodyIsChecked?: boolean;
}

/** What a {@link Transport} is made from. */
export interface TransportSettings {
  /** The Hub's base address, without a trailing slash. */
  endpoint: string;
  findToken: () => Promise<string>;
  fetch: typeof fetch;
  /** Milliseconds for one attempt. */
  timeoutMs: number;
  /** How often a failed attempt is repeated at most. */
  retries: number;
  wait?: typeof wait;
  /** From 0 up to 1. */
  random?: () => number;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** A request that is ready to be sent, any number of times. */
interface Prepared {
  route: ContractRoute;
  url: string;
  init: { method: string; headers: Record<string, string>; body?: string };
  idempotent: boolean;
  redact: Redact;
}

/** How one attempt ended. `mayHaveHappened` tells whether the Hub may have done what it was asked. */
type Attempt = { answer: unknown } | { failure: HubError; mayHaveHappened: boolean };

/** Calls operations of the contract over HTTP: checks what goes out, repeats what may be repeated, reads what comes. */
export class Transport {
  readonly #settings: Required<TransportSettings>;
  #token: Promise<string> | undefined;

  constructor(settings: TransportSettings) {
    this.#settings = { wait, random: Math.random, now: Date.now, ...settings };
  }

  /**
   * @throws `ARGUMENT_INVALID`, `TOKEN_MISSING` and `TOKEN_INVALID` before anything is sent, the `HUB_…` codes after;
   * the reason of the signal when it is aborted.
   */
  async call<Route extends ContractRoute>(
    route: Route,
    input: InputOf<Route>,
    options: OperationOptions = {},
  ): Promise<AnswerOf<Route>> {
    options.signal?.throwIfAborted();
    const prepared = await this.#prepare(route, input, options);
    const answerSchema = tolerant<AnswerSchema<Route>>(route.responses[200].content["application/json"].schema);
    const answer = await this.#repeat(prepared, options.signal);
    const result = answerSchema.safeParse(answer);
    if (result.success) return result.data;
    const problem = result.error.issues[0];
    const field = prepared.redact(problem?.path.join(".") ?? "");
    throw this.#answerInvalid(prepared, `in another shape than expected (${field || "answer"}: ${problem?.message})`);
  }

  async #prepare(route: ContractRoute, input: UncheckedInput, options: OperationOptions): Promise<Prepared> {
    const path = pathOf(route, input.params);
    const schema = route.request?.body?.content["application/json"].schema;
    const body =
      schema && !options.bodyIsChecked ? checkArgument(schema, { name: "request", value: input.body }) : input.body;
    const token = await this.#readToken();
    return {
      route,
      url: `${this.#settings.endpoint}${path}`,
      init: {
        method: route.method.toUpperCase(),
        headers: {
          accept: "application/json",
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      },
      idempotent: options.idempotent ?? route.method !== "post",
      redact: createRedact([token, ...secretsIn(body)]),
    };
  }

  /** Looked up once; after a failure again, since it may have been set in between. */
  #readToken(): Promise<string> {
    this.#token ??= this.#settings.findToken().catch((error: unknown) => {
      this.#token = undefined;
      throw error;
    });
    return this.#token;
  }

  async #repeat(prepared: Prepared, signal: AbortSignal | undefined): Promise<unknown> {
    const { retries, random, wait } = this.#settings;
    let mayHaveHappened = false;
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(prepared, signal);
      if ("answer" in outcome) return outcome.answer;
      signal?.throwIfAborted();
      const { failure } = outcome;
      // What an earlier attempt has deleted, whose answer was lost, is not there any more.
      if (failure.status === 404 && mayHaveHappened && prepared.route.method === "delete") return {};
      mayHaveHappened ||= outcome.mayHaveHappened;

      const asked = failure.retryAfterSeconds;
      const isWorthIt = failure.retryable && attempt <= retries && (asked ?? 0) <= longestAskedSeconds;
      if (!isWorthIt || (outcome.mayHaveHappened && !prepared.idempotent)) throw failure;
      await wait(waitBefore({ attempt, random: random(), asked }), signal);
    }
  }

  /** @throws `HUB_RESPONSE_INVALID`, and the reason of the caller's signal. */
  async #attempt(prepared: Prepared, callerSignal: AbortSignal | undefined): Promise<Attempt> {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), this.#settings.timeoutMs);
    const signal = callerSignal ? AbortSignal.any([callerSignal, timeout.signal]) : timeout.signal;
    try {
      return await this.#exchange(prepared, signal);
    } catch (error) {
      callerSignal?.throwIfAborted();
      if (HubError.isInstance(error)) throw error;
      if (timeout.signal.aborted) return { failure: this.#timedOut(prepared), mayHaveHappened: true };
      const mayHaveHappened = !neverConnected(error);
      return { failure: this.#unreachable(prepared, error, mayHaveHappened), mayHaveHappened };
    } finally {
      clearTimeout(timer);
    }
  }

  async #exchange(prepared: Prepared, signal: AbortSignal): Promise<Attempt> {
    const { fetch, endpoint, now } = this.#settings;
    const { route, url, init, redact } = prepared;
    // A redirect would take the token along, or the request without its body.
    const response = await untilAborted(fetch(url, { ...init, redirect: "manual", signal }), signal);
    if (!response.ok) {
      const caution = response.status >= 500 ? lookFirst(prepared) : "";
      const context = { operation: route.operationId, endpoint, redact, signal, now: now(), caution };
      const failure = await readRefusal(response, context);
      return { failure, mayHaveHappened: response.status !== 429 };
    }
    const body = await readText(response, { limit: longestAnswer, signal });
    if ("tooLong" in body) throw this.#answerInvalid(prepared, "at a length that no answer of the Hub has");
    return { answer: this.#parse(prepared, body.text) };
  }

  #parse(prepared: Prepared, text: string): unknown {
    if (text === "") return {}; // As after a deletion.
    try {
      return JSON.parse(text);
    } catch {
      // Without the parser's message: it quotes the answer.
      throw this.#answerInvalid(
        prepared,
        `with ${isWebPage(text) ? "a web page (HTML)" : "something else"} instead of JSON`,
      );
    }
  }

  #answerInvalid(prepared: Prepared, how: string): HubError {
    const { endpoint } = this.#settings;
    return new HubError(
      `The Hub answers ${prepared.route.operationId} ${how}: check the address of the Hub (HF_ENDPOINT, now ${endpoint}).${lookFirst(prepared)}`,
      { code: "HUB_RESPONSE_INVALID" },
    );
  }

  #timedOut(prepared: Prepared): HubError {
    const { timeoutMs, endpoint } = this.#settings;
    return new HubError(
      `The Hub does not answer ${prepared.route.operationId} within ${timeoutMs} ms: check the connection to ${endpoint}, raise "timeoutMs" or try again later.${lookFirst(prepared)}`,
      { code: "HUB_TIMED_OUT", retryable: true },
    );
  }

  #unreachable(prepared: Prepared, error: unknown, mayHaveHappened: boolean): HubError {
    const { endpoint } = this.#settings;
    const caution = mayHaveHappened ? lookFirst(prepared) : "";
    const cause = retell(error, prepared.redact);
    return new HubError(
      `The Hub cannot be reached for ${prepared.route.operationId} (${cause.message}): check the connection and the address (HF_ENDPOINT, now ${endpoint}).${caution}`,
      { code: "HUB_UNREACHABLE", retryable: true, cause },
    );
  }
}

/** An input whose types nobody has to believe. */
interface UncheckedInput {
  params?: unknown;
  body?: unknown;
}

/** After what must not be done twice went wrong half-way, nobody knows. */
function lookFirst({ idempotent }: Prepared): string {
  return idempotent ? "" : " It may have been done all the same: look before you try again.";
}

/** Puts the parts into the path: each stays one part of it, whatever its characters. */
function pathOf({ path, request }: ContractRoute, value: unknown): string {
  if (!request?.params) return path;
  const params = checkArgument(request.params, { name: "params", value });
  const unusable = Object.entries(params).filter(
    // URL parsers take the dots for a step up the path.
    ([, part]) => part === "" || part === "." || part === ".." || !part.isWellFormed(),
  );
  if (unusable.length > 0) {
    throw argumentInvalid(unusable.map(([field]) => ({ field, problem: "expected an id, as the Hub gives it" })));
  }
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}
