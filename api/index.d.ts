import * as z from "zod/mini";
import { $strip } from "zod/v4/core";
import { StandardSchemaV1 } from "@standard-schema/spec";
import { Hono } from "hono";
/** Milliseconds per unit of a {@link Duration}. */
declare const unitMs: {
  readonly ms: 1;
  readonly s: 1000;
  readonly m: 60000;
  readonly h: 3600000;
  readonly d: 86400000;
};
type Unit = keyof typeof unitMs;
type NonZeroDigit = "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type DurationText = (`${NonZeroDigit}${string}` | `0.${string}`) & (`${bigint}${Unit}` | `${bigint}.${number}${Unit}`);
/**
 * A span of time above zero: a number of milliseconds, or a text with a unit (`ms`, `s`, `m`, `h`, `d`) such as `"250ms"`,
 * `"25s"`, `"10m"`, `"1.5h"` or `"14d"`. At most 24 days, the longest time that a timer can wait.
 */
type Duration = number | DurationText;
/**
 * Every error code of this package, with its cause and fix. Branch on codes, never on messages.
 *
 * The value of a code is where it occurs: in the `response` to a delivery or to a browser, in an error that is `thrown` at
 * you, or in a failed call of the `hub` API.
 */
interface WebhookErrorCodes {
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
type WebhookErrorCode = keyof WebhookErrorCodes;
/** The options of a {@link WebhookError}. */
interface WebhookErrorOptions {
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
declare const brand: unique symbol;
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
export declare class WebhookError extends Error {
  readonly name: string;
  /** What went wrong, for programs: see {@link WebhookErrorCodes}. */
  readonly code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  readonly status: number | undefined;
  /** Whether trying again may succeed. */
  readonly retryable: boolean;
  /** Seconds to wait before trying again, if known. */
  readonly retryAfterSeconds: number | undefined;
  readonly [brand] = true;
  constructor(message: string, options: WebhookErrorOptions);
  /**
   * Recognizes a `WebhookError` of any installed copy of this package, unlike `instanceof`. Never throws, even for values
   * whose fields cannot be read.
   */
  static isInstance(value: unknown): value is WebhookError;
}
/** One level of a {@link Logger}: fields and a message, or a message alone. */
interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}
/**
 * The logger interface of this package. A pino logger implements it; `console` does not, since it has no `child`.
 *
 * @example
 * ```ts
 * import { pino } from "pino";
 * const server = new WebhooksServer({ logger: pino({ level: "debug" }) });
 * ```
 */
interface Logger {
  debug: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  /** Creates a logger that adds `bindings` to each line. */
  child(bindings: Record<string, unknown>): Logger;
}
/** The repository types of today; a payload may have a newer one. */
declare const repoTypes: readonly ["model", "dataset", "space", "bucket", "kernel"];
/** The actions of today; a payload may have a newer one. */
declare const actions: readonly ["create", "delete", "update", "move"];
declare const gitContentPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedRefs: z.ZodMiniCustom<{
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[], {
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[]>;
}, $strip>;
declare const bucketContentPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedFiles: z.ZodMiniCustom<{
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[], {
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[]>;
  updatedFilesTruncated: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
}, $strip>;
declare const contentPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedRefs: z.ZodMiniOptional<z.ZodMiniCustom<{
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[], {
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[]>>;
  updatedFiles: z.ZodMiniOptional<z.ZodMiniCustom<{
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[], {
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[]>>;
  updatedFilesTruncated: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
}, $strip>;
declare const repoConfigPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedConfig: z.ZodMiniObject<{
    /** Missing if the Hub does not report the change. */
    private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  }, $strip>;
}, $strip>;
declare const discussionPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  discussion: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    num: z.ZodMiniNumber<number>;
    title: z.ZodMiniString<string>;
    status: z.ZodMiniCustom<"closed" | "draft" | "merged" | "open" | (string & {}), "closed" | "draft" | "merged" | "open" | (string & {})>;
    isPullRequest: z.ZodMiniBoolean<boolean>;
    author: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniString<string>;
    }, $strip>;
    pinned: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    /** Only on pull requests. */
    changes: z.ZodMiniOptional<z.ZodMiniObject<{
      base: z.ZodMiniString<string>;
      mergeCommitId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>>;
  }, $strip>;
  comment: z.ZodMiniOptional<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    author: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    hidden: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
    }, $strip>;
    /** Missing while the comment is hidden. */
    content: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, $strip>>;
}, $strip>;
declare const discussionCommentPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  discussion: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    num: z.ZodMiniNumber<number>;
    title: z.ZodMiniString<string>;
    status: z.ZodMiniCustom<"closed" | "draft" | "merged" | "open" | (string & {}), "closed" | "draft" | "merged" | "open" | (string & {})>;
    isPullRequest: z.ZodMiniBoolean<boolean>;
    author: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniString<string>;
    }, $strip>;
    pinned: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    /** Only on pull requests. */
    changes: z.ZodMiniOptional<z.ZodMiniObject<{
      base: z.ZodMiniString<string>;
      mergeCommitId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>>;
  }, $strip>;
  comment: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    author: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    hidden: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
    }, $strip>;
    /** Missing while the comment is hidden. */
    content: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, $strip>;
}, $strip>;
declare const anyRepoPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedRefs: z.ZodMiniOptional<z.ZodMiniCustom<{
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[], {
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[]>>;
  updatedFiles: z.ZodMiniOptional<z.ZodMiniCustom<{
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[], {
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[]>>;
  updatedFilesTruncated: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  movedTo: z.ZodMiniOptional<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
  }, $strip>>;
  updatedConfig: z.ZodMiniOptional<z.ZodMiniObject<{
    /** Missing if the Hub does not report the change. */
    private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  }, $strip>>;
}, $strip>;
declare const anyPayload: z.ZodMiniObject<{
  event: z.ZodMiniObject<{
    action: z.ZodMiniCustom<"create" | "delete" | "move" | "update" | (string & {}), "create" | "delete" | "move" | "update" | (string & {})>;
    scope: z.ZodMiniString<string>;
  }, $strip>;
  repo: z.ZodMiniObject<{
    type: z.ZodMiniCustom<"bucket" | "dataset" | "kernel" | "model" | "space" | (string & {}), "bucket" | "dataset" | "kernel" | "model" | "space" | (string & {})>;
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    /** Commit at the head of the main branch; only on `repo` scopes, and never on a bucket. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of the host name of a Space. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedRefs: z.ZodMiniOptional<z.ZodMiniCustom<{
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[], {
    ref: string;
    oldSha: string | null;
    newSha: string | null;
  }[]>>;
  updatedFiles: z.ZodMiniOptional<z.ZodMiniCustom<{
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[], {
    path: string;
    action: "add" | "delete" | (string & {});
    xetHash?: string | undefined;
    size?: number | undefined;
  }[]>>;
  updatedFilesTruncated: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  movedTo: z.ZodMiniOptional<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    owner: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
  }, $strip>>;
  updatedConfig: z.ZodMiniOptional<z.ZodMiniObject<{
    /** Missing if the Hub does not report the change. */
    private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  }, $strip>>;
  discussion: z.ZodMiniOptional<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    num: z.ZodMiniNumber<number>;
    title: z.ZodMiniString<string>;
    status: z.ZodMiniCustom<"closed" | "draft" | "merged" | "open" | (string & {}), "closed" | "draft" | "merged" | "open" | (string & {})>;
    isPullRequest: z.ZodMiniBoolean<boolean>;
    author: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
      api: z.ZodMiniString<string>;
    }, $strip>;
    pinned: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    /** Only on pull requests. */
    changes: z.ZodMiniOptional<z.ZodMiniObject<{
      base: z.ZodMiniString<string>;
      mergeCommitId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, $strip>>;
  }, $strip>>;
  comment: z.ZodMiniOptional<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    author: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
    }, $strip>;
    hidden: z.ZodMiniBoolean<boolean>;
    url: z.ZodMiniObject<{
      web: z.ZodMiniString<string>;
    }, $strip>;
    /** Missing while the comment is hidden. */
    content: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, $strip>>;
}, $strip>;
/**
 * The payload of a delivery of any scope, version 3. `event`, `repo` and `webhook` are always present; the other fields
 * depend on `event.scope`: narrow the type with {@link isScope} or with the `scope` option of an endpoint. Only these three
 * and the fields of the scope are validated, and only these three for an unknown scope. Optional fields of other scopes (such
 * as `comment` on `repo.content`) are not validated.
 */
