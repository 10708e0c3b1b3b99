import { readField } from "./describe.ts";

/**
 * Every error code of this package, with its cause and fix. Branch on codes, never on messages.
 *
 * The type of each code lists where the code occurs: in the `response` to a delivery or a browser, in an error that is
 * `thrown` by this package or by a handler, in a failed call of the `hub` API, or in an error that is only `logged` and
 * stored with an attempt.
 */
export interface WebhookErrorCodes {
  /** 401: the delivery has no secret. Set the secret of the server on the webhook. */
  SECRET_MISSING: "response";
  /** 403: the delivery has a wrong secret. Set the secret of the server on the webhook. */
  SECRET_INVALID: "response";
  /** 429: too many wrong secrets, passwords, or tokens were sent. Wait for the time in `Retry-After`. */
  TOO_MANY_FAILURES: "response";
  /** The server has no endpoint with this name. Check the URL of the webhook, or the `endpoint` option. */
  ENDPOINT_UNKNOWN: "response" | "thrown";
  /** 405: the route does not support the method. Send deliveries with POST. */
  METHOD_NOT_ALLOWED: "response";
  /** 415: the content type of the request is not JSON. Set `Content-Type: application/json`. */
  MEDIA_TYPE_UNSUPPORTED: "response";
  /** 415: the body is compressed. Send it without `Content-Encoding`. */
  ENCODING_UNSUPPORTED: "response";
  /** 413: the body is larger than the `bodyLimit` option. */
  BODY_TOO_LARGE: "response";
  /** The connection closed or timed out before the whole body arrived. Send the delivery again. */
  BODY_INCOMPLETE: "response";
  /** 400: the body is not valid JSON in UTF-8. */
  BODY_NOT_JSON: "response" | "thrown";
  /** 400: the body is nested more than 100 levels deep. */
  BODY_TOO_DEEP: "response" | "thrown";
  /** 500: a body parser read the body before the server could. Mount the server before the body parser. */
  BODY_CONSUMED: "response";
  /** 422: the endpoint does not accept the body as a payload. Fix the paths in the message. */
  PAYLOAD_INVALID: "response" | "thrown";
  /** 500: the handler threw an error or returned an error `Response`. See `cause` or the server's log. */
  HANDLER_FAILED: "response" | "thrown";
  /** 504: the handler took longer than its `timeout`. Run it in the background. */
  HANDLER_TIMED_OUT: "response" | "thrown";
  /** 500: the handler returned a value that cannot be converted to JSON. */
  RESULT_NOT_JSON: "response" | "thrown";
  /** 401: the request has no password. Sign in with `CONSOLE_TOKEN`. */
  CONSOLE_TOKEN_MISSING: "response";
  /** 401: the password is not the value of `CONSOLE_TOKEN`. Check the value. */
  CONSOLE_TOKEN_INVALID: "response";
  /** 403: the page is only for the server's owner. Set `CONSOLE_TOKEN` and sign in with its value. */
  OWNER_ONLY: "response";
  /** 403: a page of another site sent the request. Set a webhook secret, or open the page directly. */
  CROSS_SITE_REFUSED: "response";
  /** The server is shutting down. Send the delivery again after the server has restarted. */
  CLOSING: "response" | "thrown";
  /** The dev server or session is not running yet. Wait until it has started, then try again. */
  NOT_READY: "response" | "thrown";
  /** 503: the connection ended before the server sent a response. Check the server's log. */
  NO_RESPONSE: "response" | "thrown";
  /** A deployment cannot go on. Follow the message, and run the command again, which goes on from there. */
  DEPLOY_FAILED: "thrown";
  /** 503: too many deliveries of the endpoint are queued. Raise `concurrency`. */
  INBOX_FULL: "response" | "thrown";
  /** 503: the inbox cannot store or read deliveries right now. Check its disk, bucket, or database server. */
  INBOX_UNAVAILABLE: "response" | "thrown";
  /** 503: another process has taken over the inbox in a bucket. This one runs no deliveries until the other one stops. */
  INBOX_TAKEN_OVER: "response" | "thrown";
  /** 404: no route matches the path. Check `basePath`. */
  NOT_FOUND: "response";
  /** An unexpected error occurred. See `cause` or the server's log. */
  INTERNAL: "response" | "thrown";
  /**
   * An endpoint was registered without a name, and its handler is an anonymous function. Name the endpoint or the function.
   */
  ENDPOINT_NAME_MISSING: "thrown";
  /** The name of an endpoint cannot be part of a URL. Use letters, digits, `.`, `_`, `-`, and slashes. */
  ENDPOINT_NAME_INVALID: "thrown";
  /** Two endpoints have the same name. Rename one of them. */
  ENDPOINT_EXISTS: "thrown";
  /** `@webhook` decorates something other than a method of a class. Register other functions with `server.webhook()`. */
  DECORATOR_INVALID: "thrown";
  /** An option or environment variable has an invalid value. The message contains its name and the valid values. */
  OPTION_INVALID: "response" | "thrown" | "hub";
  /** A middleware was added to an app after the server was created for it. Add the middleware before `new WebhooksServer()`. */
  MIDDLEWARE_TOO_LATE: "thrown";
  /** The call does not choose an endpoint, and the server does not have exactly one. Pass the `endpoint` option. */
  ENDPOINT_REQUIRED: "thrown";
  /** `WEBHOOK_PAYLOAD` is not set. Run the file in a job of a webhook, or set the variable to a payload. */
  PAYLOAD_MISSING: "thrown";
  /** Another process listens on the port. Stop it, or choose another `port`. */
  PORT_IN_USE: "thrown";
  /** The server cannot listen on the host and port. See `cause`. */
  LISTEN_FAILED: "thrown";
  /** The tunnel could not be opened, or was lost. Follow the message, or try another provider. */
  TUNNEL_FAILED: "thrown";
  /** Another client uses the requested tunnel name. Choose another `subdomain`. */
  TUNNEL_NAME_TAKEN: "thrown";
  /** The state file of `sync` cannot be read or written. Fix the file in the message, or move it away. */
  STATE_UNUSABLE: "thrown";
  /** The state file of a local Hub cannot be opened. Follow the message, or choose another file. */
  LOCAL_HUB_STATE_UNUSABLE: "thrown";
  /** The server file does not exist, does not load, or exports no server. Follow the message. */
  SERVER_FILE_INVALID: "thrown";
  /** This package or a command does not support this runtime or this version of Node. Follow the message. */
  NODE_REQUIRED: "thrown";
  /** The folder cannot be created or written to. Choose another folder, or fix its permissions. */
  FOLDER_UNUSABLE: "thrown";
  /** The inbox cannot be opened. Check `INBOX_URL` and the file, bucket, or database server that it points to. */
  INBOX_UNUSABLE: "response" | "thrown";
  /** Another process uses the inbox file or owns the inbox in a bucket. Stop it, and try again. */
  INBOX_IN_USE: "thrown";
  /** 404: the inbox does not contain the delivery, or its body was deleted. Check the ID and the endpoint. */
  DELIVERY_UNKNOWN: "response" | "thrown";
  /** 409: the delivery is running, so it cannot be discarded. Wait until the attempt ends. */
  DELIVERY_RUNNING: "response" | "thrown";
  /** 401: the console requires a sign-in. Open the printed one-time link, or send `CONSOLE_TOKEN`. */
  SIGN_IN_REQUIRED: "response";
  /** 401: the console token is wrong, or the one-time link was used or has expired. */
  SIGN_IN_INVALID: "response";
  /** 403: a change in the console was sent without a valid `X-CSRF-Token` header. Reload the console. */
  CSRF_TOKEN_INVALID: "response";
  /** 503: more than 50 tabs show the console. Close some of them. */
  TOO_MANY_STREAMS: "response";
  /** The files of the console are missing. Build the package with `npm run build`. */
  CONSOLE_NOT_BUILT: "response";
  /** The abort reason of a handler's signal: another process took over the delivery. Stop processing the delivery. */
  LEASE_LOST: "thrown";
  /** A handler threw a `NonRetriableError`. The delivery is not retried. */
  NON_RETRIABLE: "thrown";
  /** A handler threw a `RetryAfterError`. The delivery is retried at the requested time. */
  RETRY_LATER: "thrown";
  /**
   * A handler requested a retry at an invalid date or beyond the retention of the delivery. Pass a valid date or a shorter
   * duration to `RetryAfterError`, or raise `retention`.
   */
  RETRY_TIME_INVALID: "logged";
  /** Deliveries were still queued or running when `settled()` timed out. Raise its `timeout`, or shorten `backoff`. */
  NOT_SETTLED: "thrown";
  /** An argument has an invalid value. The message and `fields` contain the name of the argument. */
  ARGUMENT_INVALID: "thrown" | "hub";
  /** No access token for the Hub was found. Set `HF_TOKEN`, or run `hf auth login`. */
  HUB_TOKEN_MISSING: "hub";
  /** The access token for the Hub has an invalid format. Copy the token again, without line breaks. */
  HUB_TOKEN_INVALID: "hub";
  /** An update would lose values of the webhook that the Hub does not return. Pass these values again. */
  VALUE_UNREADABLE: "hub";
  /** 400 or 422: the Hub rejected the request as invalid. Fix the arguments in `fields`. */
  HUB_REQUEST_INVALID: "hub";
  /** 401: the Hub does not accept the token. Create a new token. */
  HUB_UNAUTHORIZED: "hub";
  /** 403: the token lacks a permission. Grant it in the token's settings. */
  HUB_FORBIDDEN: "hub";
  /** 404: the resource does not exist, or the token cannot access it. */
  HUB_NOT_FOUND: "hub";
  /** 429: too many requests. Wait for `retryAfterSeconds`. */
  HUB_RATE_LIMITED: "hub";
  /** 412: the branch has a newer commit than `parent`. Read the files again, and commit with its head as `parent`. */
  HUB_CONFLICT: "hub";
  /** A file is larger than `maxBytes`. Raise the limit, or download the file with `@huggingface/hub`. */
  FILE_TOO_LARGE: "hub";
  /** A file is not text in UTF-8 or not JSON. Read it with `readBytes` or `readText`. */
  FILE_INVALID: "hub";
  /** The Hub responded with another 4xx status or a redirect. The message contains the Hub's reason. */
  HUB_REFUSED: "hub";
  /** 5xx: an error occurred on the Hub. Try again later. */
  HUB_FAILED: "hub";
  /** The connection to the Hub failed. Check `HF_ENDPOINT`. */
  HUB_UNREACHABLE: "hub";
  /** The Hub took longer than `timeout` to respond. Try again, or raise `timeout`. */
  HUB_TIMED_OUT: "hub";
  /** The Hub sent a response with an unexpected format. Check `HF_ENDPOINT`, and update this package. */
  HUB_RESPONSE_INVALID: "hub";
}

