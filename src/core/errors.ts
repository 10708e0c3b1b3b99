import { readField } from "./describe-error.ts";

/**
 * The stable names of everything that can go wrong. Programs branch on these, never on a message.
 *
 * The first group is answered to whoever posted a delivery, the second is thrown at the developer, the third tells
 * what the Hub said, or that it did not.
 */
export type WebhookErrorCode =
  | "SECRET_MISSING"
  | "SECRET_INVALID"
  | "TOO_MANY_FAILURES"
  | "ENDPOINT_UNKNOWN"
  | "METHOD_NOT_ALLOWED"
  | "MEDIA_TYPE_UNSUPPORTED"
  | "ENCODING_UNSUPPORTED"
  | "BODY_TOO_LARGE"
  | "BODY_INCOMPLETE"
  | "BODY_NOT_JSON"
  | "BODY_TOO_DEEP"
  | "BODY_CONSUMED"
  | "PAYLOAD_INVALID"
  | "HANDLER_FAILED"
  | "HANDLER_TIMED_OUT"
  | "RESULT_NOT_JSON"
  | "OWNER_ONLY"
  | "CROSS_SITE_REFUSED"
  | "CLOSING"
  | "INBOX_FULL"
  | "INBOX_UNAVAILABLE"
  | "NOT_FOUND"
  | "INTERNAL"
  | "ENDPOINT_NAME_MISSING"
  | "ENDPOINT_NAME_INVALID"
  | "ENDPOINT_EXISTS"
  | "DECORATOR_INVALID"
  | "OPTION_INVALID"
  | "MIDDLEWARE_TOO_LATE"
  | "ENDPOINT_REQUIRED"
  | "PAYLOAD_MISSING"
  | "PORT_IN_USE"
  | "LISTEN_FAILED"
  | "TUNNEL_FAILED"
  | "TUNNEL_NAME_TAKEN"
  | "STATE_UNUSABLE"
  | "SERVER_FILE_INVALID"
  | "NODE_REQUIRED"
  | "FOLDER_UNUSABLE"
  | "INBOX_UNUSABLE"
  | "INBOX_IN_USE"
  | "DELIVERY_UNKNOWN"
  | "LEASE_LOST"
  | "NON_RETRIABLE"
  | "RETRY_LATER"
  | "RETRY_TIME_INVALID"
  | "NOT_SETTLED"
  | "ARGUMENT_INVALID"
  | "TOKEN_MISSING"
  | "TOKEN_INVALID"
  | "VALUE_UNREADABLE"
  | "HUB_REQUEST_INVALID"
  | "HUB_UNAUTHORIZED"
  | "HUB_FORBIDDEN"
  | "HUB_NOT_FOUND"
  | "HUB_RATE_LIMITED"
  | "HUB_REFUSED"
  | "HUB_FAILED"
  | "HUB_UNREACHABLE"
  | "HUB_TIMED_OUT"
  | "HUB_RESPONSE_INVALID";

/** What a {@link WebhookError} is made of. */
export interface WebhookErrorOptions {
  code: WebhookErrorCode;
  /** The HTTP status that tells this error, where there is one. */
  status?: number;
  /** Whether the same thing may succeed when it is tried again. Default `false`. */
  retryable?: boolean;
  /** What caused it. Never sent to a stranger. */
  cause?: unknown;
  /** Seconds after which to try again, sent as `Retry-After`. */
  retryAfterSeconds?: number;
}

const brand = Symbol.for("hub-webhooks.WebhookError");
const hubBrand = Symbol.for("hub-webhooks.HubError");

/**
 * The one error of this package. `message` is written for the person who meets it and says what to do next;
 * `code` is written for programs and stays the same from release to release.
 *
 * @example
 * ```ts
 * try {
 *   await server.launch({ handleSignals: false });
 * } catch (error) {
 *   if (WebhookError.isInstance(error) && error.code === "PORT_IN_USE") await server.launch({ port: 7861 });
 * }
 * ```
 */
export class WebhookError extends Error {
  override readonly name: string = "WebhookError";
  /** What went wrong, for programs. */
  readonly code: WebhookErrorCode;
  /** The HTTP status that tells this error, where there is one. */
  readonly status: number | undefined;
  /** Whether the same thing may succeed when it is tried again. */
  readonly retryable: boolean;
  /** Seconds after which to try again, where that is known. */
  readonly retryAfterSeconds: number | undefined;
  readonly [brand] = true;

  constructor(message: string, options: WebhookErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /**
   * Recognizes a `WebhookError` of any copy of this package, where `instanceof` knows only its own. Never throws:
   * something whose fields cannot be read is no `WebhookError`.
   */
  static isInstance(value: unknown): value is WebhookError {
    return isBranded(value, brand);
  }
}

/** What a {@link HubError} is made of. */
export interface HubErrorOptions extends WebhookErrorOptions {
  /** `X-Request-Id` of the answer: what to quote to the Hub's support. */
  requestId?: string | undefined;
  /** The arguments or values that the error is about, as in `watched[0].type`. */
  fields?: readonly string[];
}

/**
 * A call of the Hub's REST API that failed: refused by the Hub, not answered, or not sent because an argument is
 * invalid. `status` is the Hub's, `code` is ours, and no message or cause holds a token or a secret.
 *
 * @example
 * ```ts
 * try {
 *   await hub.webhooks.get(id);
 * } catch (error) {
 *   if (HubError.isInstance(error) && error.code === "HUB_NOT_FOUND") await hub.webhooks.create(webhook);
 * }
 * ```
 */
export class HubError extends WebhookError {
  override readonly name = "HubError";
  /** `X-Request-Id` of the answer: what to quote to the Hub's support. */
  readonly requestId: string | undefined;
  /** The arguments or values that the error is about, as in `watched[0].type`; empty where it is about none. */
  readonly fields: readonly string[];
  readonly [hubBrand] = true;

  constructor(message: string, options: HubErrorOptions) {
    super(message, options);
    this.requestId = options.requestId;
    this.fields = options.fields ?? [];
  }

  /** Recognizes a `HubError` of any copy of this package. Never throws. */
  static override isInstance(value: unknown): value is HubError {
    return isBranded(value, hubBrand);
  }
}

/** Whether it bears the brand, and what every error of this package has can be read. */
function isBranded(value: unknown, ownBrand: symbol): boolean {
  return (
    readField(value, ownBrand) === true &&
    typeof readField(value, "message") === "string" &&
    typeof readField(value, "code") === "string"
  );
}