type WebhookPayload = z.output<typeof anyPayload>;
/**
 * A payload of scope `repo` or any narrower one: `repo.content`, `repo.config` and future ones. Optional fields are validated
 * only on their own scope: see {@link WebhookPayload}.
 */
type RepoPayload = z.output<typeof anyRepoPayload>;
/** A payload of scope `repo.content`: `updatedRefs` for git repositories, `updatedFiles` for buckets. */
type RepoContentPayload = z.output<typeof contentPayload>;
/** A payload of scope `repo.content` of a model, a dataset or a Space. */
type GitContentPayload = z.output<typeof gitContentPayload>;
/** A payload of scope `repo.content` of a bucket. The Hub truncates `updatedFiles` to 10,000 entries. */
type BucketContentPayload = z.output<typeof bucketContentPayload>;
/** A payload of scope `repo.config`. `updatedConfig` is `{}` when the Hub does not report what changed. */
type RepoConfigPayload = z.output<typeof repoConfigPayload>;
/** A payload of scope `discussion` or narrower; `comment` comes with a new discussion. */
type DiscussionPayload = z.output<typeof discussionPayload>;
/** A payload of scope `discussion.comment`. */
type DiscussionCommentPayload = z.output<typeof discussionCommentPayload>;
/** The scopes of today; a payload may have a newer, narrower one such as `repo.config.dois`. */
declare const scopes: readonly ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"];
/** A scope of today. */
type KnownScope = (typeof scopes)[number];
/** A scope: a known one, which editors complete, or a future one. */
type Scope$1 = KnownScope | (string & {});
/** A repository type: a known one, which editors complete, or a future one. */
type RepoType = (typeof repoTypes)[number] | (string & {});
/** What happened: a known action, which editors complete, or a future one. */
type Action = (typeof actions)[number] | (string & {});
/** A webhook delivery to one endpoint, independent of its transport: HTTP, a job or a test. */
interface Delivery<Payload = WebhookPayload> {
  /** The `Webhook-Id`, which stays the same when the Hub retries or replays it; generated if the request has none. */
  readonly id: string;
  /** The name of the endpoint. */
  readonly endpoint: string;
  /** The body exactly as it was received. */
  readonly body: string;
  /** The parsed and validated body. */
  readonly payload: Payload;
  /** When it was first received. */
  readonly receivedAt: Date;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}
/** The result of running a handler on a delivery. */
type Outcome =
/** The handler returned `result`. */
{
  readonly status: "succeeded";
  readonly result: unknown;
} |
/** The filter did not match. */
{
  readonly status: "ignored";
  readonly reason: string;
} |
/** The handler failed. `retryAt` is set if it asked for a retry at a certain time. */
{
  readonly status: "failed";
  readonly error: WebhookError;
  readonly retryAt?: Date;
};
/**
 * The waits between the attempts of a delivery: a list of waits, of which the last one repeats, or waits that double from
 * `first` up to `max`. Each wait varies by ±20 %, so that deliveries that failed together are not retried together.
 *
 * @example
 * ```ts
 * // Four attempts.
 * server.webhook("retrain", { background: true, backoff: ["10s", "1m", "1h"] }, async ({ repo }) => repo.name);
 * ```
 */
type Backoff = readonly Duration[] | {
  /** The wait before the second attempt. Default `"5s"`. */
  first?: Duration;
  /** The longest wait, apart from the ±20 %. Default `"12h"`, or `first` if that is longer. */
  max?: Duration;
};
/** The number of attempts of a delivery, and the waits between them. */
interface RetryPolicy {
  attempts: number;
  /** Milliseconds to wait after this attempt has failed, from 1. */
  waitAfter(attempt: number): number;
  /** The maximum sum of all waits, in milliseconds. */
  totalWaitMs: number;
}
/** Identifies a delivery. */
type DeliveryKey = Pick<Delivery, "id" | "endpoint">;
/** A delivery to store. */
type ReceivedDelivery = Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt">;
/** A delivery to run. */
interface RunnableDelivery extends ReceivedDelivery, Pick<Delivery, "attempt"> {
  /** Whether the delivery is dead if this attempt fails. */
  readonly isLastAttempt: boolean;
  /** Milliseconds until the next attempt if this one fails, unless the handler asks for another time. */
  readonly retryDelayMs: number;
}
/**
 * The state of a delivery: waiting for an attempt, running, succeeded, or dead after its last attempt. Dead deliveries can be
 * replayed.
 */
