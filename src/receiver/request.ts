import type { Context } from "hono";
import { readField } from "../core/describe.ts";
import { readRawEnvironment } from "../core/environment.ts";
import { WebhookError } from "../core/errors.ts";
import { equalInConstantTime, GuessLimiter } from "../core/guesses.ts";
import { redacted } from "../core/log.ts";
import { optionError } from "../core/options.ts";
import { webhooksPath } from "../core/urls.ts";
import { isCrossSite } from "../http/answer.ts";
import { readHonoBody } from "../http/body.ts";
import { routePrefix } from "./app.ts";
import type { Endpoint } from "./endpoint.ts";
import type { WebhooksServerOptions } from "./options.ts";

/** The user agent of test deliveries, which the console does not list after their secret was accepted. */
export const probeAgent = "hub-webhooks test delivery";

/** An HTTP request with a delivery, from Hono or directly from Node's HTTP server. `deliveryRequest()` in `testing.ts` is unrelated. */
export interface DeliveryRequest {
  readonly method: string;
  readonly endpointName: string;
  /** The absolute URL of the request. */
  readonly url: string;
  readonly headers: Headers;
  /** Aborts when the client disconnects before the response is sent. */
  readonly signal: AbortSignal;
  /** The value that the runtime passes with the request. On edge workers, this value is the bindings. */
  readonly bindings: unknown;
  /** Returns the value of a header, or `null`. Pass the name in lowercase. */
  header(name: string): string | null;
  /** Returns a function that lists the headers later, without keeping the request in memory. */
  captureHeaders(): () => HeaderEntries;
  /** Reads the body as text, at most `limit` bytes. @throws like {@link readHonoBody}. */
  readBody(limit: number): Promise<string>;
}

/** Returns the delivery of a request that Hono has routed, in any runtime. */
export function toDeliveryRequest(context: Context): DeliveryRequest {
  const { raw, path } = context.req;
  return {
    endpointName: path.slice(routePrefix(context).length + webhooksPath.length),
    bindings: context.env,
    method: raw.method,
    url: raw.url,
    // Getters, because Node's adapter creates these two on first use.
    get headers() {
      return raw.headers;
    },
    get signal() {
      return raw.signal;
    },
    header: (name) => raw.headers.get(name),
    captureHeaders: () => {
      const { headers } = raw;
      return () => headers.entries();
    },
    readBody: (limit) => readHonoBody(context, limit),
  };
}

/**
 * Checks a request before its body is read, so that unauthenticated clients cannot cause large reads.
 *
 * @throws `METHOD_NOT_ALLOWED` (405), `MEDIA_TYPE_UNSUPPORTED` (415), `CROSS_SITE_REFUSED` (403), and the errors of `SecretCheck.check`.
 */
export function checkRequest(
  request: DeliveryRequest,
  { requiresJson }: Pick<Endpoint, "requiresJson">,
  secretCheck: SecretCheck,
): void {
  if (request.method !== "POST") {
    throw new WebhookError(`Method "${request.method}" is not allowed. Send deliveries with POST.`, {
      code: "METHOD_NOT_ALLOWED",
      status: 405,
    });
  }
  secretCheck.check(request);
  // Pages of other sites can send `text/plain` without a CORS preflight request, but not JSON.
  if (requiresJson && !/^application\/(?:[\w.+-]+\+)?json *(?:;|$)/i.test(request.header("content-type") ?? "")) {
    throw new WebhookError('The Content-Type of the request is not JSON. Set it to "application/json".', {
      code: "MEDIA_TYPE_UNSUPPORTED",
      status: 415,
    });
  }
  // Protects endpoints that accept any body and do not require a secret.
  if (!requiresJson && !secretCheck.isSet(request.bindings) && isCrossSite(request)) {
    throw new WebhookError(
      "A page of another site sent this request. Set `WEBHOOK_SECRET` on the server and send it in the `X-Webhook-Secret` header.",
      { code: "CROSS_SITE_REFUSED", status: 403 },
    );
  }
}

type SecretOptions = Pick<WebhooksServerOptions, "secret" | "secretInQuery">;

/** Checks the secret of requests. As documented, the Hub sends the secret itself in `X-Webhook-Secret`, without a signature. */
export class SecretCheck {
  readonly #options: SecretOptions;
  /** The secrets from the `secret` option, or `undefined` if the secrets are read from the environment. */
  readonly #given: readonly string[] | undefined;
  readonly #guesses: GuessLimiter;
  /** The valid secrets. Call `#refresh` first. */
  #secrets: readonly string[] = [];
  /** The reason why every delivery is refused. Call `#refresh` first. */
  #problem: WebhookError | undefined;
  /** Whether the secrets were read, or were set by `use`. */
  #isRead = false;
  #boundSecret: string | undefined;
  #previousBoundSecret: string | undefined;

