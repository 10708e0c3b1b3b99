import { readField } from "./read-field.ts";

/**
 * Every error code of this package, with its cause and fix. Branch on codes, never on messages.
 *
 * The value of a code is where it occurs: in the `response` to a delivery or to a browser, in an error that is `thrown` at
 * you, or in a failed call of the `hub` API.
 */
export interface WebhookErrorCodes {
  /** 401: the delivery has no secret. Set the secret of the webhook on the Hub to that of the server. */
  SECRET_MISSING: "response";
  /** 403: the delivery has another secret. Set the secret of the webhook on the Hub to that of the server. */
  SECRET_INVALID: "response";
  /** 429: a client sent many wrong secrets or passwords. Wait for the time in `Retry-After`. */
  TOO_MANY_FAILURES: "response";
  /** The server has no endpoint with this name. Check the URL of the webhook, or the option `endpoint`. */
  ENDPOINT_UNKNOWN: "response" | "thrown";
  /** 405: the request has another method than those in `Allow`. Send deliveries with POST. */
  METHOD_NOT_ALLOWED: "response";
  /** 415: the request does not declare JSON. Set `Content-Type: application/json`. */
  MEDIA_TYPE_UNSUPPORTED: "response";
  /** 415: the body is compressed. Send it without `Content-Encoding`. */
  ENCODING_UNSUPPORTED: "response";
  /** 413: the body is larger than the option `bodyLimit`. Raise the limit, or send less. */
  BODY_TOO_LARGE: "response";
  /** The connection closed or timed out before the whole body arrived. Send the delivery again. */
  BODY_INCOMPLETE: "response";
  /** The body is not valid JSON. Send the payload as JSON in UTF-8. */
  BODY_NOT_JSON: "response" | "thrown";
  /** The body nests more than 100 levels deep. Send a flatter payload. */
  BODY_TOO_DEEP: "response" | "thrown";
  /** 500: a body parser read the body before the server did. Mount the server before the body parser. */
  BODY_CONSUMED: "response";
  /** 422: the body is JSON, but not a payload that the endpoint accepts. Fix the paths in the message. */
  PAYLOAD_INVALID: "response" | "thrown";
  /** 500: the handler threw an error. See `cause` or the log of the server. */
  HANDLER_FAILED: "response" | "thrown";
  /** 504: the handler took longer than its `timeout`. Make it faster, or run it in the background. */
  HANDLER_TIMED_OUT: "response" | "thrown";
  /** 500: the handler returned a value that has no JSON. Return plain data, or nothing. */
  RESULT_NOT_JSON: "response" | "thrown";
  /** 401: the request has no password. Sign in with `DASHBOARD_TOKEN`. */
  DASHBOARD_TOKEN_MISSING: "response";
  /** 401: the password is not the value of `DASHBOARD_TOKEN`. Check the value. */
  DASHBOARD_TOKEN_INVALID: "response";
  /** 403: the page is only for the owner of the server. Set `DASHBOARD_TOKEN`, and sign in with it. */
  OWNER_ONLY: "response";
  /** 403: a page of another site sent the request. Set a webhook secret, or open the page directly. */
  CROSS_SITE_REFUSED: "response";
  /** The server is shutting down. Send the delivery again: the next start accepts it. */
  CLOSING: "response" | "thrown";
  /** 503: too many deliveries of the endpoint are queued. Send it again later; raise `concurrency`. */
  INBOX_FULL: "response" | "thrown";
  /** 503: the inbox cannot store or read deliveries right now. Send it again; check the disk or the server of the inbox. */
  INBOX_UNAVAILABLE: "response" | "thrown";
  /** 404: no route has this path. Check the URL, and the option `basePath`. */
  NOT_FOUND: "response";
  /** An unexpected error. See `cause` or the log of the server. */
  INTERNAL: "response" | "thrown";
  /** An endpoint was registered without a name, and its handler has none. Name the endpoint or the function. */
  ENDPOINT_NAME_MISSING: "thrown";
  /** The name of an endpoint cannot be part of a URL. Use letters, digits, `-` and `_`. */
  ENDPOINT_NAME_INVALID: "thrown";
  /** Two endpoints have the same name. Rename one of them. */
  ENDPOINT_EXISTS: "thrown";
  /** `@webhook` decorates something other than a method of a class. Register other functions with `server.webhook()`. */
  DECORATOR_INVALID: "thrown";
  /** An option or environment variable has a wrong value. The message has its name and what is valid. */
  OPTION_INVALID: "response" | "thrown" | "hub";
  /** A middleware was added after a route that it should run before. Add it before the first endpoint. */
  MIDDLEWARE_TOO_LATE: "thrown";
  /** The server has several endpoints, and none was chosen. Pass the option `endpoint`. */
  ENDPOINT_REQUIRED: "thrown";
  /** `WEBHOOK_PAYLOAD` is not set. Run the file in a job of a webhook, or set the variable to a payload. */
  PAYLOAD_MISSING: "thrown";
  /** Another process listens on the port. Stop it, or choose another `port`. */
  PORT_IN_USE: "thrown";
  /** The server cannot listen on the host and port. See `cause`. */
  LISTEN_FAILED: "thrown";
  /** The tunnel could not be opened, or was lost. Follow the message, or try another provider. */
  TUNNEL_FAILED: "thrown";
  /** Another client has the requested tunnel name. Choose another `subdomain`. */
  TUNNEL_NAME_TAKEN: "thrown";
  /** The state file cannot be read or written. Fix or delete the file in the message. */
  STATE_UNUSABLE: "thrown";
  /** The server file does not exist, does not load, or exports no server. Fix it as the message says. */
  SERVER_FILE_INVALID: "thrown";
  /** The command needs a newer Node. Install the version in the message. */
  NODE_REQUIRED: "thrown";
  /** The folder cannot be created or written to. Choose another one, or fix its permissions. */
  FOLDER_UNUSABLE: "thrown";
  /** The inbox cannot be opened. Check `INBOX_URL`, and the file or server that it points to. */
  INBOX_UNUSABLE: "response" | "thrown";
  /** Another process uses the inbox file. Stop the server first. */
  INBOX_IN_USE: "thrown";
  /** The inbox has no such delivery, or no longer its body. Check the id and the endpoint. */
  DELIVERY_UNKNOWN: "response" | "thrown";
  /** The reason of a handler's aborted signal: another process took over its delivery. Stop working on it. */
  LEASE_LOST: "thrown";
  /** A `NonRetriableError` of a handler: the delivery is not retried. */
  NON_RETRIABLE: "response" | "thrown";
  /** A `RetryAfterError` of a handler: the delivery is retried at that time. */
  RETRY_LATER: "response" | "thrown";
  /** A handler asked for a retry at an invalid time. Pass a duration or a valid date to `RetryAfterError`. */
  RETRY_TIME_INVALID: "response" | "thrown";
  /** Deliveries were still queued or running when `settled()` timed out. Raise its `timeout`, or shorten `backoff`. */
  NOT_SETTLED: "thrown";
  /** An argument has a wrong value. The message and `fields` have its name. */
  ARGUMENT_INVALID: "thrown" | "hub";
  /** No access token for the Hub was found. Set `HF_TOKEN`, or run `hf auth login`. */
  HUB_TOKEN_MISSING: "hub";
  /** The access token for the Hub has a wrong format. Copy it again, on one line. */
  HUB_TOKEN_INVALID: "hub";
  /** The webhook has values that the Hub does not return, and an update would lose them. Pass them again. */
  VALUE_UNREADABLE: "hub";
  /** 400, 413 or 422: the Hub rejected the request as invalid. Fix the arguments in `fields`. */
  HUB_REQUEST_INVALID: "hub";
  /** 401: the Hub does not accept the token. Create a new one. */
  HUB_UNAUTHORIZED: "hub";
  /** 403: the token lacks a permission. Grant it in the settings of the token. */
  HUB_FORBIDDEN: "hub";
  /** 404: the Hub has no such resource, or the token cannot see it. Check its name or id. */
  HUB_NOT_FOUND: "hub";
  /** 429: too many requests. Wait for `retryAfterSeconds`. */
  HUB_RATE_LIMITED: "hub";
  /** Another 4xx status or a redirect. The message has the reason of the Hub. */
  HUB_REFUSED: "hub";
  /** 5xx: the Hub failed. Try again later. */
  HUB_FAILED: "hub";
  /** There was no connection to the Hub. Check the network and `HF_ENDPOINT`. */
  HUB_UNREACHABLE: "hub";
  /** The Hub took longer than `timeout` to respond. Try again, or raise `timeout`. */
  HUB_TIMED_OUT: "hub";
  /** The Hub sent a response with an unexpected format. Check `HF_ENDPOINT`, and update this package. */
  HUB_RESPONSE_INVALID: "hub";
}

