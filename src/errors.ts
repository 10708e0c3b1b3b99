/**
 * The stable names of everything that can go wrong. Programs branch on these, never on a message.
 *
 * The first group is answered to whoever posted a delivery, the second is thrown at the developer.
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
  | "PAYLOAD_INVALID"
  | "HANDLER_FAILED"
  | "HANDLER_TIMED_OUT"
  | "RESULT_NOT_JSON"
  | "CLOSING"
  | "NOT_FOUND"
  | "INTERNAL"
  | "ENDPOINT_NAME_MISSING"
  | "ENDPOINT_NAME_INVALID"
  | "ENDPOINT_EXISTS"
  | "DECORATOR_INVALID"
  | "OPTION_INVALID"
  | "ENDPOINT_REQUIRED"
  | "PORT_IN_USE"
  | "LISTEN_FAILED"
  | "TUNNEL_FAILED";

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

/**
 * The one error of this package. `message` is written for the person who meets it and says what to do next;
 * `code` is written for programs and stays the same from release to release.
 *
 * @example
 * ```ts
 * try {
 *   await server.launch({ ownsProcess: false });
 * } catch (error) {
 *   if (WebhookError.isInstance(error) && error.code === "PORT_IN_USE") await server.launch({ port: 7861 });
 * }
 * ```
 */
export class WebhookError extends Error {
  override readonly name = "WebhookError";
  readonly code: WebhookErrorCode;
  readonly status: number | undefined;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly [brand] = true;

  constructor(message: string, options: WebhookErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** Recognises a `WebhookError` of any copy of this package, where `instanceof` knows only its own. */
  static isInstance(value: unknown): value is WebhookError {
    return typeof value === "object" && value !== null && brand in value;
  }
}