type DeliveryStatus = "queued" | "running" | "succeeded" | "dead";
/** One run of the handler on a delivery. */
interface DeliveryAttempt {
  /** From 1. */
  number: number;
  /** Missing if the process was killed and the inbox is in Redis or PostgreSQL. */
  startedAt?: Date;
  /** Missing like `startedAt`. In SQLite, the duration until the last heartbeat of a killed process. */
  durationMs?: number;
  /** `abandoned`: the process stopped before the handler was done. */
  outcome: "succeeded" | "failed" | "abandoned";
  /** The error of a failed or abandoned attempt. */
  error?: {
    code: string;
    message: string;
  };
}
/** A delivery in the inbox. */
interface StoredDelivery extends DeliveryKey, Pick<Delivery, "receivedAt"> {
  status: DeliveryStatus;
  /** When the next attempt is due, if queued. */
  dueAt?: Date;
  /** When the current attempt started, if running. */
  startedAt?: Date;
  /** When it succeeded or died. */
  finishedAt?: Date;
  /** The body as it was received. Missing after the retention, when only the ID is kept to recognize duplicates. */
  body?: string;
  attempts: readonly DeliveryAttempt[];
}
/** How an inbox processes the deliveries of an endpoint. */
interface QueueOptions {
  endpoint: string;
  /** The maximum number of deliveries that run at the same time in this process. */
  concurrency: number;
  policy: RetryPolicy;
  /** How long finished deliveries are kept, in milliseconds. */
  retentionMs: number;
  /** Runs the handler; never rejects. The signal is aborted when the inbox closes, or when the lease of the delivery is lost. */
  run: (delivery: RunnableDelivery, signal: AbortSignal) => Promise<Outcome>;
}
/** Which deliveries to list. */
interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  /** Default 50, at most 1,000. */
  limit?: number;
  /** `next` of the previous page. */
  cursor?: string;
}
/** Deliveries, newest first. A delivery whose status changes between two pages may be on both or on neither. */
interface DeliveryPage {
  deliveries: readonly StoredDelivery[];
  /** The cursor of the next page; missing on the last page. */
  next?: string;
}
/** The number of deliveries of an endpoint in each status. */
type DeliveryCounts = Readonly<Record<DeliveryStatus, number>>;
/** A problem that keeps an inbox from storing or running deliveries. */
interface InboxProblem {
  /** Stable, such as `INBOX_UNAVAILABLE`. */
  code: string;
  /** `unavailable`: no delivery can be stored, or none runs. `degraded`: some still are. */
  severity: "unavailable" | "degraded";
  /** What happened and what to do next, without secrets. Only for the owner: it may contain file and host names. */
  message: string;
}
/** Stores deliveries and runs them in the background. */
interface Inbox {
  /**
   * Stores a delivery: once this resolves, it survives a crash and a power failure. `duplicate`: it was already stored, and
   * does not run again unless it was dead.
   *
   * @throws `INBOX_FULL`, `INBOX_UNAVAILABLE`: the delivery is not stored.
   */
  accept(delivery: ReceivedDelivery): Promise<{
    duplicate: boolean;
  }>;
  /** Starts to run the deliveries of an endpoint. Calling it again for the same endpoint has no effect. */
  work(queue: QueueOptions): void;
  /** Lists deliveries, newest first. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** Gets a delivery with its attempts; `undefined` if it is not stored. */
  get(key: DeliveryKey): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, whatever its status. @throws `DELIVERY_UNKNOWN`. */
  replay(key: DeliveryKey): Promise<void>;
  /** Replays all dead deliveries of an endpoint. Returns their number. */
  replayDead(endpoint: string): Promise<number>;
  /** By endpoint. Deliveries past their retention count as long as their ID is kept, although they are not listed. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** The current problems; empty if the inbox is healthy. Resolves within three seconds, never rejects. */
  problems(): Promise<readonly InboxProblem[]>;
  /** Removes deliveries that finished before their retention. Returns their number. */
  prune(): Promise<number>;
  /** Stops claiming deliveries, waits up to `graceMs` for running handlers, and puts unfinished deliveries back. */
  close(graceMs: number): Promise<void>;
}
/** Repositories as `type:name`. In both parts, `*` matches anything except a slash, and `**` matches anything. */
type RepoPattern = `${RepoType}:${string}`;
/** Which deliveries an endpoint receives. Each field takes one value or a list; all fields must match. */
interface FilterOptions {
  /**
   * Scopes, each including narrower ones: `"repo"` matches `repo.content` and any future `repo.*`. A narrower scope that
   * this release does not know counts as an `update` of the broader one.
   */
  scope?: Scope$1 | readonly Scope$1[];
  /** Actions: `create`, `delete`, `update`, `move`. */
  action?: Action | readonly Action[];
  /** Repositories as `type:name` with globs: `"dataset:me/data"`, `"model:me/*"`, `"*:acme/**"`. */
  repo?: RepoPattern | readonly RepoPattern[];
  /**
   * Git refs with globs, such as `"refs/heads/main"` or `"refs/pr/*"`: at least one of `updatedRefs` must match. The Hub
   * also sends updates of `refs/pr/N` and `refs/convert/parquet`.
   */
  ref?: string | readonly string[];
}
/**
 * Validates a payload of the Hub, version 3, and returns the same value: unknown fields are kept.
 *
 * @throws `PAYLOAD_INVALID` (422), with the first invalid paths but never their values.
 * @example
 * ```ts
 * const payload = parsePayload(JSON.parse(process.env.WEBHOOK_PAYLOAD ?? ""));
 * ```
 */
export declare function parsePayload(value: unknown): WebhookPayload;
interface PayloadByScope {
  repo: RepoPayload;
  "repo.content": RepoContentPayload;
  "repo.config": RepoConfigPayload;
  discussion: DiscussionPayload;
  "discussion.comment": DiscussionCommentPayload;
}
/**
 * The payload type of a scope. `RepoType` narrows `repo.content` further: buckets have `updatedFiles`; models, datasets and
 * Spaces have `updatedRefs`.
 */