  /** @throws `OPTION_INVALID` if a secret is empty or not a string, so that a mistake does not disable the check. */
  constructor(options: SecretOptions, now: () => number) {
    // A copy: the caller can change the object later, for another server.
    this.#options = { ...options };
    this.#given = readSecretOption(options.secret);
    this.#guesses = new GuessLimiter(now);
  }

  /** Whether `secret: false` opens the server to everyone. */
  get isSecretDisabled(): boolean {
    return this.#options.secret === false && !this.isSet();
  }

  /** Whether deliveries require a secret, or the setting is invalid. An edge worker passes its `bindings` with each request. */
  isSet(bindings?: unknown): boolean {
    this.#refresh(bindings);
    return this.#secrets.length > 0 || this.#problem !== undefined;
  }

  /** The first valid secret. @throws `OPTION_INVALID` like {@link assertUsable}. */
  get first(): string | undefined {
    this.assertUsable();
    return this.#secrets[0];
  }

  /**
   * Returns the reason why every delivery is refused: `OPTION_INVALID` if `WEBHOOK_SECRET` is empty, or if it is not set and
   * the `secret` option was passed as `undefined`.
   */
  problem(bindings?: unknown): WebhookError | undefined {
    this.#refresh(bindings);
    return this.#problem;
  }

  /** @throws the {@link problem}, if there is one. */
  assertUsable(): void {
    const problem = this.problem();
    if (problem) throw problem;
  }

  /** Adds `secret` to the valid secrets (`add`), or makes it the only valid secret (`replace`). */
  use(secret: string, mode: "add" | "replace"): void {
    this.#refresh(undefined);
    this.#secrets = mode === "replace" ? [secret] : [secret, ...this.#secrets];
    this.#problem = undefined;
  }

  /** Removes the secret that was passed to {@link use}, so that only the configured secrets are valid. */
  forget(): void {
    this.#isRead = false;
  }