/** The stable name of an error. See {@link WebhookErrorCodes} for the cause and fix of each code. */
export type WebhookErrorCode = keyof WebhookErrorCodes;

/** The second argument of the {@link WebhookError} constructor. */
export interface WebhookErrorOptions {
  code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  status?: number;
  /** Whether a retry can succeed. Default `false`. */
  retryable?: boolean;
  /** The original error, which is never sent to clients. */
  cause?: unknown;
  /** Seconds to wait before trying again, sent as `Retry-After`. */
  retryAfterSeconds?: number;
}

const brand = Symbol.for("hub-webhooks.WebhookError");
const hubBrand = Symbol.for("hub-webhooks.HubError");

/**
 * An error from this package. `message` describes what happened and what to do next, and can change between releases.
 * `code` is stable: use it in programs.
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
  /** The error code, for programs. See {@link WebhookErrorCodes}. */
  readonly code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  readonly status: number | undefined;
  /** Whether a retry can succeed. */
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
   * Whether a value is a `WebhookError`. Unlike `instanceof`, this method also recognizes errors of other installed copies
   * of this package. Never throws, even for values whose fields cannot be read.
   */
  static isInstance(value: unknown): value is WebhookError {
    return isBranded(value, brand);
  }
}

/** The second argument of the {@link HubError} constructor. */
export interface HubErrorOptions extends WebhookErrorOptions {
  /** The `X-Request-Id` of the response. Include the ID when you contact the Hub's support. */
  requestId?: string | undefined;
  /** The arguments that caused the error, such as `watched[0].type`. */
  fields?: readonly string[];
}