type PayloadOf<Scope extends string, RepoType extends string = string> = Scope extends KnownScope ? Scope extends "repo.content" ? ContentPayloadOf<RepoType> : PayloadByScope[Scope] : WebhookPayload;
type ContentPayloadOf<RepoType extends string> = RepoType extends "bucket" ? BucketContentPayload : RepoType extends "model" | "dataset" | "space" ? GitContentPayload : RepoContentPayload;
/** Keeps the type of the `else` branch of {@link isScope} from becoming `never`. */
interface Scoped<Wanted extends string> {
  event: {
    scope: Wanted | `${Wanted}.${string}`;
  };
}
/**
 * Whether a payload has `scope` or a narrower one. Narrows its type, which a comparison of the nested `event.scope` does not.
 * An unknown narrower scope counts only if the payload has the fields of the broader one.
 *
 * @example
 * ```ts
 * server.webhook(async function on_change(payload) {
 *   if (isScope(payload, "discussion.comment")) return payload.comment.content;
 * });
 * ```
 */
export declare function isScope<Wanted extends KnownScope>(payload: WebhookPayload, scope: Wanted): payload is WebhookPayload & PayloadOf<Wanted> & Scoped<Wanted>;
/** What a webhook can watch: a repository of a type, or all repositories of a user or an organization. */
declare const watchedTypes: readonly ["model", "dataset", "space", "bucket", "kernel", "user", "org"];
/** The type of something that a webhook watches: a type of repository, a user or an organization. */
type WatchedType = (typeof watchedTypes)[number];
/** The events that a webhook can subscribe to: changes of the repository, or of its discussions. */
declare const webhookDomains: readonly ["repo", "discussion"];
/** The events that a webhook can subscribe to. */
type WebhookDomain = (typeof webhookDomains)[number];
/** A repository, user or organization to watch, as `type:name`: `"dataset:me/data"`, `"org:acme"`. {@link Watched} is the same as an object. */
type Watch = `${WatchedType}:${string}`;
/** A repository, user or organization that a webhook watches, as in `{ type: "dataset", name: "me/data" }`. */
interface Watched<Type extends string = WatchedType | (string & {})> {
  /** A {@link WatchedType}, or a type that the Hub added after this release. */
  type: Type;
  /** The name of the repository (`owner/name`), the user or the organization. */
  name: string;
}
/** A {@link Watched} of a type that this release lists. */
type KnownWatched = Watched<WatchedType>;
/** How a delivery ended. `retrying`: a failed background attempt with a retry left. `failed`: one without. */
type ActivityOutcome = "succeeded" | "ignored" | "retrying" | "failed";
/** How long handlers took, in milliseconds: half of the runs at most `p50`, 19 of 20 at most `p95`. */
interface HandlerTime {
  readonly p50: number;
  readonly p95: number;
  /** How many runs this is taken from: the latest ones. */
  readonly runs: number;
}
/**
 * The second argument of a handler. `signal`, `log` and `request` are created on first use, so `{ ...context }` creates
 * all of them.
 */
interface HandlerContext<Payload = WebhookPayload> {
  readonly delivery: Delivery<Payload>;
  /** Aborts at the timeout, and when the client disconnects. Pass it to `fetch`. */
  readonly signal: AbortSignal;
  /** Adds the endpoint and the delivery id to each line. */
  readonly log: Logger;
  /** The HTTP request, with its body already read; absent in the background and without HTTP. */
  readonly request?: Request | undefined;
}
/** Your function. Return JSON or a `Response` to answer with it, or nothing to answer 200 with an empty body. */
type Handler<Payload = WebhookPayload> = (payload: Payload, context: HandlerContext<Payload>) => unknown;
/** Options of an endpoint. */
interface EndpointOptions extends FilterOptions {
  /**
   * How long the handler may run. When it ends, the delivery fails with 504. Default `"25s"`, because the Hub waits 30 s,
   * and `"10m"` in the background.
   */
  timeout?: Duration;
  /**
   * Stores the delivery, answers 202, and runs the handler afterwards, with retries. A delivery that arrives twice runs
   * once. `attempts`, `backoff`, `concurrency` and `retention` require it. Default `false`.
   */
  background?: boolean;
  /** Max attempts per delivery. Default 10, or one more than the waits that `backoff` lists. */
  attempts?: number;
  /**
   * Waits between attempts, ±20 %. Default: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 6 h and 12 h, about 22 h in
   * total; further attempts wait 12 h each.
   */
  backoff?: Backoff;
  /** Max deliveries that run at the same time on this server. Default 4. */
  concurrency?: number;
  /**
   * How long a succeeded or dead delivery is kept. Default `"14d"`. Its id is remembered for at least 7 days, and for a
   * day longer than all retries can take.
   */
  retention?: Duration;
  /**
   * Validates the body. Default: a payload of the Hub. With a Standard Schema (zod, valibot, arktype, …), the body is
   * JSON, and the handler receives the schema's output; with a filter, the payload of the Hub is validated first. With
   * `null`, any body is accepted, even an empty one; the payload is `null`, and `delivery.body` is the text.
   */
  schema?: StandardSchemaV1 | null;
  /**
   * What the endpoint's webhook on the Hub watches: `"dataset:me/data"`, `"org:acme"`, `"user:me"`, one or several.
   * `hub-webhooks sync` and `register` of `hub-webhooks/client` register it; the server itself does not.
   */
  watch?: Watch | readonly Watch[];
  /** The domains that its webhook subscribes to: `repo`, `discussion`. Default: those that `scope` covers, else both. */
  domains?: WebhookDomain | readonly WebhookDomain[];
}
type OneOf<Value> = Value extends readonly (infer Item)[] ? Item : Value;
type RepoTypeOf<Options> = Options extends {
  repo: infer Repo;
} ? OneOf<Repo> extends `${infer Type}:${string}` ? Type : string : string;
/** The payload type that follows from the options of an endpoint. */
type PayloadFor<Options extends EndpointOptions> = Options extends {
  schema: null;
} ? null : Options extends {
  schema: infer Schema extends StandardSchemaV1;
} ? StandardSchemaV1.InferOutput<Schema> : Options extends {
  scope: infer Scope;
} ? undefined extends Scope ? WebhookPayload : PayloadOf<Extract<OneOf<Scope>, string>, RepoTypeOf<Options>> : WebhookPayload;
/**
 * Throw this from a handler when retrying cannot help: a background endpoint marks the delivery as dead at once.
 *
 * @example
 * ```ts
 * if (!(await modelExists(payload.repo.name))) throw new NonRetriableError("There is no such model.");
 * ```
 */