/** The stable name of an error: see {@link WebhookErrorCodes} for cause and fix of each. */
export type WebhookErrorCode = keyof WebhookErrorCodes;

/** The options of a {@link WebhookError}. */
export interface WebhookErrorOptions {
  code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  status?: number;
  /** Whether trying again may succeed. Default `false`. */
  retryable?: boolean;
  /** The original error. Never sent to clients. */
  cause?: unknown;
  /** Seconds to wait before trying again, sent as `Retry-After`. */
  retryAfterSeconds?: number;
}

const brand = Symbol.for("hub-webhooks.WebhookError");
const hubBrand = Symbol.for("hub-webhooks.HubError");

/**
 * The error class of this package. `message` is for people: what happened and what to do next. `code` is for programs, and
 * does not change between releases.
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
  /** What went wrong, for programs: see {@link WebhookErrorCodes}. */
  readonly code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  readonly status: number | undefined;
  /** Whether trying again may succeed. */
  readonly retryable: boolean;
  /** Seconds to wait before trying again, if known. */
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
   * Recognizes a `WebhookError` of any installed copy of this package, unlike `instanceof`. Never throws, even for values
   * whose fields cannot be read.
   */
  static isInstance(value: unknown): value is WebhookError {
    return isBranded(value, brand);
  }
}

/** The options of a {@link HubError}. */
export interface HubErrorOptions extends WebhookErrorOptions {
  /** The `X-Request-Id` of the response: quote it to the Hub's support. */
  requestId?: string | undefined;
  /** The arguments that the error is about, as in `watched[0].type`. */
  fields?: readonly string[];
}

/**
 * A failed call of the Hub's REST API: the Hub refused it, did not respond, or an argument was invalid and nothing was sent.
 * `status` is that of the Hub. Messages and causes contain no tokens and secrets.
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
  /** The `X-Request-Id` of the response: quote it to the Hub's support. */
  readonly requestId: string | undefined;
  /** The arguments that the error is about, as in `watched[0].type`. */
  readonly fields: readonly string[];
  readonly [hubBrand] = true;

  constructor(message: string, options: HubErrorOptions) {
    super(message, options);
    this.requestId = options.requestId;
    this.fields = options.fields ?? [];
  }

  /** Recognizes a `HubError` of any installed copy of this package. Never throws. */
  static override isInstance(value: unknown): value is HubError {
    return isBranded(value, hubBrand);
  }
}

function isBranded(value: unknown, ownBrand: symbol): boolean {
  return (
    readField(value, ownBrand) === true &&
    typeof readField(value, "message") === "string" &&
    typeof readField(value, "code") === "string"
  );
}