/**
 * A failed call to the Hub's REST API: the Hub refused the request or did not respond, or an argument was invalid and
 * no request was sent. `status` is the HTTP status of the Hub's response. Messages and causes contain no tokens or
 * secrets.
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
  /** The `X-Request-Id` of the response. Include the ID when you contact the Hub's support. */
  readonly requestId: string | undefined;
  /** The arguments that caused the error, such as `watched[0].type`. */
  readonly fields: readonly string[];
  readonly [hubBrand] = true;

  constructor(message: string, options: HubErrorOptions) {
    super(message, options);
    this.requestId = options.requestId;
    this.fields = options.fields ?? [];
  }

  /** Whether a value is a `HubError` of any installed copy of this package. Never throws. */
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

/*
 * Every entry point loads this file. Older versions of Node would fail later, with messages that do not name the cause, so this file
 * and what entry points load with it must not need a newer version. Other runtimes set `versions.node` too, but not this name.
 */
const { navigator, process } = globalThis as { navigator?: { userAgent?: string }; process?: NodeJS.Process };
const isNode = navigator === undefined || navigator.userAgent?.startsWith("Node.js/") === true;
const [major = 0, minor = 0] = (isNode && process?.versions?.node?.split(".").map(Number)) || [22, 18];
if (major < 22 || (major === 22 && minor < 18)) {
  throw new WebhookError(
    `hub-webhooks requires Node 22.18 or newer, but this is Node ${process?.versions.node}. Update Node.`,
    { code: "NODE_REQUIRED" },
  );
}