export declare class NonRetriableError extends WebhookError {
  constructor(message: string, options?: {
    cause?: unknown;
  });
}
/**
 * Throw this from a handler to choose when a background endpoint retries the delivery. The attempt counts toward
 * `attempts`. An invalid date, or one beyond the endpoint's `retention`, is logged as `RETRY_TIME_INVALID`, and the
 * endpoint's `backoff` applies instead.
 *
 * @throws `OPTION_INVALID` when `when` is not a duration.
 * @example
 * ```ts
 * throw new RetryAfterError("1h", { message: "No GPU is free." });
 * ```
 */
export declare class RetryAfterError extends WebhookError {
  /** When to retry. */
  readonly retryAt: Date;
  constructor(when: Duration | Date, { message, cause }?: {
    message?: string;
    cause?: unknown;
  });
}
/** One endpoint, as the landing page shows it. Nothing in here comes from a payload: the page is public. */
interface LandingEndpoint {
  /** The endpoint's name: what follows `/webhooks/` in its path. */
  name: string;
  /** The full public URL to register on the Hub. Escape it: its host may be the `Host` header of a stranger. */
  url: string;
  /** Always `POST`: the Hub sends nothing else. */
  method: "POST";
  /** Whether it answers first and works later, so that its owner finds its deliveries in the dashboard. */
  background: boolean;
  /** The scopes that its filter lets through; empty where it takes every scope. */
  scopes: readonly string[];
  /** How many deliveries reached it since the process started. */
  deliveries: number;
  /**
   * How many of them in the last 24 hours of the clock: the present one and the 23 before it. The Hub triggers a
   * webhook at most 1,000 times in 24 hours.
   */
  lastDay: number;
  /** How the last of them, or the last attempt on one, ended, and when (ISO 8601); absent before the first. */
  last?: {
    outcome: ActivityOutcome;
    at: string;
  };
}
/** What happened in one hour of the clock. */
interface LandingHour extends Readonly<Record<ActivityOutcome, number>> {
  /** When it began (ISO 8601). */
  startedAt: string;
}
/** What came to all endpoints since the process started. It is kept in memory: a restart begins anew. */
interface LandingActivity {
  /**
   * How deliveries ended in the last 24 hours of the clock, oldest first; none from before the start. `retrying`
   * counts the attempts in the background that are followed by another, `failed` what failed in its answer or is dead.
   */
  hours: readonly LandingHour[];
  /** How long handlers took, in milliseconds, in their latest runs (1,024 at most); absent before the first. */
  handlerTime?: HandlerTime;
  /**
   * How many deliveries wait in the inbox, and how many are worked on; `unknown` where it does not answer. Absent
   * without a background endpoint, and before the inbox is open.
   */
  queue?: {
    queued: number;
    running: number;
  } | "unknown";
}
/**
 * What a landing page is told: given to the built-in page and to a function passed as `landingPage`.
 *
 * @example
 * ```ts
 * import { html } from "hono/html"; // escapes what is put into it
 *
 * new WebhooksServer({ landingPage: (info) => html`<ul>${info.endpoints.map(({ url }) => html`<li>${url}</li>`)}</ul>` });
 * ```
 */