  /** Returns a warning for each secret that no header can contain: HTTP removes whitespace at both ends, and allows only ASCII. */
  warnings(bindings?: unknown): string[] {
    this.#refresh(bindings);
    return this.#secrets.flatMap((secret, index) => {
      const which = index === 0 ? "The secret" : `Secret number ${index + 1}`;
      if (secret.trim() !== secret) {
        return `${which} starts or ends with whitespace, which HTTP removes, so no delivery can match it. Remove the whitespace on the server and on the Hub.`;
      }
      if (!/^[ -~]*$/.test(secret)) {
        return `${which} contains a character that is not valid in an HTTP header. Use printable ASCII characters, on the server and on the Hub.`;
      }
      return [];
    });
  }

  /**
   * Accepts requests with a valid secret, and every request if no secret is set.
   *
   * @throws `SECRET_MISSING` (401); `SECRET_INVALID` (403); `TOO_MANY_FAILURES` (429); `OPTION_INVALID` (503) for a {@link problem}.
   */
  check(request: Pick<DeliveryRequest, "header" | "url" | "bindings">): void {
    this.#refresh(request.bindings);
    if (this.#problem) throw notConfigured(this.#problem);
    if (this.#secrets.length === 0) return;
    const presented =
      request.header("x-webhook-secret") ??
      (this.#options.secretInQuery ? new URL(request.url).searchParams.get("secret") : null);
    if (presented === null) {
      throw new WebhookError("x-webhook-secret header not set.", { code: "SECRET_MISSING", status: 401 });
    }
    if (this.accepts(presented)) return;
    const retryAfterSeconds = this.#guesses.countWrong();
    if (retryAfterSeconds === undefined) {
      throw new WebhookError("Invalid webhook secret.", { code: "SECRET_INVALID", status: 403 });
    }
    throw new WebhookError("Too many requests with an invalid webhook secret. Wait, then send the correct secret.", {
      code: "TOO_MANY_FAILURES",
      status: 429,
      retryAfterSeconds,
    });
  }

  /** Whether a secret is valid. Without any, every one is. Call {@link isSet} first. */
  accepts(presented: string | null): boolean {
    // Compares with every secret, so that the time does not reveal which secret matched.
    let valid = this.#secrets.length === 0 && !this.#problem;
    for (const secret of this.#secrets) valid = equalInConstantTime(presented ?? "", secret) || valid;
    return valid;
  }

  /** Reads the secrets from the option, else from bindings or the environment: at the first call, and again when the bindings change. */
  #refresh(bindings: unknown): void {
    const current = binding(bindings, "WEBHOOK_SECRET");
    const previous = binding(bindings, "WEBHOOK_SECRET_PREVIOUS");
    if (this.#isRead && current === this.#boundSecret && previous === this.#previousBoundSecret) return;
    this.#isRead = true;
    this.#boundSecret = current;
    this.#previousBoundSecret = previous;
    this.#problem = undefined;
    this.#secrets = this.#given ?? [];
    if (this.#given) return;
    const secret = current ?? readRawEnvironment("WEBHOOK_SECRET");
    // Valid as well during a rotation.
    const previousSecret = previous ?? readRawEnvironment("WEBHOOK_SECRET_PREVIOUS");
    this.#secrets = [secret, previousSecret].flatMap((text) => text || []);
    // An empty or misspelled variable is a mistake in the deployment, which must not open the server.
    if (secret === "") this.#problem = secretUnusable("WEBHOOK_SECRET is empty");
    else if ("secret" in this.#options && this.#secrets.length === 0)
      this.#problem = secretUnusable('Option "secret" is undefined, and WEBHOOK_SECRET is not set');
  }
}

/** @throws `OPTION_INVALID` */
function readSecretOption(option: SecretOptions["secret"]): readonly string[] | undefined {
  if (option === undefined) return undefined;
  if (option === false) return [];
  const secrets: readonly unknown[] = Array.isArray(option) ? option : [option];
  const wrong = secrets.findIndex((secret) => typeof secret !== "string" || secret === "");
  if (wrong === -1 && secrets.length > 0) return secrets.filter((secret) => typeof secret === "string");
  // The message omits the value, which may be part of a secret.
  const what = !Array.isArray(option)
    ? `is ${kindOf(option)}`
    : secrets.length === 0
      ? "is an empty list"
      : `has ${kindOf(secrets[wrong])} at position ${wrong}`;
  throw optionError(
    `Option "secret" ${what}. Set it to a non-empty string or a list of non-empty strings. Omit the option to read WEBHOOK_SECRET, or set it to false to accept deliveries without a secret.`,
  );
}

function kindOf(value: unknown): string {
  if (value === "") return "an empty string";
  return value === null || value === undefined ? String(value) : `of type ${typeof value}`;
}

function secretUnusable(reason: string): WebhookError {
  return optionError(
    `${reason}. Set WEBHOOK_SECRET to the secret of your webhooks, or pass { secret: false } to accept deliveries without a secret.`,
  );
}

/** Creates the error for senders, which does not reveal the configuration. */
function notConfigured(cause: WebhookError): WebhookError {
  return new WebhookError("The webhook secret of the server is invalid. See the server's log.", {
    code: cause.code,
    status: 503,
    retryable: true,
    retryAfterSeconds: 60,
    cause,
  });
}

function binding(bindings: unknown, name: string): string | undefined {
  const value = readField(bindings, name);
  return typeof value === "string" ? value : undefined;
}

/** The headers of a request, as they arrived. */
export type HeaderEntries = Iterable<readonly [name: string, value: string]>;

const maxSize = 4_096;

/** The headers that every delivery has, and that never contain a secret. */
const plain: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "connection",
  "content-length",
  "content-type",
  "date",
  "host",
  "traceparent",
  "user-agent",
  "webhook-id",
]);

const sensitive = /secret|token|auth|cookie|key|signature|pass|credential|session|jwt|oidc|principal|assertion/;

interface HeaderKind {
  /** In lowercase. */
  name: string;
  isPlain: boolean;
  isSensitive: boolean;
}

/** The kinds of the headers by the names that clients sent. Finding them for each delivery took half of the time of recording it. */
const headerKinds = new Map<string, HeaderKind>();
/** Clients choose the names. */
const maxHeaderKinds = 200;

function headerKindOf(given: string): HeaderKind {
  const known = headerKinds.get(given);
  if (known) return known;
  const name = given.toLowerCase();
  const kind = { name, isPlain: plain.has(name), isSensitive: sensitive.test(name) };
  if (headerKinds.size < maxHeaderKinds) headerKinds.set(given, kind);
  return kind;
}

/**
 * Returns the headers of a request as the console shows them and the inbox stores them. Values that can be secrets are redacted by
 * name. `redact` removes known secrets from the others, such as a path with `?secret=` that a proxy forwards.
 */
export function recordHeaders(
  entries: HeaderEntries,
  redact: (text: string) => string,
): Readonly<Record<string, string>> {
  // Creating an object without a prototype and converting it to JSON takes twice as long.
  const recorded: Record<string, string> = {};
  let size = 0;
  for (const [given, value] of entries) {
    const { name, isPlain, isSensitive } = headerKindOf(given);
    const shown = isPlain ? value : isSensitive ? redacted : redact(value);
    size += name.length + shown.length;
    if (size > maxSize) break;
    const all = Object.hasOwn(recorded, name) ? `${recorded[name]}, ${shown}` : shown;
    // An assignment would set the prototype.
    if (name === "__proto__") Object.defineProperty(recorded, name, { value: all, enumerable: true, writable: true });
    else recorded[name] = all;
  }
  return recorded;
}