interface LandingInfo {
  endpoints: readonly LandingEndpoint[];
  /** Whether a secret is asked for. The secret itself is nowhere in here. */
  secretIsSet: boolean;
  /** Public address of this server, without a trailing slash. Escape it, like the URLs that begin with it. */
  baseUrl: string;
  /**
   * The path under which the server is mounted as the client sees it, such as `/hub`, without a trailing slash. Empty at
   * the root, and where a proxy removes a prefix that is not configured (`basePath`, `X-Forwarded-Prefix`).
   */
  basePath: string;
  /** When the process started (ISO 8601). */
  startedAt: string;
  activity: LandingActivity;
  /** The Space this runs in (`SPACE_ID`, such as `acme/bot`), where it does. */
  space?: {
    id: string;
  };
  /** The theme asked for by `?__theme=`; absent: the reader's system decides. */
  theme?: "light" | "dark";
}
/** What `GET /` answers: HTML, a Hono app, a function of what there is to tell, or `false` for nothing. */
type LandingPage = string | Hono | ((info: LandingInfo) => string | Response | Promise<string | Response>) | false;
/** The public URL that a provider is to open for a local port. */
interface ProviderRequest {
  /** The local port, 1 to 65535. */
  port: number;
  /** The address of the provider's server. Default: the provider's own. */
  host: string | undefined;
  /** The requested name in the public URL. */
  subdomain: string | undefined;
  /** Cancels the opening, at the deadline or on behalf of the caller. Has no effect once the tunnel is open. */
  signal: AbortSignal;
}
/** A tunnel that one provider has opened, once deliveries can arrive. */
interface ProviderTunnel {
  /** The public address without a trailing slash, such as `https://quiet-owl-12.loca.lt`. */
  readonly url: string;
  /** The name to request in order to get this URL again; `undefined` if the provider has no such names. */
  readonly name: string | undefined;
  /**
   * Aborts with a {@link WebhookError} when the provider has lost the tunnel, not when it is closed. A lost tunnel does
   * not recover: close it and open another.
   */
  readonly lost: AbortSignal;
  /** Closes the tunnel and resolves when all its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
}
/**
 * Opens one tunnel with one provider. There is one file per provider.
 *
 * When it rejects, it leaves nothing behind, and it rejects as soon as `request.signal` aborts.
 */
type Provider = (request: ProviderRequest) => Promise<ProviderTunnel>;
/**
 * Opens a tunnel with the package `localtunnel`, in a worker process that can be stopped at any time.
 *
 * @throws `TUNNEL_FAILED` with the reason, `OPTION_INVALID` when `request.host` is not an address.
 */
declare function openLocaltunnel(request: ProviderRequest): Promise<ProviderTunnel>;
/** The tunnel providers, with the default timeout for opening a tunnel. */
declare const providers: {
  readonly localtunnel: {
    readonly open: typeof openLocaltunnel;
    readonly timeout: "15s";
  };
  readonly cloudflared: {
    readonly open: Provider;
    readonly timeout: "30s";
  };
  readonly ngrok: {
    readonly open: Provider;
    readonly timeout: "15s";
  };
};
/** The name of a tunnel provider. */
type ProviderName = keyof typeof providers;
/** The options of `openTunnel`. */
interface OpenTunnelOptions {
  /**
   * The tunnel provider. Default `"localtunnel"`, which needs the package of that name. `"cloudflared"` and `"ngrok"`
   * need the program of that name on `PATH` or in `node_modules/.bin`; it is never downloaded.
   */
  provider?: ProviderName;
  /**
   * Your own http(s) address that already points to `port`, such as that of a named tunnel or a reverse proxy. No tunnel
   * is started; the address is only polled. Excludes `provider`, `host` and `subdomain`.
   */
  publicUrl?: string;
  /** The local port to expose, 1 to 65535. Listen on it, on 127.0.0.1 or on all addresses, before opening the tunnel. */
  port: number;
  /** The address of the localtunnel server. Default `LOCALTUNNEL_HOST`, or else `https://localtunnel.me`. */
  host?: string;
  /**
   * The name to request in the public URL from localtunnel: 4 to 63 lowercase letters, digits and hyphens. If the name is
   * taken, the server may assign another one: the tunnel then emits an `error` with the code `TUNNEL_NAME_TAKEN`.
   * Default: the server chooses a name, which is requested again after a loss.
   */
  subdomain?: string;
  /** Cancels the opening: the promise rejects with its reason. Has no effect on an open tunnel. */
  signal?: AbortSignal;
  /** How long opening may take. Default `"15s"`, and `"30s"` with cloudflared. */
  timeout?: Duration;
  /**
   * How often to check that the public URL still points here: any status below 500 passes. Two failures in a row are a
   * loss. Default `"15s"`.
   */
  heartbeat?: Duration;
}
/** Options of `launch()`. */
interface LaunchOptions {
  /** Default `PORT`, else 7860, the port of a Space. 0 for any free port. */
  port?: number;
  /** Default `HOST`, else `0.0.0.0` in a Space and `127.0.0.1` elsewhere, so that a laptop stays private. */
  host?: string;
  /**
   * Opens a temporary public address for `/webhooks/*`, and closes it after 72 hours. Default: `TUNNEL` (`1` or the name
   * of a provider), else off. If no secret is set, one is created for the session and printed. A `publicUrl` here is
   * monitored, and must point to the port of the server.
   */
  tunnel?: boolean | Omit<OpenTunnelOptions, "port">;
  /**
   * The address at which the Hub reaches this server, for the log and the landing page. A function if it may change.
   * Default `PUBLIC_URL`, else the address of the Space or of the tunnel.
   */
  publicUrl?: string | (() => string);
  /**
   * Whether to log at startup where the server is reachable and whether it has a secret. Default `true`. Warnings are
   * always logged.
   */
  announce?: boolean;
  /**
   * How long a client may take to send the headers (default 15 s), a whole request (30 s) and the next request on its
   * connection (`keepAlive`, 10 s), and to read a response (`write`, 30 s). `headers` must not be longer than `request`.
   */
  timeouts?: {
    headers?: Duration;
    request?: Duration;
    keepAlive?: Duration;
    write?: Duration;
  };
  /** Max open connections; further ones are closed at once. Default 2,000; `Infinity` for no limit. */
  maxConnections?: number;
  /**
   * Max requests on one connection, which is closed after the last response. Default 1,000; `Infinity` for no limit. A
   * client that pipelines more than 16 unanswered requests is disconnected.
   */
  maxRequestsPerSocket?: number;
  /** How long `close()`, SIGTERM and SIGINT wait for requests in progress. Default `"30s"`. */
  shutdownGrace?: Duration;
  /**
   * Whether the server manages the process: SIGTERM and SIGINT let running requests finish and exit with code 0 (a second
   * signal exits at once), unhandled rejections are logged instead of crashing the process, and a failed launch logs one
   * line and exits with code 1. With `false`, `launch()` rejects and leaves the process alone. Default `true`, and `false`
   * under a test runner (vitest, `node --test`, or `NODE_ENV=test`).
   */
  handleSignals?: boolean;
}
/** Where a launched server is reachable. */
interface LaunchedServer {
  /** The port it listens on. */
  port: number;
  /** Its address on this machine, without a trailing slash. */
  url: string;
  /** Its public address: of the Space or the tunnel, if there is one. The address of a tunnel may change. */
  publicUrl: string;
}
/** Narrows the search for a delivery. */
interface DeliveryLookup {
  /** Required only if two endpoints have a delivery with the same id. */
  endpoint?: string;
}
/**
 * The deliveries of a server's background endpoints: `server.inbox`.
 *
 * @example
 * ```ts
 * const { deliveries } = await server.inbox.list({ status: "dead" });
 * for (const { id, attempts } of deliveries) console.log(id, attempts.at(-1)?.error?.message);
 * await server.inbox.replayDead("retrain");
 * ```
 */
declare class ServerInbox {
  #private;
  /** Lists deliveries, newest first. @throws `OPTION_INVALID`. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** Reads one delivery with its attempts. */
  get(id: string, { endpoint }?: DeliveryLookup): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, in any status. @throws `DELIVERY_UNKNOWN`. */
  replay(id: string, lookup?: DeliveryLookup): Promise<void>;
  /** Runs every dead delivery of an endpoint again. Returns their number. */
  replayDead(endpoint: string): Promise<number>;
  /** How many deliveries each endpoint has in each status. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** Deletes deliveries that finished before their endpoint's `retention`, as happens every hour. Returns their number. */
  prune(): Promise<number>;
}
/**
 * A standard decorator that registers a method as an endpoint. It needs TypeScript without `experimentalDecorators`. Static
 * methods are registered with their class, other methods with its first instance.
 */
type WebhookDecorator<Payload> = <This, Method extends (this: This, payload: Payload, context: HandlerContext<Payload>) => unknown>(method: Method, context: ClassMethodDecoratorContext<This, Method>) => void;
/**
 * Registers handlers as endpoints. The payload's type follows from the options. Slashes at both ends of a name are removed:
 * `"/retrain/"` becomes `"retrain"`.
 *
 * @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`, `ENDPOINT_EXISTS`, `OPTION_INVALID`, `DECORATOR_INVALID`;
 * `INBOX_UNUSABLE` for a background endpoint in a runtime without an inbox, such as a worker.
 */
interface WebhookFunction {
  /**
   * Registers a named function. Its name is the name of the endpoint.
   *
   * @example
   * ```ts
   * server.webhook(async function on_change(payload) {
   *   console.log(payload.event.scope, payload.repo.name);
   * });
   * ```
   */
  <Declared extends Handler>(handler: Declared): Declared;
  /**
   * Registers a function under a name.
   *
   * @example
   * ```ts
   * server.webhook("retrain", async (payload) => ({ repo: payload.repo.name }));
   * ```
   */
  <Declared extends Handler>(name: string, handler: Declared): Declared;
  /**
   * Registers a function with options, such as a filter.
   *
   * @example
   * ```ts
   * server.webhook("retrain", { scope: "repo.content", repo: "dataset:me/*" }, async (payload) => payload.updatedRefs);
   * ```
   */
  <const Options extends EndpointOptions, Result>(name: string, options: Options, handler: (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result): (payload: PayloadFor<Options>, context: HandlerContext<PayloadFor<Options>>) => Result;
  /**
   * Returns a decorator for a method. Without a name, the endpoint has the name of the method.
   *
   * @example
   * ```ts
   * class Bot {
   *   @server.webhook()
   *   async on_change(payload: WebhookPayload) {
   *     console.log(payload.repo.name);
   *   }
   * }
   * new Bot();
   * ```
   */
  (name?: string): WebhookDecorator<WebhookPayload>;
  /**
   * Returns a decorator for a method, with options.
   *
   * @example
   * ```ts
   * class Bot {
   *   @server.webhook({ scope: "discussion.comment" })
   *   async on_comment(payload: DiscussionCommentPayload) {
   *     console.log(payload.comment.content);
   *   }
   * }
   * new Bot();
   * ```
   */
  <const Options extends EndpointOptions>(options: Options): WebhookDecorator<PayloadFor<Options>>;
  /** Returns a decorator for a method, with a name and options. */
  <const Options extends EndpointOptions>(name: string, options: Options): WebhookDecorator<PayloadFor<Options>>;
}
/**
 * Registers an endpoint on a shared server, which launches itself at the end of the script. It takes the arguments of
 * {@link WebhookFunction}.
 *
 * The launch waits for Node's `beforeExit`, which does not come while something else keeps the process alive (a timer, an
 * open connection), after `process.exit()`, or in runtimes without it. In these cases, or to set options, create a
 * {@link WebhooksServer}.
 *
 * @example
 * ```ts
 * import { webhookEndpoint } from "hub-webhooks";
 *
 * webhookEndpoint(async function trigger_training(payload) {
 *   return { training: payload.repo.name };
 * });
 * ```
 */
export declare const webhookEndpoint: WebhookFunction;
/** The method by which tools read a server. A registered symbol, so that two copies of this package share it. */
declare const serverDetails: unique symbol;
/** What a webhook for an endpoint needs. */
interface EndpointDetails {
  readonly name: string;
  /** What its webhook watches; empty: not declared. */
  readonly watch: readonly KnownWatched[];
  /** The domains that its webhook subscribes to. */
  readonly domains: readonly WebhookDomain[];
  /** Its filter for repositories, as written. */
  readonly repos: readonly string[];
  /** Its filter for scopes; empty: all of them. */
  readonly scopes: readonly string[];
  readonly background: boolean;
  /** Options that look like a mistake. */
  readonly warnings: readonly string[];
}
/** A delivery that started a job: it needs no secret, and no client waits for an answer. */
interface JobDelivery {
  /** Name of the endpoint. */
  endpoint: string;
  /** The payload as it arrived. */
  body: string;
  /** The `Webhook-Id`. A missing or unprintable one is replaced. */
  id: string | undefined;
  /** Aborts the handler's signal. */
  signal: AbortSignal;
}
/** What tools read and change on a server. */
interface ServerDetails {
  /** In the order of their registration. */
  readonly endpoints: readonly EndpointDetails[];
  /** The secret that deliveries must carry: the first of several. */
  readonly secret: string | undefined;
  /** Whether `secret: false` opens the server to everyone. */
  readonly isOpenOnPurpose: boolean;
  /** Requires this secret from now on: the only valid one with `isOnly`, else in addition to the configured ones. */
  useSecret(secret: string, options: {
    isOnly: boolean;
  }): void;
  /** Overrides the URL of the inbox, in the options and in `INBOX_URL`. Call it before the launch. */
  useInbox(url: string): void;
  /** Limits the wait before each retry, in milliseconds, unless the handler requests a longer one. */
  limitRetryWaits(maxMs: number): void;
  /**
   * Runs an endpoint once and at once, also a background endpoint, and logs the outcome.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is no level.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}
/**
 * A Hono app, with any environment and of any copy of Hono: what `new Hono()` returns. The type names no more of it than
 * is needed to recognize one, because TypeScript treats the classes of two copies of Hono as different.
 */
interface HonoApp {
  /** The routes and the middleware, in the order of their registration. */
  readonly routes: readonly {
    readonly path: string;
    readonly method: string;
  }[];
  readonly fetch: (request: Request) => Response | Promise<Response>;
}
/** Options of a `WebhooksServer`. */
interface WebhooksServerOptions {
  /**
   * The secret that every delivery must carry, or several valid ones during a rotation; `false` accepts deliveries without
   * a secret. Default: `WEBHOOK_SECRET` and `WEBHOOK_SECRET_PREVIOUS`. If neither is set, the endpoints are open to
   * everyone, with a warning. An empty secret is an error (`OPTION_INVALID`), also in the environment.
   */
  secret?: string | readonly string[] | false;
  /**
   * Whether to accept `?secret=` in the URL, for senders that cannot set headers. Default `false`: proxies log URLs.
   */
  secretInQuery?: boolean;
  /**
   * The password (HTTP Basic, any user name) for the dashboard. Default: `DASHBOARD_TOKEN`. Without a password, the
   * dashboard only opens in a browser on this machine, and never in a Space or with a public address (`PUBLIC_URL`,
   * `launch({ publicUrl })`).
   */
  dashboardToken?: string;
  /**
   * Where to store the deliveries of background endpoints: a URL, which overrides `INBOX_URL`, or your own inbox, which is
   * closed with the server. Default: `INBOX_URL`, else `sqlite:./.hub-webhooks/inbox.db`, or an inbox in memory under a
   * test runner (vitest, `node --test`, or `NODE_ENV=test`).
   */
  inbox?: string | Inbox;
  /** Default: pino on standard output after `launch()` or `ready()` (level `LOG_LEVEL`, else `info`), else the console. */
  logger?: Logger;
  /**
   * A Hono app with middleware on it, such as a rate limit, an allow list or tracing. The built-in routes are added behind
   * everything that is registered on it, so its middleware runs for deliveries, the landing page, `/health`, `/metrics` and
   * the dashboard, and its routes take precedence. Its `onError` and `notFound` stay. Register middleware before you create
   * the server: afterwards `app.use()` throws `MIDDLEWARE_TOO_LATE`. Default: an app without middleware.
   *
   * @example
   * ```ts
   * import { Hono } from "hono";
   * import { secureHeaders } from "hono/secure-headers";
   *
   * const app = new Hono();
   * app.use(secureHeaders());
   * const server = new WebhooksServer({ app });
   * ```
   */
  app?: HonoApp;
  /**
   * The path under which another app or a proxy mounts this server, as the client sees it, such as `/hub`. The URLs and
   * links of the landing page begin with it. Requests match with the prefix and without it, so it does not matter whether
   * the mount removes it. Default: the prefix of `parent.route(prefix, server.app)`, else none.
   *
   * @example
   * ```ts
   * // app/api/webhooks/[...path]/route.ts of a Next.js app
   * const server = new WebhooksServer({ basePath: "/api" });
   * ```
   */
  basePath?: string;
  /**
   * Whether `X-Forwarded-Proto`, `X-Forwarded-Host` and `X-Forwarded-Prefix` are used for the URLs and links of the landing
   * page. Set it only where a proxy sets or removes all three: otherwise any client can choose what the page shows. Default
   * `false`.
   */
  trustProxy?: boolean;
  /** Max size of a body in bytes. Default 10 MiB: the payload of a bucket may list 10,000 files. */
  bodyLimit?: number;
  /** The landing page at `GET /`: HTML, a Hono app, a function that returns a page, or `false` for none. Default: built in. */
  landingPage?: LandingPage;
  /**
   * Whether to serve metrics for Prometheus at `GET /metrics`. Requires the package `prom-client`. Default: whether
   * `METRICS` is 1.
   */
  metrics?: boolean;
}
/**
 * Receives webhooks of the Hub: `POST /webhooks/<endpoint>` runs your handler and answers with its result.
 *
 * It needs no Node APIs until you launch it: `server.fetch` runs wherever Hono runs.
 *
 * @example
 * ```ts
 * const server = new WebhooksServer();
 * server.webhook(async function trigger_training(payload) {
 *   if (payload.repo.type === "dataset" && payload.event.action === "update") return { training: true };
 * });
 * export default server;
 * await server.launch();
 * ```
 */
export declare class WebhooksServer {
  #private;
  /** Registers handlers as endpoints, before or after the launch: see {@link WebhookFunction}. */
  readonly webhook: WebhookFunction;
  /**
   * The Hono app, for your own routes: the option `app`, if set. Middleware cannot be added to it: `server.app.use()`
   * throws `MIDDLEWARE_TOO_LATE`, because the built-in routes are registered already.
   */
  readonly app: Hono;
  /** The deliveries of the background endpoints. */
  readonly inbox: ServerInbox;
  /** @throws `OPTION_INVALID` */
  constructor(options?: WebhooksServerOptions);
  /** Names of the endpoints, in the order of their registration. */
  get endpointNames(): readonly string[];
  /**
   * Answers a request. Hono's adapters, Bun, Deno and workers call it. In a worker, the secret is
   * `environment.WEBHOOK_SECRET`.
   */
  get fetch(): (request: Request, environment?: unknown, context?: Parameters<Hono["fetch"]>[2]) => Response | Promise<Response>;
  /**
   * Sends a request to this server without a socket, for tests.
   *
   * @example
   * ```ts
   * const response = await server.request("/webhooks/retrain", { method: "POST", headers, body });
   * ```
   */
  request(input: string | Request, init?: RequestInit): Promise<Response>;
  /**
   * Validates, filters and runs a payload without HTTP and without a secret, for tests. You can omit `endpoint` if there
   * is only one.
   *
   * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`, `PAYLOAD_INVALID`.
   * @example
   * ```ts
   * const outcome = await server.receive(webhookPayload("repo.content"), { endpoint: "retrain" });
   * ```
   */
  receive(payload: unknown, { endpoint: name, id }?: {
    endpoint?: string;
    id?: string;
  }): Promise<Outcome>;
  /**
   * Prepares the server without listening: checks the settings, sets up the logger, logs configuration warnings, and,
   * if there are background endpoints, opens the inbox and resumes its deliveries. Call it before another server passes
   * requests to `server.fetch`. `launch()` includes it.
   *
   * @throws `OPTION_INVALID` when `WEBHOOK_SECRET` is empty, `LOG_LEVEL` or `INBOX_URL` is invalid, or metrics are
   * enabled without `prom-client`; `INBOX_UNUSABLE`.
   */
  ready(): Promise<void>;
  /**
   * Starts listening, opens the tunnel if you set one, and logs the URLs to register on the Hub. By default it also
   * handles SIGTERM and SIGINT: see {@link LaunchOptions.handleSignals}.
   *
   * When `hub-webhooks dev`, `hub-webhooks sync` or a job runs your file, that tool decides whether and where the server
   * listens, and these options have no effect. Bun and `deno serve` do not serve the default export a second time.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`. With `handleSignals`, it logs the error
   * and exits with code 1 instead.
   * @example
   * ```ts
   * const { url } = await server.launch({ port: 0, handleSignals: false });
   * ```
   */
  launch(options?: LaunchOptions): Promise<LaunchedServer>;
  /** Stops accepting requests, finishes those in progress, and closes the tunnel. You can call it twice. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
  /** What tools need, such as those that register its endpoints on the Hub. */
  [serverDetails](): ServerDetails;
}
export type { Action, Backoff, BucketContentPayload, Delivery, DeliveryAttempt, DeliveryCounts, DeliveryKey, DeliveryPage, DeliveryStatus, DiscussionCommentPayload, DiscussionPayload, Duration, EndpointOptions, FilterOptions, GitContentPayload, Handler, HandlerContext, Inbox, KnownScope, LandingInfo, LandingPage, LaunchOptions, LaunchedServer, ListOptions, LogMethod, Logger, Outcome, PayloadFor, PayloadOf, QueueOptions, ReceivedDelivery, RepoConfigPayload, RepoContentPayload, RepoPattern, RepoPayload, RepoType, RetryPolicy, RunnableDelivery, Scope$1 as Scope, ServerInbox, StoredDelivery, Watch, WebhookDecorator, WebhookDomain, WebhookErrorCode, WebhookErrorCodes, WebhookErrorOptions, WebhookFunction, WebhookPayload, WebhooksServerOptions };