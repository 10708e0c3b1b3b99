import * as z from "zod/mini";
import { $strip } from "zod/v4/core";
import { StandardSchemaV1 } from "@standard-schema/spec";
import { Hono } from "hono";
import "hono/quick";
import "zod";
/**
 * Every error code of this package, with its cause and fix. Branch on codes, never on messages.
 *
 * The type of each code lists where the code occurs: in the `response` to a delivery or a browser, in an error that is
 * `thrown` by this package or by a handler, in a failed call of the `hub` API, or in an error that is only `logged` and
 * stored with an attempt.
 */
interface WebhookErrorCodes {
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
type WebhookErrorCode = keyof WebhookErrorCodes;
/** The second argument of the {@link WebhookError} constructor. */
interface WebhookErrorOptions {
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
declare const brand: unique symbol;
declare const hubBrand: unique symbol;
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
declare class WebhookError extends Error {
  readonly name: string;
  /** The error code, for programs. See {@link WebhookErrorCodes}. */
  readonly code: WebhookErrorCode;
  /** The HTTP status of the error, if it has one. */
  readonly status: number | undefined;
  /** Whether a retry can succeed. */
  readonly retryable: boolean;
  /** Seconds to wait before trying again, if known. */
  readonly retryAfterSeconds: number | undefined;
  readonly [brand] = true;
  constructor(message: string, options: WebhookErrorOptions);
  /**
   * Whether a value is a `WebhookError`. Unlike `instanceof`, this method also recognizes errors of other installed copies
   * of this package. Never throws, even for values whose fields cannot be read.
   */
  static isInstance(value: unknown): value is WebhookError;
}
/** The second argument of the {@link HubError} constructor. */
interface HubErrorOptions extends WebhookErrorOptions {
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
declare class HubError extends WebhookError {
  readonly name = "HubError";
  /** The `X-Request-Id` of the response. Include the ID when you contact the Hub's support. */
  readonly requestId: string | undefined;
  /** The arguments that caused the error, such as `watched[0].type`. */
  readonly fields: readonly string[];
  readonly [hubBrand] = true;
  constructor(message: string, options: HubErrorOptions);
  /** Whether a value is a `HubError` of any installed copy of this package. Never throws. */
  static isInstance(value: unknown): value is HubError;
}
/** The known repository types. Payloads can contain newer types. */
declare const repoTypes: readonly ["model", "dataset", "space", "bucket", "kernel"];
/** The known actions. Payloads can contain newer actions. */
declare const actions$1: readonly ["create", "delete", "update", "move"];
/** The known scopes. Payloads can contain newer, narrower scopes such as `repo.config.dois`. */
declare const scopes$1: readonly ["repo", "repo.content", "repo.config", "discussion", "discussion.comment"];
/** A scope that is known to this release. */
type KnownScope = (typeof scopes$1)[number];
/** A scope. Editors complete the known scopes, and other strings are valid for future scopes. */
type Scope$1 = KnownScope | (string & {});
/** A repository type. Editors complete the known types, and other strings are valid for future types. */
type RepoType = (typeof repoTypes)[number] | (string & {});
/** The action of an event. Editors complete the known actions, and other strings are valid for future actions. */
type Action = (typeof actions$1)[number] | (string & {});
/** A known value, or a value that the Hub added after this release. Editors suggest the known values. */
type Open<Known extends string> = Known | (string & {});
/** A repository by name and type. */
declare const repoRef: z.ZodMiniObject<{
  name: z.ZodMiniString<string>;
  type: z.ZodMiniType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
}, z.core.$strict>;
/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
type RepoRef = {
  /** `<owner>/<repo_name>`, or `<repo_name>` for the oldest repositories, such as `gpt2`. */
  name: string;
  type: Open<(typeof repoTypes)[number]>;
};
/** A repository whose type is known to this release. */
type KnownRepoRef = z.output<typeof repoRef>;
/** The built-in roles of all organizations. An organization can also define custom roles. */
declare const organizationRoles: readonly ["admin", "write", "contributor", "read", "no_access"];
/** A role in an organization or in a resource group: a built-in role, or the name of a custom role. */
type OrganizationRole = (typeof organizationRoles)[number] | (string & {});
/** The decoded query of an operation. All fields are optional. */
type SearchOf<Query extends z.ZodMiniType> = { [Name in keyof z.output<Query>]?: z.output<Query>[Name] | undefined; };
/** The user of a token, and the permissions of the token. */
declare const whoami: z.ZodMiniObject<{
  email: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniString<string>>>;
  canPay: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  billingMode: z.ZodMiniOptional<z.ZodMiniType<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">, z.core.$ZodTypeInternals<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">>>>;
  periodEnd: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniNumber<number>>>;
  type: z.ZodMiniLiteral<"user">;
  id: z.ZodMiniString<string>;
  name: z.ZodMiniString<string>;
  fullname: z.ZodMiniString<string>;
  avatarUrl: z.ZodMiniString<string>;
  emailVerified: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  isPro: z.ZodMiniBoolean<boolean>;
  orgs: z.ZodMiniArray<z.ZodMiniObject<{
    email: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniString<string>>>;
    canPay: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    billingMode: z.ZodMiniOptional<z.ZodMiniType<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">, z.core.$ZodTypeInternals<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">>>>;
    periodEnd: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniNumber<number>>>;
    type: z.ZodMiniLiteral<"org">;
    id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    plan: z.ZodMiniOptional<z.ZodMiniType<Open<"academia" | "enterprise" | "plus" | "team">, Open<"academia" | "enterprise" | "plus" | "team">, z.core.$ZodTypeInternals<Open<"academia" | "enterprise" | "plus" | "team">, Open<"academia" | "enterprise" | "plus" | "team">>>>;
    roleInOrg: z.ZodMiniOptional<z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>>;
    securityRestrictions: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniType<Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">, Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">, z.core.$ZodTypeInternals<Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">, Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">>>>>;
    resourceGroups: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    }, z.core.$strict>>>;
  }, z.core.$strict>>;
  auth: z.ZodMiniObject<{
    type: z.ZodMiniString<string>;
    accessToken: z.ZodMiniOptional<z.ZodMiniObject<{
      displayName: z.ZodMiniString<string>;
      role: z.ZodMiniType<Open<"fineGrained" | "god" | "read" | "write">, Open<"fineGrained" | "god" | "read" | "write">, z.core.$ZodTypeInternals<Open<"fineGrained" | "god" | "read" | "write">, Open<"fineGrained" | "god" | "read" | "write">>>;
      fineGrained: z.ZodMiniOptional<z.ZodMiniObject<{
        scoped: z.ZodMiniArray<z.ZodMiniObject<{
          entity: z.ZodMiniObject<{
            _id: z.ZodMiniString<string>;
            name: z.ZodMiniOptional<z.ZodMiniString<string>>;
            type: z.ZodMiniType<Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">, Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">, z.core.$ZodTypeInternals<Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">, Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">>>;
          }, z.core.$strict>;
          permissions: z.ZodMiniArray<z.ZodMiniString<string>>;
        }, z.core.$strict>>;
        global: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniType<Open<"discussion.write" | "post.write">, Open<"discussion.write" | "post.write">, z.core.$ZodTypeInternals<Open<"discussion.write" | "post.write">, Open<"discussion.write" | "post.write">>>>>;
        canReadGatedRepos: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
      }, z.core.$strict>>;
      createdAt: z.ZodMiniString<string>;
    }, z.core.$strict>>;
    expiresAt: z.ZodMiniOptional<z.ZodMiniString<string>>;
    resource: z.ZodMiniOptional<z.ZodMiniObject<{
      sub: z.ZodMiniString<string>;
    }, z.core.$strict>>;
  }, z.core.$strict>;
}, z.core.$strict>;
/** The user of a token, and the permissions of the token. */
type Whoami = z.output<typeof whoami>;
/** The method of one log level of a {@link Logger}. Takes fields and an optional message, or only a message. */
interface LogMethod {
  (fields: object, message?: string): void;
  (message: string): void;
}
/**
 * The logger interface of this package. A pino logger implements it. `console` does not implement it, because `console`
 * has no `child` method.
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
/** Milliseconds per unit of a {@link Duration}. */
declare const unitMs: {
  readonly ms: 1;
  readonly s: 1000;
  readonly m: 60000;
  readonly h: 3600000;
  readonly d: 86400000;
};
type Unit = keyof typeof unitMs;
type LeadingZeros = "" | "0" | "00" | "000";
type NonZeroDigit = "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
type DurationText = (`${NonZeroDigit}${string}` | `0.${string}`) & (`${bigint}${Unit}` | `${bigint}.${LeadingZeros}${bigint}${Unit}`);
/**
 * A duration longer than zero: a number of milliseconds, or a string with a unit (`ms`, `s`, `m`, `h`, `d`), such as
 * `"250ms"`, `"25s"`, `"10m"`, `"1.5h"`, or `"14d"`. The maximum is 24 days, because a JavaScript timer cannot wait
 * longer.
 */
type Duration = number | DurationText;
/** The options for all calls. */
interface CallOptions {
  /**
   * Cancels the call, even while the client waits for the next attempt. The call rejects with the signal's abort reason.
   */
  signal?: AbortSignal | undefined;
}
/**
 * A paginated list. `for await` iterates over all items, and requests each page only when the page is needed.
 *
 * @example
 * ```ts
 * for await (const { user, role } of hub.organizations.members("acme")) console.log(user, role);
 * ```
 */
declare class Pages<Item> implements AsyncIterable<Item> {
  #private;
  /** Iterates over the items of all pages. */
  [Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined>;
  /** Iterates over the pages. Each page is an array of items. */
  pages(): AsyncGenerator<Item[], void, undefined>;
}
/** The job in a request to start a job, or to create or update a webhook. */
declare const webhookJobRequest: z.ZodMiniObject<{
  flavor: z.ZodMiniType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  spaceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  dockerImage: z.ZodMiniOptional<z.ZodMiniString<string>>;
  arguments: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  command: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  environment: z.ZodMiniDefault<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  secrets: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  arch: z.ZodMiniOptional<z.ZodMiniType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>;
  timeoutSeconds: z.ZodMiniDefault<z.ZodMiniNullable<z.ZodMiniInt>>;
  attempts: z.ZodMiniDefault<z.ZodMiniInt>;
  labels: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  volumes: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
    source: z.ZodMiniString<string>;
    mountPath: z.ZodMiniString<string>;
    revision: z.ZodMiniOptional<z.ZodMiniString<string>>;
    readOnly: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    path: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strip>>>;
  expose: z.ZodMiniOptional<z.ZodMiniObject<{
    ports: z.ZodMiniArray<z.ZodMiniInt>;
    portsPublic: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniInt>>;
  }, z.core.$strip>>;
  ssh: z.ZodMiniOptional<z.ZodMiniObject<{
    enabled: z.ZodMiniDefault<z.ZodMiniBoolean<boolean>>;
  }, z.core.$strip>>;
  resourceGroupId: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** The job in a request to start a job. */
declare const jobRequest: z.ZodMiniObject<{
  flavor: z.ZodMiniType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  spaceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  dockerImage: z.ZodMiniOptional<z.ZodMiniString<string>>;
  arguments: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  command: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  environment: z.ZodMiniDefault<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  secrets: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  arch: z.ZodMiniOptional<z.ZodMiniType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>;
  timeoutSeconds: z.ZodMiniDefault<z.ZodMiniNullable<z.ZodMiniInt>>;
  attempts: z.ZodMiniDefault<z.ZodMiniInt>;
  labels: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  volumes: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
    source: z.ZodMiniString<string>;
    mountPath: z.ZodMiniString<string>;
    revision: z.ZodMiniOptional<z.ZodMiniString<string>>;
    readOnly: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    path: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strip>>>;
  expose: z.ZodMiniOptional<z.ZodMiniObject<{
    ports: z.ZodMiniArray<z.ZodMiniInt>;
    portsPublic: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniInt>>;
  }, z.core.$strip>>;
  ssh: z.ZodMiniOptional<z.ZodMiniObject<{
    enabled: z.ZodMiniDefault<z.ZodMiniBoolean<boolean>>;
  }, z.core.$strip>>;
  resourceGroupId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  network: z.ZodMiniOptional<z.ZodMiniObject<{
    group: z.ZodMiniString<string>;
    aliases: z.ZodMiniDefault<z.ZodMiniArray<z.ZodMiniString<string>>>;
  }, z.core.$strip>>;
}, z.core.$strip>;
/** The job in a webhook that the Hub returns. */
declare const webhookJob: z.ZodMiniObject<{
  dockerImage: z.ZodMiniOptional<z.ZodMiniString<string>>;
  spaceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  environment: z.ZodMiniDefault<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  arguments: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  command: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  flavor: z.ZodMiniType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  timeoutSeconds: z.ZodMiniDefault<z.ZodMiniNullable<z.ZodMiniInt>>;
  labels: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
  secrets: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
}, z.core.$strict>;
/** The job in a request to start a job, or to create or update a webhook, with the values of its secrets. */
type WebhookJobRequest = z.input<typeof webhookJobRequest>;
/**
 * The job in a webhook that the Hub returns, with the names of its secrets. The Hub does not return `arch`, `attempts`,
 * `volumes`, `expose`, `ssh`, or `resourceGroupId`.
 */
type WebhookJob = z.output<typeof webhookJob>;
/** The stages of a job. */
declare const jobStages: readonly ["COMPLETED", "CANCELED", "ERROR", "DELETED", "RUNNING", "SCHEDULING"];
/** A job that is scheduled, running, or finished. */
declare const job: z.ZodMiniObject<{
  type: z.ZodMiniOptional<z.ZodMiniLiteral<"job">>;
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  startedAt: z.ZodMiniOptional<z.ZodMiniString<string>>;
  finishedAt: z.ZodMiniOptional<z.ZodMiniString<string>>;
  durations: z.ZodMiniOptional<z.ZodMiniObject<{
    schedulingSecs: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
    runningSecs: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
    totalSecs: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  }, z.core.$strict>>;
  owner: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    type: z.ZodMiniOptional<z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>>;
    avatarUrl: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>;
  createdBy: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
  }, z.core.$strict>;
  initiator: z.ZodMiniOptional<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniEnum<{
      org: "org";
      user: "user";
    }>;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    type: z.ZodMiniLiteral<"scheduled-job">;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    type: z.ZodMiniLiteral<"duplicated-job">;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    type: z.ZodMiniLiteral<"webhook">;
  }, z.core.$strict>], "type">>;
  spaceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  dockerImage: z.ZodMiniOptional<z.ZodMiniString<string>>;
  command: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  arguments: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  environment: z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>;
  secrets: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  flavor: z.ZodMiniType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  arch: z.ZodMiniOptional<z.ZodMiniType<Open<"amd64" | "arm64">, Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<Open<"amd64" | "arm64">, Open<"amd64" | "arm64">>>>;
  timeout: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  retry: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  labels: z.ZodMiniOptional<z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>;
  volumes: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniString<string>;
    source: z.ZodMiniString<string>;
    mountPath: z.ZodMiniString<string>;
    revision: z.ZodMiniOptional<z.ZodMiniString<string>>;
    readOnly: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    path: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>>;
  expose: z.ZodMiniOptional<z.ZodMiniObject<{
    ports: z.ZodMiniArray<z.ZodMiniInt>;
    portsPublic: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniInt>>;
  }, z.core.$strict>>;
  network: z.ZodMiniOptional<z.ZodMiniObject<{
    group: z.ZodMiniString<string>;
    aliases: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  }, z.core.$strict>>;
  resourceGroupId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  resourceGroup: z.ZodMiniOptional<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    numUsers: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  }, z.core.$strict>>;
  status: z.ZodMiniObject<{
    stage: z.ZodMiniEnum<{
      CANCELED: "CANCELED";
      COMPLETED: "COMPLETED";
      DELETED: "DELETED";
      ERROR: "ERROR";
      RUNNING: "RUNNING";
      SCHEDULING: "SCHEDULING";
    }>;
    message: z.ZodMiniNullable<z.ZodMiniString<string>>;
    cancelReason: z.ZodMiniOptional<z.ZodMiniString<string>>;
    failureCount: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
    exposeUrls: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
    sshUrl: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>;
  hfToken: z.ZodMiniOptional<z.ZodMiniObject<{
    ownerName: z.ZodMiniString<string>;
    orgName: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tokenRole: z.ZodMiniOptional<z.ZodMiniType<Open<"fineGrained" | "read" | "write">, Open<"fineGrained" | "read" | "write">, z.core.$ZodTypeInternals<Open<"fineGrained" | "read" | "write">, Open<"fineGrained" | "read" | "write">>>>;
    tokenId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    settingsUrl: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
}, z.core.$strict>;
/** Hardware that a job can request, with its price. */
declare const jobHardware: z.ZodMiniObject<{
  name: z.ZodMiniString<string>;
  prettyName: z.ZodMiniString<string>;
  cpu: z.ZodMiniString<string>;
  ram: z.ZodMiniString<string>;
  ephemeralStorage: z.ZodMiniString<string>;
  accelerator: z.ZodMiniNullable<z.ZodMiniObject<{
    type: z.ZodMiniType<Open<"gpu" | "neuron">, Open<"gpu" | "neuron">, z.core.$ZodTypeInternals<Open<"gpu" | "neuron">, Open<"gpu" | "neuron">>>;
    model: z.ZodMiniString<string>;
    quantity: z.ZodMiniString<string>;
    vram: z.ZodMiniString<string>;
    manufacturer: z.ZodMiniType<Open<"AWS" | "Nvidia">, Open<"AWS" | "Nvidia">, z.core.$ZodTypeInternals<Open<"AWS" | "Nvidia">, Open<"AWS" | "Nvidia">>>;
  }, z.core.$strict>>;
  unitCostMicroUSD: z.ZodMiniNumber<number>;
  unitCostUSD: z.ZodMiniNumber<number>;
  unitLabel: z.ZodMiniString<string>;
}, z.core.$strict>;
/** Hardware that a job can request, with its price. */
type JobHardware = z.output<typeof jobHardware>;
/** A job that is scheduled, running, or finished. */
type Job = z.output<typeof job>;
/** The stage of a job. */
type JobStage = (typeof jobStages)[number];
/** The options of calls for jobs. */
interface JobCallOptions extends CallOptions {
  /** The user or organization that owns the job. Default: the token's user. */
  namespace?: string | undefined;
}
/** The job to start with {@link HubJobs.run}. Set either `image` or `space`. */
interface JobRequest extends Omit<z.input<typeof jobRequest>, "dockerImage" | "spaceId" | "flavor" | "timeoutSeconds">, Pick<JobCallOptions, "namespace"> {
  /** The Docker image, such as `python:3.13`. */
  image?: string | undefined;
  /** The Space whose image runs the job, as `owner/name`. */
  space?: string | undefined;
  /** The hardware. Default `cpu-basic`. */
  flavor?: z.input<typeof jobRequest>["flavor"] | undefined;
  /** The Hub stops the job after this time, rounded up to whole seconds. By default, the Hub chooses the timeout. */
  timeout?: Duration | undefined;
}
/** A search for jobs. */
interface JobSearch {
  /** Selects jobs in one of these stages. */
  stage?: JobStage | JobStage[] | undefined;
  /** Selects jobs with all these labels. */
  labels?: Readonly<Record<string, string>> | undefined;
}
/** The options of {@link HubJobs.logs}. */
interface JobLogOptions extends JobCallOptions {
  /** Whether to wait for new lines until the job ends. By default, only the existing lines are returned. */
  follow?: boolean | undefined;
  /** Skips all existing lines except for the last ones. This is the maximum number of lines to keep. */
  tail?: number | undefined;
}
/**
 * The methods of `hub.jobs` for jobs on the Hub's infrastructure.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields. Methods with a job ID throw `HUB_NOT_FOUND` if the namespace has no such job.
 */
declare class HubJobs {
  #private;
  /**
   * Lists the hardware that a job can request. Pass a returned `name` as the `flavor` of a job.
   *
   * @example
   * ```ts
   * for (const { name, unitCostUSD, unitLabel } of await hub.jobs.hardware()) console.log(name, unitCostUSD, unitLabel);
   * ```
   */
  hardware(options?: CallOptions): Promise<JobHardware[]>;
  /**
   * Starts a job. Returns as soon as the job is scheduled. The call is retried only if the Hub cannot have processed the call.
   *
   * @example
   * ```ts
   * const { id } = await hub.jobs.run({
   *   image: "python:3.13",
   *   command: ["python", "-c", "print('Hello')"],
   *   secrets: { HF_TOKEN: process.env.HF_TOKEN ?? "" },
   *   timeout: "10m",
   * });
   * ```
   */
  run(request: JobRequest, options?: CallOptions): Promise<Job>;
  /**
   * Lists the jobs of a namespace, newest first. Requests each page only when the page is needed.
   *
   * @example
   * ```ts
   * for await (const { id, status } of hub.jobs.list({ stage: "RUNNING", labels: { team: "data" } })) console.log(id, status);
   * ```
   */
  list({ stage, labels }?: JobSearch, options?: JobCallOptions): Pages<Job>;
  /** Counts the jobs of a namespace, or the jobs in some stages. */
  count({ stage }?: Pick<JobSearch, "stage">, options?: JobCallOptions): Promise<number>;
  /** Returns a job. */
  get(jobId: string, options?: JobCallOptions): Promise<Job>;
  /**
   * Yields the lines that a job has printed. With `follow`, waits for new lines until the job ends, and reconnects if the connection
   * is lost. Without `follow`, stops 5 s after the last line of a running job, because the Hub does not mark the last line.
   *
   * @example
   * ```ts
   * for await (const { line } of hub.jobs.logs(id, { follow: true })) console.log(line);
   * ```
   */
  logs(jobId: string, options?: JobLogOptions): AsyncGenerator<JobLogLine, void, undefined>;
  /** Cancels a job. Has no effect on a finished job. */
  cancel(jobId: string, options?: JobCallOptions): Promise<Job>;
  /** Replaces all labels of a job. */
  setLabels(jobId: string, labels: Readonly<Record<string, string>>, options?: JobCallOptions): Promise<Job>;
}
/** A line that a job has printed. */
interface JobLogLine {
  /** The time of the line in ISO 8601 format. */
  timestamp: string;
  line: string;
}
/** A notification. Its fields depend on `type`. */
declare const notification: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
  updatedAt: z.ZodMiniString<string>;
  read: z.ZodMiniBoolean<boolean>;
  discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"paper">;
  paper: z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
  }, z.core.$strict>;
  paperDiscussion: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    participating: z.ZodMiniArray<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      avatar: z.ZodMiniString<string>;
      user: z.ZodMiniString<string>;
    }, z.core.$strict>>;
    paperId: z.ZodMiniString<string>;
  }, z.core.$strict>;
}, z.core.$strict>, z.ZodMiniObject<{
  updatedAt: z.ZodMiniString<string>;
  read: z.ZodMiniBoolean<boolean>;
  discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"repo">;
  repo: z.ZodMiniType<RepoRef, RepoRef, z.core.$ZodTypeInternals<RepoRef, RepoRef>>;
  discussion: z.ZodMiniObject<{
    num: z.ZodMiniNumber<number>;
    title: z.ZodMiniString<string>;
    status: z.ZodMiniType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
    id: z.ZodMiniString<string>;
    isPullRequest: z.ZodMiniBoolean<boolean>;
    participating: z.ZodMiniArray<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      avatar: z.ZodMiniString<string>;
      user: z.ZodMiniString<string>;
    }, z.core.$strict>>;
  }, z.core.$strict>;
}, z.core.$strict>, z.ZodMiniObject<{
  updatedAt: z.ZodMiniString<string>;
  read: z.ZodMiniBoolean<boolean>;
  discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"post">;
  post: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    slug: z.ZodMiniString<string>;
    authorName: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
    participating: z.ZodMiniArray<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      avatar: z.ZodMiniString<string>;
      user: z.ZodMiniString<string>;
    }, z.core.$strict>>;
  }, z.core.$strict>;
}, z.core.$strict>, z.ZodMiniObject<{
  updatedAt: z.ZodMiniString<string>;
  read: z.ZodMiniBoolean<boolean>;
  discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"community_blog">;
  blog: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    slug: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
    canonical: z.ZodMiniBoolean<boolean>;
    participating: z.ZodMiniArray<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      avatar: z.ZodMiniString<string>;
      user: z.ZodMiniString<string>;
    }, z.core.$strict>>;
    authorName: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>;
}, z.core.$strict>], "type">;
/** A page of notifications. */
declare const notificationPage: z.ZodMiniObject<{
  notifications: z.ZodMiniArray<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    updatedAt: z.ZodMiniString<string>;
    read: z.ZodMiniBoolean<boolean>;
    discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"paper">;
    paper: z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      title: z.ZodMiniString<string>;
    }, z.core.$strict>;
    paperDiscussion: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
      participating: z.ZodMiniArray<z.ZodMiniObject<{
        _id: z.ZodMiniString<string>;
        avatar: z.ZodMiniString<string>;
        user: z.ZodMiniString<string>;
      }, z.core.$strict>>;
      paperId: z.ZodMiniString<string>;
    }, z.core.$strict>;
  }, z.core.$strict>, z.ZodMiniObject<{
    updatedAt: z.ZodMiniString<string>;
    read: z.ZodMiniBoolean<boolean>;
    discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"repo">;
    repo: z.ZodMiniType<RepoRef, RepoRef, z.core.$ZodTypeInternals<RepoRef, RepoRef>>;
    discussion: z.ZodMiniObject<{
      num: z.ZodMiniNumber<number>;
      title: z.ZodMiniString<string>;
      status: z.ZodMiniType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
      id: z.ZodMiniString<string>;
      isPullRequest: z.ZodMiniBoolean<boolean>;
      participating: z.ZodMiniArray<z.ZodMiniObject<{
        _id: z.ZodMiniString<string>;
        avatar: z.ZodMiniString<string>;
        user: z.ZodMiniString<string>;
      }, z.core.$strict>>;
    }, z.core.$strict>;
  }, z.core.$strict>, z.ZodMiniObject<{
    updatedAt: z.ZodMiniString<string>;
    read: z.ZodMiniBoolean<boolean>;
    discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"post">;
    post: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
      slug: z.ZodMiniString<string>;
      authorName: z.ZodMiniString<string>;
      title: z.ZodMiniString<string>;
      participating: z.ZodMiniArray<z.ZodMiniObject<{
        _id: z.ZodMiniString<string>;
        avatar: z.ZodMiniString<string>;
        user: z.ZodMiniString<string>;
      }, z.core.$strict>>;
    }, z.core.$strict>;
  }, z.core.$strict>, z.ZodMiniObject<{
    updatedAt: z.ZodMiniString<string>;
    read: z.ZodMiniBoolean<boolean>;
    discussionEventId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"community_blog">;
    blog: z.ZodMiniObject<{
      id: z.ZodMiniString<string>;
      slug: z.ZodMiniString<string>;
      title: z.ZodMiniString<string>;
      canonical: z.ZodMiniBoolean<boolean>;
      participating: z.ZodMiniArray<z.ZodMiniObject<{
        _id: z.ZodMiniString<string>;
        avatar: z.ZodMiniString<string>;
        user: z.ZodMiniString<string>;
      }, z.core.$strict>>;
      authorName: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, z.core.$strict>;
  }, z.core.$strict>], "type">>;
  count: z.ZodMiniObject<{
    view: z.ZodMiniNumber<number>;
    unread: z.ZodMiniNumber<number>;
    all: z.ZodMiniNumber<number>;
  }, z.core.$strict>;
  start: z.ZodMiniNumber<number>;
}, z.core.$strict>;
/** A search for notifications. Each field narrows the result. */
declare const search$2: z.ZodMiniObject<{
  p: z.ZodMiniDefault<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniInt>>;
  readStatus: z.ZodMiniDefault<z.ZodMiniType<Open<"all" | "unread">, Open<"all" | "unread">, z.core.$ZodTypeInternals<Open<"all" | "unread">, Open<"all" | "unread">>>>;
  repoType: z.ZodMiniOptional<z.ZodMiniType<Open<"bucket" | "dataset" | "kernel" | "model" | "space">, Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<Open<"bucket" | "dataset" | "kernel" | "model" | "space">, Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>>;
  repoName: z.ZodMiniOptional<z.ZodMiniString<string>>;
  postAuthor: z.ZodMiniOptional<z.ZodMiniString<string>>;
  paperId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  articleId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  mention: z.ZodMiniDefault<z.ZodMiniType<Open<"all" | "mentions" | "participating">, Open<"all" | "mentions" | "participating">, z.core.$ZodTypeInternals<Open<"all" | "mentions" | "participating">, Open<"all" | "mentions" | "participating">>>>;
  lastUpdate: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** A notification. Its fields depend on `type`. */
type Notification = z.output<typeof notification>;
/** A page of notifications, with the number of matches before it (`start`) and in total (`count`). */
type NotificationPage = z.output<typeof notificationPage>;
/** A search for notifications. `p` is the page number, starting at 0. The other fields narrow the result. */
type NotificationSearch = SearchOf<typeof search$2>;
/** The notifications to delete or to mark. */
interface NotificationSelection extends NotificationSearch {
  /**
   * The IDs of the discussions: `discussion.id`, `paperDiscussion.id`, `post.id`, or `blog.id` of a notification. To delete
   * notifications, pass at least one ID of 24 lowercase hexadecimal digits.
   */
  discussionIds?: readonly string[] | undefined;
  /** Whether to select all notifications that match the other fields, on all pages, instead of `discussionIds`. Default `false`. */
  applyToAll?: boolean | undefined;
}
/**
 * The methods of `hub.notifications` for the notifications of the token's user.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields.
 */
declare class HubNotifications {
  #private;
  /**
   * Returns one page of notifications, newest first. `p` is the page number, starting at 0. The other fields are
   * filters.
   *
   * @example
   * ```ts
   * const { notifications, count } = await hub.notifications.list({ readStatus: "unread", repoType: "dataset" });
   * ```
   */
  list(search?: NotificationSearch, options?: CallOptions): Promise<NotificationPage>;
  /**
   * Deletes the notifications of the given discussions, or all notifications that match a search. Pass `lastUpdate` to keep
   * notifications that arrived after you listed them. Without `lastUpdate`, the client does not retry a call that the Hub may have
   * processed.
   *
   * @example
   * ```ts
   * await hub.notifications.delete({ discussionIds: ["65b2f0a1c3d4e5f60718293a"] });
   * await hub.notifications.delete({ applyToAll: true, repoType: "dataset", repoName: "acme/old-data" });
   * ```
   */
  delete(selection: NotificationSelection, options?: CallOptions): Promise<void>;
  /**
   * Marks the notifications of the given discussions, or all notifications that match a search, as read. With `read: false`, marks
   * the notifications as unread.
   *
   * @example
   * ```ts
   * await hub.notifications.markAsRead({ applyToAll: true, lastUpdate: new Date().toISOString() });
   * ```
   */
  markAsRead(selection: NotificationSelection & {
    read?: boolean | undefined;
  }, options?: CallOptions): Promise<void>;
}
/** All types of audit log events. */
declare const auditLogTypes: readonly ["billing.update_payment_method", "billing.create_customer", "billing.remove_payment_method", "billing.aws_add", "billing.aws_remove", "billing.gcp_add", "billing.gcp_remove", "billing.marketplace_approve", "billing.cancel_subscription", "billing.renew_subscription", "billing.start_subscription", "billing.un_cancel_subscription", "billing.update_subscription", "billing.update_subscription_plan", "collection.create", "collection.delete", "org.add_user", "org.change_role", "org.create", "org.delete", "org.restore", "org.invite_user", "org.invite.accept", "org.invite.email", "org.join.from_domain", "org.join.automatic", "org.leave", "org.remove_user", "org.rename", "org.rotate_token", "org.sso_login", "org.sso_join", "org.update_join_settings", "org.update_settings", "org.token_approval.enabled", "org.token_approval.disabled", "org.token_approval.authorization_request", "org.token_approval.authorization_request.authorized", "org.token_approval.authorization_request.revoked", "org.token_approval.authorization_request.denied", "org.custom_role.create", "org.custom_role.update", "org.custom_role.delete", "repo.add_secrets", "repo.remove_secrets", "repo.add_secret", "repo.update_secret", "repo.remove_secret", "repo.create", "repo.delete", "repo.disable", "repo.removeDisable", "repo.duplication", "repo.delete_doi", "repo.move", "repo.update_resource_group", "repo.update_settings", "repo.add_variable", "repo.update_variable", "repo.remove_variable", "repo.add_variables", "repo.remove_variables", "repo.delete_lfs_file", "spaces.add_storage", "spaces.remove_storage", "spaces.set_volumes", "spaces.remove_volumes", "spaces.update_hardware", "spaces.update_sleep_time", "resource_group.create", "resource_group.add_users", "resource_group.remove_users", "resource_group.change_role", "resource_group.settings", "resource_group.delete", "jobs.create", "jobs.cancel", "scheduled_job.create", "scheduled_job.delete", "scheduled_job.resume", "scheduled_job.suspend", "scheduled_job.run", "scheduled_job.update_schedule", "oauth.token", "collection.update_resource_group", "org.settings.regions", "org.settings.profile", "org.settings.resource_groups", "org.settings.publisher_gating", "org.settings.inference_providers", "org.settings.inference_providers.keys.add", "org.settings.inference_providers.keys.remove", "org.settings.inference_providers.usage", "org.settings.sso", "org.settings.sso.enable", "org.settings.sso.disable", "org.settings.security.repo_visibility", "org.settings.security.2fa.enable", "org.settings.security.2fa.disable", "org.settings.security.auto_join.enable", "org.settings.security.auto_join.disable", "org.settings.security.members_privacy.enable", "org.settings.security.members_privacy.disable", "org.settings.network", "org.settings.network.ip_restriction.enable", "org.settings.network.ip_restriction.disable", "org.settings.network.auth_enforcement.enable", "org.settings.network.auth_enforcement.disable", "repo.add_trusted_publisher", "repo.remove_trusted_publisher", "jobs.update_labels", "jobs.update_expose", "scheduled_job.update_labels", "org.service_account.create", "org.service_account.delete", "org.service_account.token.create", "org.service_account.token.delete", "org.service_account.token.rotate", "org.service_account.token.update"];
/** The type of an audit log event. */
type AuditLogType = Open<(typeof auditLogTypes)[number]>;
/** An event in the audit log of an organization. */
declare const auditLogEvent: z.ZodMiniObject<{
  _id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  type: z.ZodMiniType<AuditLogType, AuditLogType, z.core.$ZodTypeInternals<AuditLogType, AuditLogType>>;
  data: z.ZodMiniOptional<z.ZodMiniUnknown>;
  message: z.ZodMiniString<string>;
  ip: z.ZodMiniOptional<z.ZodMiniString<string>>;
  location: z.ZodMiniOptional<z.ZodMiniObject<{
    formatted: z.ZodMiniString<string>;
    country: z.ZodMiniOptional<z.ZodMiniString<string>>;
    city: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
  userAgent: z.ZodMiniOptional<z.ZodMiniString<string>>;
  author: z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    user: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"system" | "user">, Open<"system" | "user">, z.core.$ZodTypeInternals<Open<"system" | "user">, Open<"system" | "user">>>;
    deleted: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  }, z.core.$strict>;
  token: z.ZodMiniOptional<z.ZodMiniObject<{
    type: z.ZodMiniOptional<z.ZodMiniLiteral<"access_token">>;
    id: z.ZodMiniOptional<z.ZodMiniString<string>>;
    deleted: z.ZodMiniBoolean<boolean>;
    role: z.ZodMiniOptional<z.ZodMiniType<Open<"fineGrained" | "read" | "write">, Open<"fineGrained" | "read" | "write">, z.core.$ZodTypeInternals<Open<"fineGrained" | "read" | "write">, Open<"fineGrained" | "read" | "write">>>>;
    last4: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
  oauth: z.ZodMiniOptional<z.ZodMiniObject<{
    clientId: z.ZodMiniString<string>;
    name: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
}, z.core.$strict>;
declare const search$1: z.ZodMiniObject<{
  q: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** An event in the audit log of an organization. */
type AuditLogEvent = z.output<typeof auditLogEvent>;
/** A search for events. `q` contains terms such as `author:ada ip:192.0.2.1 type:org.add_user`. */
type AuditLogSearch = SearchOf<typeof search$1>;
/**
 * The network security settings of an organization, such as the networks that can access the organization and the
 * content that its members can access.
 */
declare const networkSecurity: z.ZodMiniObject<{
  blockedUrls: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  allowedUrls: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  enforceAuth: z.ZodMiniUnion<readonly [z.ZodMiniBoolean<boolean>, z.ZodMiniLiteral<"pending">]>;
  enforceIpRestriction: z.ZodMiniBoolean<boolean>;
  highRateLimits: z.ZodMiniUnion<readonly [z.ZodMiniBoolean<boolean>, z.ZodMiniLiteral<"pending">]>;
  ipRanges: z.ZodMiniArray<z.ZodMiniString<string>>;
  blockedContents: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    resource: z.ZodMiniType<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodMiniString<string>;
  }, z.core.$strict>>>;
  allowedContents: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    resource: z.ZodMiniType<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodMiniString<string>;
  }, z.core.$strict>>>;
  keepReposMetadataVisible: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
}, z.core.$strict>;
/** A change of network security. Omitted fields keep their values. */
declare const networkSecurityChange: z.ZodMiniObject<{
  blockedUrls: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  allowedUrls: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  enforceAuth: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  enforceIpRestriction: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  highRateLimits: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  ipRanges: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  blockedContents: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    resource: z.ZodMiniType<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodMiniString<string>;
  }, z.core.$strip>>>;
  allowedContents: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    resource: z.ZodMiniType<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodMiniString<string>;
  }, z.core.$strip>>>;
  keepReposMetadataVisible: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
}, z.core.$strip>;
/**
 * The network security settings of an organization, such as the networks that can access the organization and the
 * content that its members can access. `pending`: a setting was requested but is not approved yet.
 */
type NetworkSecurity = z.output<typeof networkSecurity>;
/** A change of network security. Omitted fields keep their values. */
type NetworkSecurityChange = z.input<typeof networkSecurityChange>;
/** The methods of `hub.organizations.networkSecurity` for the network security of organizations. */
declare class HubNetworkSecurity {
  #private;
  /** Returns the current settings. */
  get(name: string, options?: CallOptions): Promise<NetworkSecurity>;
  /**
   * Changes the given settings, and returns all settings. `allowedContents` and `blockedContents` replaced `allowedUrls` and
   * `blockedUrls` on 2026-05-04. If you pass any of these four fields, the method first reads the current settings.
   *
   * @throws `ARGUMENT_INVALID` if the Hub uses the other names and would ignore the given fields. In this case, no setting is
   *   changed.
   * @example
   * ```ts
   * await hub.organizations.networkSecurity.update("acme", {
   *   enforceIpRestriction: true,
   *   ipRanges: ["192.0.2.0/24", "2001:db8::/32"],
   * });
   * ```
   */
  update(name: string, change: NetworkSecurityChange, options?: CallOptions): Promise<NetworkSecurity>;
}
/** A resource of a resource group. */
declare const resource: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
  type: z.ZodMiniEnum<{
    bucket: "bucket";
    dataset: "dataset";
    kernel: "kernel";
    model: "model";
    space: "space";
  }>;
  name: z.ZodMiniString<string>;
  private: z.ZodMiniBoolean<boolean>;
  addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strict>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  slug: z.ZodMiniString<string>;
  title: z.ZodMiniString<string>;
  private: z.ZodMiniBoolean<boolean>;
  addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"collection">;
}, z.core.$strict>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  slug: z.ZodMiniString<string>;
  title: z.ZodMiniString<string>;
  private: z.ZodMiniBoolean<boolean>;
  addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"blog">;
}, z.core.$strict>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  name: z.ZodMiniOptional<z.ZodMiniString<string>>;
  addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"job">;
}, z.core.$strict>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  name: z.ZodMiniOptional<z.ZodMiniString<string>>;
  addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  type: z.ZodMiniLiteral<"scheduled-job">;
}, z.core.$strict>], "type">;
/** A group of resources of an organization, with its own members and roles. */
declare const resourceGroup: z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  name: z.ZodMiniString<string>;
  description: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniString<string>>>;
  autoJoin: z.ZodMiniOptional<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    enabled: z.ZodMiniLiteral<true>;
    role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    scope: z.ZodMiniOptional<z.ZodMiniType<Open<"all" | "read_plus">, Open<"all" | "read_plus">, z.core.$ZodTypeInternals<Open<"all" | "read_plus">, Open<"all" | "read_plus">>>>;
  }, z.core.$strict>, z.ZodMiniObject<{
    enabled: z.ZodMiniLiteral<false>;
  }, z.core.$strict>], "enabled">>;
  spendLimits: z.ZodMiniOptional<z.ZodMiniObject<{
    total: z.ZodMiniOptional<z.ZodMiniInt>;
    inferenceProviders: z.ZodMiniOptional<z.ZodMiniInt>;
    spaces: z.ZodMiniOptional<z.ZodMiniInt>;
    jobs: z.ZodMiniOptional<z.ZodMiniInt>;
    endpoints: z.ZodMiniOptional<z.ZodMiniInt>;
  }, z.core.$strict>>;
  users: z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniLiteral<"user">;
    _id: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
  resources: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    type: z.ZodMiniEnum<{
      bucket: "bucket";
      dataset: "dataset";
      kernel: "kernel";
      model: "model";
      space: "space";
    }>;
    name: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    slug: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"collection">;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    slug: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"blog">;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    name: z.ZodMiniOptional<z.ZodMiniString<string>>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"job">;
  }, z.core.$strict>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    name: z.ZodMiniOptional<z.ZodMiniString<string>>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
    type: z.ZodMiniLiteral<"scheduled-job">;
  }, z.core.$strict>], "type">>>;
  repos: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniEnum<{
      bucket: "bucket";
      dataset: "dataset";
      kernel: "kernel";
      model: "model";
      space: "space";
    }>;
    name: z.ZodMiniString<string>;
    private: z.ZodMiniBoolean<boolean>;
    addedBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>>;
}, z.core.$strict>;
/** A resource group to create. */
declare const resourceGroupRequest: z.ZodMiniObject<{
  name: z.ZodMiniString<string>;
  description: z.ZodMiniOptional<z.ZodMiniString<string>>;
  users: z.ZodMiniDefault<z.ZodMiniArray<z.ZodMiniObject<{
    user: z.ZodMiniString<string>;
    role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  }, z.core.$strip>>>;
  repos: z.ZodMiniDefault<z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    type: z.ZodMiniType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
  }, z.core.$strict>>>;
  autoJoin: z.ZodMiniOptional<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    enabled: z.ZodMiniLiteral<true>;
    role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    scope: z.ZodMiniOptional<z.ZodMiniType<"all" | "read_plus", Open<"all" | "read_plus">, z.core.$ZodTypeInternals<"all" | "read_plus", Open<"all" | "read_plus">>>>;
  }, z.core.$strip>, z.ZodMiniObject<{
    enabled: z.ZodMiniLiteral<false>;
  }, z.core.$strip>], "enabled">>;
}, z.core.$strip>;
/** A resource of a resource group. The fields depend on `type`. The Hub can add types. */
type Resource = z.output<typeof resource>;
/** A resource group as the Hub returns it. Before 2026-07-01, the Hub returned `repos` instead of `resources`. */
type ReturnedResourceGroup = z.output<typeof resourceGroup>;
/** A group of resources of an organization, with its own members and roles. */
type ResourceGroup = Omit<ReturnedResourceGroup, "resources"> & {
  /** Repositories, collections, blog articles, and jobs. */
  resources: Resource[];
};
/** A resource group to create. */
type ResourceGroupRequest = z.input<typeof resourceGroupRequest>;
/** The methods of `hub.organizations.resourceGroups` for the resource groups of organizations. */
declare class HubResourceGroups {
  #private;
  /** Lists the resource groups that you can access. */
  list(name: string, options?: CallOptions): Promise<ResourceGroup[]>;
  /**
   * Creates a resource group. The call is retried only if the Hub cannot have processed the call.
   *
   * @example
   * ```ts
   * await hub.organizations.resourceGroups.create("acme", {
   *   name: "vision",
   *   users: [{ user: "ada", role: "write" }],
   *   repos: [{ type: "dataset", name: "acme/images" }],
   *   autoJoin: { enabled: true, role: "read" },
   * });
   * ```
   */
  create(name: string, request: ResourceGroupRequest, options?: CallOptions): Promise<ResourceGroup>;
}
/**
 * The methods of `hub.organizations` for organizations. The first argument of each method is the name of the organization. Most
 * methods require an admin's token and a paid plan.
 */
declare class HubOrganizations {
  #private;
  /** Groups of repositories with their own members and roles. Requires an Enterprise plan. */
  readonly resourceGroups: HubResourceGroups;
  /** The networks that can access the organization, and the content that members of the organization can access. */
  readonly networkSecurity: HubNetworkSecurity;
  /**
   * Revokes the access of a token to the organization. The token keeps its access to other resources. Requires an Enterprise plan.
   *
   * @example
   * ```ts
   * await hub.organizations.revokeToken("acme", { tokenId: "65b2f0a1c3d4e5f60718293a" });
   * ```
   */
  revokeToken(name: string, revoked: RevokedToken, options?: CallOptions): Promise<void>;
  /**
   * Streams up to 100,000 events of the audit log, newest first. Yields each event as soon as the event arrives, without loading
   * the whole log into memory. Requires a Team or Enterprise plan.
   *
   * @example
   * ```ts
   * for await (const { createdAt, message } of hub.organizations.auditLog("acme", { q: "type:org.change_role" })) {
   *   console.log(createdAt, message);
   * }
   * ```
   */
  auditLog(name: string, search?: AuditLogSearch, options?: CallOptions): AsyncGenerator<AuditLogEvent, void>;
  /** Returns the URL of the avatar of an organization. */
  avatar(name: string, options?: CallOptions): Promise<{
    avatarUrl: string;
  }>;
  /**
   * Lists the members page by page. `limit` is the page size (10 to 10,000, default 500).
   *
   * @example
   * ```ts
   * for await (const { user, role } of hub.organizations.members("acme", { search: "ada" })) console.log(user, role);
   * ```
   */
  members(name: string, search?: MemberSearch, options?: CallOptions): Pages<OrganizationMember>;
  /**
   * Changes the role of a member in the organization and in the given resource groups. Requires a paid plan.
   *
   * @example
   * ```ts
   * await hub.organizations.setMemberRole("acme", "ada", { role: "write" });
   * ```
   */
  setMemberRole(name: string, username: string, change: MemberRoleChange, options?: CallOptions): Promise<void>;
  /** Returns the SCIM configuration. Requires an Enterprise Plus plan and an owner's token with write access. */
  scimConfig(name: string, options?: CallOptions): Promise<ScimConfig>;
}
/** A member of an organization. */
declare const organizationMember: z.ZodMiniObject<{
  _id: z.ZodMiniString<string>;
  avatarUrl: z.ZodMiniString<string>;
  fullname: z.ZodMiniString<string>;
  isPro: z.ZodMiniBoolean<boolean>;
  user: z.ZodMiniString<string>;
  type: z.ZodMiniLiteral<"user">;
  isFollowing: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  role: z.ZodMiniOptional<z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>>;
  resourceGroups: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    id: z.ZodMiniString<string>;
    numUsers: z.ZodMiniNumber<number>;
    role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  }, z.core.$strict>>>;
  twoFaEnabled: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  verifiedEmail: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniString<string>>>;
  isExternalCollaborator: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
}, z.core.$strict>;
/** The new role of a member in the organization and in some of its resource groups. */
declare const memberRoleChange: z.ZodMiniObject<{
  role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  resourceGroups: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    role: z.ZodMiniType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  }, z.core.$strip>>>;
}, z.core.$strip>;
declare const search: z.ZodMiniObject<{
  search: z.ZodMiniOptional<z.ZodMiniString<string>>;
  email: z.ZodMiniOptional<z.ZodMiniEmail>;
  cursor: z.ZodMiniOptional<z.ZodMiniString<string>>;
  limit: z.ZodMiniDefault<z.ZodMiniCodec<z.ZodMiniString<string>, z.ZodMiniInt>>;
}, z.core.$strip>;
/** A member of an organization. */
type OrganizationMember = z.output<typeof organizationMember>;
/** A search for members. `limit` is the page size, and `cursor` is the start of the page. */
type MemberSearch = SearchOf<typeof search>;
/** The new role of a member in the organization and in some of its resource groups. */
type MemberRoleChange = z.input<typeof memberRoleChange>;
/** The token to revoke, by ID, or by value on a Hub from before 2026-08-12. */
type RevokedToken = {
  /** The ID of the token, which the token settings and the audit log of the organization contain. */
  tokenId: string;
} | {
  /** The token itself, for a Hub from before 2026-08-12. Errors and logs never contain this value. */
  token: string;
};
/** The SCIM configuration of an organization. The Hub does not document the content of `sort` or additional fields. */
declare const scimConfig: z.ZodMiniObject<{
  schemas: z.ZodMiniArray<z.ZodMiniString<string>>;
  documentationUri: z.ZodMiniString<string>;
  patch: z.ZodMiniObject<{
    supported: z.ZodMiniBoolean<boolean>;
  }, z.core.$strict>;
  bulk: z.ZodMiniObject<{
    supported: z.ZodMiniBoolean<boolean>;
    maxOperations: z.ZodMiniNumber<number>;
    maxPayloadSize: z.ZodMiniNumber<number>;
  }, z.core.$strict>;
  filter: z.ZodMiniObject<{
    supported: z.ZodMiniBoolean<boolean>;
    maxResults: z.ZodMiniNumber<number>;
  }, z.core.$strict>;
  changePassword: z.ZodMiniObject<{
    supported: z.ZodMiniBoolean<boolean>;
  }, z.core.$strict>;
  sort: z.ZodMiniObject<{}, z.core.$loose>;
}, z.core.$loose>;
/** The SCIM configuration of an organization. */
type ScimConfig = z.output<typeof scimConfig>;
/** A change that a client made on the Hub. */
interface MadeChange {
  kind: "commit" | "discussion" | "comment";
  /** The SHA of a commit, the number of a discussion or pull request in its repository, or the ID of a comment. */
  id: string;
}
/** A change that is in progress. */
interface ObservedAction {
  /** Reports the changes that were made, in order. An empty list means that the request failed or changed nothing. */
  done(made: readonly MadeChange[]): Promise<void>;
}
/**
 * Observes the changes that a client makes, so that a server recognizes the events that it caused itself.
 *
 * The client calls `begin` before it sends the request and `done` exactly once afterwards. Events can arrive in between. If the
 * process stops in between, `done` is not called.
 */
interface ActionObserver {
  begin(repo: RepoRef): ObservedAction;
}
/** The part of a client that identifies its changes. */
interface Observation {
  observer: ActionObserver;
  /**
   * A name that is written into each commit, discussion, and comment of the client. It must stay the same across restarts: markers
   * are only found again by clients with the same signature.
   */
  signature: string;
}
/** The key of the method of `HubClient` that returns an observed client. All copies of this package use the same key. */
declare const observeActions: unique symbol;
/** A file that differs between two revisions. */
interface ChangedFile {
  /** The path in the newer revision, or the path of the deleted file. */
  path: string;
  /** `renamed`: the content is at another path, and can differ. A copied file is `added`. */
  status: "added" | "modified" | "deleted" | "renamed";
  /** The path in the older revision. Only renamed files have this field. */
  previousPath?: string;
}
/** A file or a folder in a repository. */
declare const treeEntry: z.ZodMiniObject<{
  type: z.ZodMiniType<Open<"directory" | "file" | "unknown">, Open<"directory" | "file" | "unknown">, z.core.$ZodTypeInternals<Open<"directory" | "file" | "unknown">, Open<"directory" | "file" | "unknown">>>;
  oid: z.ZodMiniString<string>;
  size: z.ZodMiniNumber<number>;
  path: z.ZodMiniString<string>;
  lfs: z.ZodMiniOptional<z.ZodMiniObject<{
    oid: z.ZodMiniString<string>;
    size: z.ZodMiniNumber<number>;
    pointerSize: z.ZodMiniNumber<number>;
  }, z.core.$strict>>;
  xetHash: z.ZodMiniOptional<z.ZodMiniString<string>>;
  lastCommit: z.ZodMiniOptional<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    title: z.ZodMiniString<string>;
    date: z.ZodMiniString<string>;
  }, z.core.$strict>>;
  securityFileStatus: z.ZodMiniOptional<z.ZodMiniObject<{
    status: z.ZodMiniString<string>;
    avScan: z.ZodMiniOptional<z.ZodMiniObject<{
      status: z.ZodMiniString<string>;
    }, z.core.$loose>>;
    pickleImportScan: z.ZodMiniOptional<z.ZodMiniObject<{
      status: z.ZodMiniString<string>;
    }, z.core.$loose>>;
  }, z.core.$loose>>;
}, z.core.$strict>;
/** A file in a repository. */
type RepositoryFile = z.output<typeof treeEntry>;
/** A commit in the history of a repository. */
declare const commit: z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  title: z.ZodMiniString<string>;
  message: z.ZodMiniString<string>;
  authors: z.ZodMiniArray<z.ZodMiniObject<{
    user: z.ZodMiniString<string>;
    avatar: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
  date: z.ZodMiniString<string>;
  formatted: z.ZodMiniOptional<z.ZodMiniObject<{
    title: z.ZodMiniString<string>;
    message: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
}, z.core.$strict>;
/** A commit in the history of a repository. */
type RepositoryCommit = z.output<typeof commit>;
/** The refs of a repository. */
declare const repositoryRefs: z.ZodMiniObject<{
  branches: z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    ref: z.ZodMiniString<string>;
    targetCommit: z.ZodMiniString<string>;
  }, z.core.$strict>>;
  tags: z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    ref: z.ZodMiniString<string>;
    targetCommit: z.ZodMiniString<string>;
  }, z.core.$strict>>;
  converts: z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    ref: z.ZodMiniString<string>;
    targetCommit: z.ZodMiniString<string>;
  }, z.core.$strict>>;
  pullRequests: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    ref: z.ZodMiniString<string>;
    targetCommit: z.ZodMiniString<string>;
  }, z.core.$strict>>>;
}, z.core.$strict>;
/** The refs of a repository. */
type RepositoryRefs = z.output<typeof repositoryRefs>;
/** A comment or a change in a discussion. Its fields depend on `type`. */
declare const discussionEvent: z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  type: z.ZodMiniLiteral<"comment">;
  data: z.ZodMiniObject<{
    edited: z.ZodMiniBoolean<boolean>;
    hidden: z.ZodMiniBoolean<boolean>;
    hiddenBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
    latest: z.ZodMiniObject<{
      raw: z.ZodMiniString<string>;
      html: z.ZodMiniString<string>;
      updatedAt: z.ZodMiniString<string>;
      author: z.ZodMiniOptional<z.ZodMiniObject<{
        _id: z.ZodMiniString<string>;
        name: z.ZodMiniString<string>;
        fullname: z.ZodMiniString<string>;
        avatarUrl: z.ZodMiniString<string>;
        type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
        isHf: z.ZodMiniBoolean<boolean>;
        isHfAdmin: z.ZodMiniBoolean<boolean>;
        isMod: z.ZodMiniBoolean<boolean>;
      }, z.core.$strip>>;
    }, z.core.$strip>;
    numEdits: z.ZodMiniNumber<number>;
    editors: z.ZodMiniArray<z.ZodMiniString<string>>;
    editorAvatarUrls: z.ZodMiniArray<z.ZodMiniString<string>>;
    reactions: z.ZodMiniArray<z.ZodMiniUnknown>;
  }, z.core.$strip>;
}, z.core.$strip>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  type: z.ZodMiniLiteral<"status-change">;
  data: z.ZodMiniObject<{
    status: z.ZodMiniType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
    reason: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strip>;
}, z.core.$strip>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  type: z.ZodMiniLiteral<"title-change">;
  data: z.ZodMiniObject<{
    from: z.ZodMiniString<string>;
    to: z.ZodMiniString<string>;
  }, z.core.$strip>;
}, z.core.$strip>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  type: z.ZodMiniLiteral<"commit">;
  data: z.ZodMiniObject<{
    subject: z.ZodMiniString<string>;
    oid: z.ZodMiniString<string>;
  }, z.core.$strip>;
}, z.core.$strip>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  type: z.ZodMiniLiteral<"pinning-change">;
  data: z.ZodMiniObject<{
    pinned: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>;
}, z.core.$strip>, z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  type: z.ZodMiniLiteral<"ref-deleted">;
}, z.core.$strip>], "type">;
/** A discussion or pull request in a list. */
declare const discussionSummary: z.ZodMiniObject<{
  num: z.ZodMiniNumber<number>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  repo: z.ZodMiniType<RepoRef, RepoRef, z.core.$ZodTypeInternals<RepoRef, RepoRef>>;
  title: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  status: z.ZodMiniType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
  isPullRequest: z.ZodMiniBoolean<boolean>;
  numComments: z.ZodMiniNumber<number>;
  numReactionUsers: z.ZodMiniNumber<number>;
  topReactions: z.ZodMiniArray<z.ZodMiniUnknown>;
  pinned: z.ZodMiniBoolean<boolean>;
}, z.core.$strip>;
/** A discussion or pull request with its events. */
declare const discussionDetails: z.ZodMiniObject<{
  num: z.ZodMiniNumber<number>;
  author: z.ZodMiniOptional<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    fullname: z.ZodMiniString<string>;
    avatarUrl: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
    isHf: z.ZodMiniBoolean<boolean>;
    isHfAdmin: z.ZodMiniBoolean<boolean>;
    isMod: z.ZodMiniBoolean<boolean>;
  }, z.core.$strip>>;
  repo: z.ZodMiniType<RepoRef, RepoRef, z.core.$ZodTypeInternals<RepoRef, RepoRef>>;
  title: z.ZodMiniString<string>;
  createdAt: z.ZodMiniString<string>;
  status: z.ZodMiniType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
  _id: z.ZodMiniString<string>;
  events: z.ZodMiniArray<z.ZodMiniDiscriminatedUnion<[z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    createdAt: z.ZodMiniString<string>;
    author: z.ZodMiniOptional<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      fullname: z.ZodMiniString<string>;
      avatarUrl: z.ZodMiniString<string>;
      type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
      isHf: z.ZodMiniBoolean<boolean>;
      isHfAdmin: z.ZodMiniBoolean<boolean>;
      isMod: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
    type: z.ZodMiniLiteral<"comment">;
    data: z.ZodMiniObject<{
      edited: z.ZodMiniBoolean<boolean>;
      hidden: z.ZodMiniBoolean<boolean>;
      hiddenBy: z.ZodMiniOptional<z.ZodMiniString<string>>;
      latest: z.ZodMiniObject<{
        raw: z.ZodMiniString<string>;
        html: z.ZodMiniString<string>;
        updatedAt: z.ZodMiniString<string>;
        author: z.ZodMiniOptional<z.ZodMiniObject<{
          _id: z.ZodMiniString<string>;
          name: z.ZodMiniString<string>;
          fullname: z.ZodMiniString<string>;
          avatarUrl: z.ZodMiniString<string>;
          type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
          isHf: z.ZodMiniBoolean<boolean>;
          isHfAdmin: z.ZodMiniBoolean<boolean>;
          isMod: z.ZodMiniBoolean<boolean>;
        }, z.core.$strip>>;
      }, z.core.$strip>;
      numEdits: z.ZodMiniNumber<number>;
      editors: z.ZodMiniArray<z.ZodMiniString<string>>;
      editorAvatarUrls: z.ZodMiniArray<z.ZodMiniString<string>>;
      reactions: z.ZodMiniArray<z.ZodMiniUnknown>;
    }, z.core.$strip>;
  }, z.core.$strip>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    createdAt: z.ZodMiniString<string>;
    author: z.ZodMiniOptional<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      fullname: z.ZodMiniString<string>;
      avatarUrl: z.ZodMiniString<string>;
      type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
      isHf: z.ZodMiniBoolean<boolean>;
      isHfAdmin: z.ZodMiniBoolean<boolean>;
      isMod: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
    type: z.ZodMiniLiteral<"status-change">;
    data: z.ZodMiniObject<{
      status: z.ZodMiniType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
      reason: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, z.core.$strip>;
  }, z.core.$strip>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    createdAt: z.ZodMiniString<string>;
    author: z.ZodMiniOptional<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      fullname: z.ZodMiniString<string>;
      avatarUrl: z.ZodMiniString<string>;
      type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
      isHf: z.ZodMiniBoolean<boolean>;
      isHfAdmin: z.ZodMiniBoolean<boolean>;
      isMod: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
    type: z.ZodMiniLiteral<"title-change">;
    data: z.ZodMiniObject<{
      from: z.ZodMiniString<string>;
      to: z.ZodMiniString<string>;
    }, z.core.$strip>;
  }, z.core.$strip>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    createdAt: z.ZodMiniString<string>;
    author: z.ZodMiniOptional<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      fullname: z.ZodMiniString<string>;
      avatarUrl: z.ZodMiniString<string>;
      type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
      isHf: z.ZodMiniBoolean<boolean>;
      isHfAdmin: z.ZodMiniBoolean<boolean>;
      isMod: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
    type: z.ZodMiniLiteral<"commit">;
    data: z.ZodMiniObject<{
      subject: z.ZodMiniString<string>;
      oid: z.ZodMiniString<string>;
    }, z.core.$strip>;
  }, z.core.$strip>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    createdAt: z.ZodMiniString<string>;
    author: z.ZodMiniOptional<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      fullname: z.ZodMiniString<string>;
      avatarUrl: z.ZodMiniString<string>;
      type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
      isHf: z.ZodMiniBoolean<boolean>;
      isHfAdmin: z.ZodMiniBoolean<boolean>;
      isMod: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
    type: z.ZodMiniLiteral<"pinning-change">;
    data: z.ZodMiniObject<{
      pinned: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>;
  }, z.core.$strip>, z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    createdAt: z.ZodMiniString<string>;
    author: z.ZodMiniOptional<z.ZodMiniObject<{
      _id: z.ZodMiniString<string>;
      name: z.ZodMiniString<string>;
      fullname: z.ZodMiniString<string>;
      avatarUrl: z.ZodMiniString<string>;
      type: z.ZodMiniType<Open<"org" | "user">, Open<"org" | "user">, z.core.$ZodTypeInternals<Open<"org" | "user">, Open<"org" | "user">>>;
      isHf: z.ZodMiniBoolean<boolean>;
      isHfAdmin: z.ZodMiniBoolean<boolean>;
      isMod: z.ZodMiniBoolean<boolean>;
    }, z.core.$strip>>;
    type: z.ZodMiniLiteral<"ref-deleted">;
  }, z.core.$strip>], "type">>;
  pinned: z.ZodMiniBoolean<boolean>;
  locked: z.ZodMiniBoolean<boolean>;
  collection: z.ZodMiniString<string>;
  isPullRequest: z.ZodMiniBoolean<boolean>;
  isReport: z.ZodMiniBoolean<boolean>;
  filesWithConflicts: z.ZodMiniOptional<z.ZodMiniUnion<readonly [z.ZodMiniBoolean<boolean>, z.ZodMiniArray<z.ZodMiniString<string>>]>>;
  changes: z.ZodMiniOptional<z.ZodMiniObject<{
    base: z.ZodMiniString<string>;
    mergeCommitId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strip>>;
  diffUrl: z.ZodMiniOptional<z.ZodMiniString<string>>;
  diff: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** A discussion or pull request in a list. */
type DiscussionSummary = z.output<typeof discussionSummary>;
/** A discussion or pull request with its events. */
type DiscussionDetails = z.output<typeof discussionDetails>;
/** A comment or a change in a discussion. Its fields depend on `type`. */
type DiscussionEvent = z.output<typeof discussionEvent>;
/** Equivalent to `HeadersInit`, which Node's type definitions do not include. */
type HeadersSource = ConstructorParameters<typeof Headers>[0];
/** The options of `hub.fetch`. Only the options of `fetch` that allow retries are supported. */
interface HubFetchInit extends CallOptions {
  /** The HTTP method. Default `GET`. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** The headers, without `authorization`. If there is a body, the default `content-type` is `application/json`. */
  headers?: HeadersSource;
  /**
   * Values for the `{name}` placeholders in the path. All characters except slashes are encoded, so that a value cannot leave the
   * path or start a query. Use `params` for values from payloads.
   */
  params?: Readonly<Record<string, string | number>> | undefined;
  /** The body as a string, such as the result of `JSON.stringify()`. */
  body?: string | undefined;
  /**
   * Whether the request can be repeated safely, even if the Hub has already processed it. Default `false` for POST and PATCH, otherwise
   * `true`.
   */
  idempotent?: boolean | undefined;
}
/**
 * The files of a commit, by path. A string is stored as UTF-8. A `Blob` is read in parts if the Hub stores it as a large file. `null`
 * deletes the file, or the folder with all its files.
 *
 * @example
 * ```ts
 * const files: CommitFiles = { "README.md": "# Data\n", "data/old.csv": null };
 * ```
 */
type CommitFiles = Readonly<Record<string, string | Uint8Array | Blob | null>>;
/** A commit to create. */
interface CommitRequest extends CallOptions {
  /** The first line of the commit message. */
  message: string;
  /** The rest of the commit message. */
  description?: string | undefined;
  /** The files to write and delete. */
  files: CommitFiles;
  /** The commit that must be the head of the branch, as 40 hexadecimal digits. Default: any commit. */
  parent?: string | undefined;
  /** The branch, or the ref of a pull request such as `refs/pr/1`. Default `main`. */
  branch?: string | undefined;
  /** A name for the purpose of the commit, which is written into its description. */
  marker?: string | undefined;
  /**
   * Called with the bytes of large files that the Hub has, and the bytes of all large files of the commit: before the uploads, and after
   * each file or part of a file.
   */
  onUpload?: ((bytes: number, totalBytes: number) => void) | undefined;
}
/** The result of a commit. */
interface CommitResult {
  /** The ID of the new commit, or of the head of the branch if there was nothing to change. */
  oid: string;
  /** Whether a commit was created. `false`: the branch already contains the files. */
  created: boolean;
}
/** A pull request to open. */
interface PullRequestRequest extends CallOptions {
  /** The title, with 3 to 200 characters. It is also the message of the commit. */
  title: string;
  /** The first comment, in Markdown. */
  text?: string | undefined;
  /** The files to write and delete, compared to `main`. */
  files: CommitFiles;
  /** A name for the purpose of the pull request. A pull request with the same marker is found again, even with another title. */
  marker: string;
}
/** A pull request that was opened or found. */
interface OpenedPullRequest {
  num: number;
  /** Whether this call opened the pull request. `false`: it was found by its marker. */
  created: boolean;
  /** The status, such as `open`. A found pull request can be closed or merged. */
  status: DiscussionSummary["status"];
  /** The ref with the commits of the pull request, such as `refs/pr/1`. */
  ref: string;
}
/** A filter for discussions. */
interface DiscussionSearch extends CallOptions {
  /** Default: both. */
  type?: "discussion" | "pull_request" | undefined;
  /** `open` includes drafts, and `closed` includes merged pull requests. Default: both. */
  status?: "open" | "closed" | undefined;
  /** The name of the user who opened the discussion. */
  author?: string | undefined;
}
/**
 * A model, dataset, or Space. With the query `expand`, the response contains only `_id`, `id`, and the requested fields. Without a
 * revision, the response describes the main branch.
 */
declare const repositoryInfo: z.ZodMiniObject<{
  _id: z.ZodMiniString<string>;
  id: z.ZodMiniString<string>;
  modelId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  author: z.ZodMiniOptional<z.ZodMiniString<string>>;
  sha: z.ZodMiniOptional<z.ZodMiniString<string>>;
  lastModified: z.ZodMiniOptional<z.ZodMiniString<string>>;
  createdAt: z.ZodMiniOptional<z.ZodMiniString<string>>;
  private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  gated: z.ZodMiniOptional<z.ZodMiniUnion<readonly [z.ZodMiniLiteral<false>, z.ZodMiniType<Open<"auto" | "manual">, Open<"auto" | "manual">, z.core.$ZodTypeInternals<Open<"auto" | "manual">, Open<"auto" | "manual">>>]>>;
  disabled: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  discussionsDisabled: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  downloads: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  likes: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  tags: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  pipeline_tag: z.ZodMiniOptional<z.ZodMiniString<string>>;
  library_name: z.ZodMiniOptional<z.ZodMiniString<string>>;
  cardData: z.ZodMiniOptional<z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniUnknown>>;
  siblings: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    rfilename: z.ZodMiniString<string>;
    size: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
    blobId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    lfs: z.ZodMiniOptional<z.ZodMiniObject<{
      sha256: z.ZodMiniString<string>;
      size: z.ZodMiniNumber<number>;
      pointerSize: z.ZodMiniNumber<number>;
    }, z.core.$strict>>;
  }, z.core.$strict>>>;
  usedStorage: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  sdk: z.ZodMiniOptional<z.ZodMiniString<string>>;
  subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
  host: z.ZodMiniOptional<z.ZodMiniString<string>>;
  runtime: z.ZodMiniOptional<z.ZodMiniObject<{
    stage: z.ZodMiniString<string>;
    hardware: z.ZodMiniOptional<z.ZodMiniObject<{
      current: z.ZodMiniNullable<z.ZodMiniString<string>>;
      requested: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniString<string>>>;
    }, z.core.$strict>>;
  }, z.core.$strict>>;
  models: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  datasets: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
}, z.core.$strict>;
/** A model, dataset, or Space. */
type RepositoryInfo = z.output<typeof repositoryInfo>;
/** The options of methods that read at a revision. */
interface RevisionOptions extends CallOptions {
  /** A branch, a tag, a ref such as `refs/pr/1`, or a commit. Default `main`. */
  revision?: string | undefined;
}
/** The options of methods that read a file. */
interface ReadFileOptions extends RevisionOptions {
  /**
   * The maximum size of the file in bytes. Default 10 MiB (10,485,760). The file must arrive within the `timeout` of the client.
   */
  maxBytes?: number | undefined;
}
/** The options of `listFiles`. */
interface ListFilesOptions extends RevisionOptions {
  /** The folder to list. Default: the root folder. */
  folder?: string | undefined;
  /** Whether to include the files in subfolders. Default `true`. */
  recursive?: boolean | undefined;
}
/** The revisions to compare. */
interface ChangedFilesOptions extends CallOptions {
  /** The older revision, such as `oldSha` in a payload. `null`: there is none. */
  from: string | null;
  /** The newer revision, such as `newSha` in a payload. */
  to: string;
  /**
   * The ref that was updated, such as `ref` in a payload. If `from` is `null`, a new ref is compared with the main branch, like for the
   * `paths` option of an endpoint. Without this option, and for the main branch, every file of `to` is added.
   */
  ref?: string | undefined;
}
/** A discussion to open. */
interface DiscussionRequest extends CallOptions {
  /** The title, with 3 to 200 characters. */
  title: string;
  /** The first comment, in Markdown. */
  text?: string | undefined;
  /** A name for the purpose of the discussion. A discussion with the same marker is found again, even with another title. */
  marker: string;
}
/** A discussion that was opened or found. */
interface OpenedDiscussion {
  num: number;
  /** Whether this call opened the discussion. `false`: it was found by its marker. */
  created: boolean;
  /** The status, such as `open`. A found discussion can be closed. */
  status: DiscussionSummary["status"];
}
/** A comment to write. */
interface CommentUpsert extends CallOptions {
  /** A name for the purpose of the comment. The comment with the same marker in the discussion is edited. */
  marker: string;
  /** The text, in Markdown. */
  text: string;
}
/** A comment that was written or found. */
interface UpsertedComment {
  id: string;
  /** Whether this call added the comment. `false`: it was found by its marker. */
  created: boolean;
}
/** The result of a merge. */
interface MergeResult {
  /** The ID of the merge commit, if the Hub returns it. */
  oid: string | undefined;
}
/** A comment to add to a change of a discussion. */
interface ChangeComment extends CallOptions {
  /** A comment, in Markdown, that is added with the change. */
  comment?: string | undefined;
}
/**
 * A model, dataset, or Space, with methods that are safe to repeat. Create it with `hub.repo()`.
 *
 * Methods with a `marker` first look for the result of an earlier call with the same marker by the same account. `commit` compares
 * the files with the branch. If a program crashes after such a call and calls the method again, there is still one comment, one
 * discussion, one pull request, and one commit.
 *
 * All methods throw the same errors as the other methods of {@link HubClient}.
 *
 * @example
 * ```ts
 * const repo = hub.repo({ type: "dataset", name: "acme/data" });
 * const card = await repo.readText("README.md");
 * await repo.commit({ message: "Fix typo", files: { "README.md": card.replace("teh", "the") } });
 * ```
 */
declare class HubRepository {
  #private;
  /** The name and type of the repository. */
  readonly ref: KnownRepoRef;
  /**
   * Returns the name, visibility, head commit (`sha`), tags, and metadata of the repository.
   *
   * @example
   * ```ts
   * const { sha, private: isPrivate, cardData } = await repo.info();
   * ```
   */
  info(options?: RevisionOptions): Promise<RepositoryInfo>;
  /**
   * Returns the branches, tags, and pull request refs of the repository.
   *
   * @example
   * ```ts
   * const { branches, tags, pullRequests } = await repo.refs();
   * ```
   */
  refs(options?: CallOptions): Promise<RepositoryRefs>;
  /**
   * Lists the commits of a revision, newest first.
   *
   * @example
   * ```ts
   * for await (const { id, title } of repo.commits()) console.log(id, title);
   * ```
   */
  commits(options?: RevisionOptions): Pages<RepositoryCommit>;
  /**
   * Returns the files that differ between two revisions, sorted by path. Uses the Hub's comparison. If the Hub cannot compare the
   * revisions, such as for a diff of more than 50 MB, this method lists all files of both revisions. Pass the `oldSha` and `newSha`
   * of a payload as `from` and `to`.
   *
   * @example
   * ```ts
   * const files = await repo.changedFiles({ from: "v1.0", to: "main" });
   * console.log(files.filter(({ status }) => status === "added").map(({ path }) => path));
   * ```
   */
  changedFiles(options: ChangedFilesOptions): Promise<ChangedFile[]>;
  /**
   * Lists the files of a revision, in the order of the Hub. Folders are not listed.
   *
   * @example
   * ```ts
   * for await (const { path, size } of repo.listFiles({ folder: "data" })) console.log(path, size);
   * ```
   */
  listFiles(options?: ListFilesOptions): Pages<RepositoryFile>;
  /**
   * Reads a text file in UTF-8. Also reads large files (Git LFS), which the Hub stores on other servers. The token is never sent to
   * these servers.
   *
   * @throws `HUB_NOT_FOUND` if the file does not exist, `FILE_TOO_LARGE` if it is larger than `maxBytes`, and `FILE_INVALID` if it is
   *   not in UTF-8.
   * @example
   * ```ts
   * const card = await repo.readText("README.md", { revision: "refs/pr/1" });
   * ```
   */
  readText(path: string, options?: ReadFileOptions): Promise<string>;
  /**
   * Reads a file. Like {@link readText}, but for files in any format.
   *
   * @throws `HUB_NOT_FOUND` and `FILE_TOO_LARGE`.
   * @example
   * ```ts
   * const image = await repo.readBytes("preview.png", { maxBytes: 1_000_000 });
   * ```
   */
  readBytes(path: string, options?: ReadFileOptions): Promise<Uint8Array>;
  /**
   * Reads and parses a JSON file. Validate the result, because anyone with write access can change the file.
   *
   * @throws `FILE_INVALID` if the file is not JSON, otherwise like {@link readText}.
   * @example
   * ```ts
   * const config: unknown = await repo.readJson("config.json");
   * ```
   */
  readJson(path: string, options?: ReadFileOptions): Promise<unknown>;
  /**
   * Commits files to a branch. Files that the branch already contains are omitted. If all files are omitted, no commit is created, and
   * `created` is `false`.
   *
   * Set `parent` to the commit from which the new content was computed. Then a change by another user in the meantime is not
   * overwritten. Without `parent`, the last commit wins.
   *
   * Files that the Hub stores as large files (Git LFS), such as a `.parquet` file or a file of more than 10 MB, are uploaded before the
   * commit. A `Blob` is read in parts: `await openAsBlob(path)` of `node:fs` uploads a file from disk.
   *
   * @throws `HUB_CONFLICT` if `parent` is not the head of the branch.
   * @example
   * ```ts
   * const { sha } = await repo.info();
   * const card = await repo.readText("README.md", { revision: sha });
   * const { oid, created } = await repo.commit({
   *   message: "Fix typo",
   *   files: { "README.md": card.replace("teh", "the"), "old.csv": null },
   *   parent: sha,
   * });
   * ```
   */
  commit(request: CommitRequest): Promise<CommitResult>;
  /**
   * Opens a pull request with files, or finds the pull request that this account opened with the same `marker`:
   *
   * - An open pull request gets a commit if `files` differ from its files.
   * - A closed pull request is returned unchanged, because a person rejected it.
   * - A merged pull request does not count, unless `main` already contains the files.
   *
   * Returns `undefined` if there is nothing to change: `main` contains the files, and there is no pull request with this marker.
   *
   * @example
   * ```ts
   * const pullRequest = await repo.openPullRequest({
   *   title: "Add a license",
   *   text: "The card has no license.",
   *   files: { "README.md": `---\nlicense: mit\n---\n${card}` },
   *   marker: "add-license",
   * });
   * ```
   */
  openPullRequest(request: PullRequestRequest): Promise<OpenedPullRequest | undefined>;
  /**
   * Opens a discussion, or returns the discussion that this account opened with the same `marker`, open or closed. Looks for the
   * marker in up to 100 discussions of this account in the repository.
   *
   * @example
   * ```ts
   * const { num } = await repo.openDiscussion({ title: "Metadata review", marker: "card-review" });
   * await repo.upsertComment(num, { marker: "card-review", text: "Please add a license." });
   * ```
   */
  openDiscussion(request: DiscussionRequest): Promise<OpenedDiscussion>;
  /**
   * Lists discussions and pull requests, newest first.
   *
   * @example
   * ```ts
   * for await (const { num, title } of repo.discussions({ type: "pull_request", status: "open" })) console.log(num, title);
   * ```
   */
  discussions(search?: DiscussionSearch): Pages<DiscussionSummary>;
  /**
   * Returns a discussion or pull request with its events, such as comments. The first event is the description.
   *
   * @example
   * ```ts
   * const { status, events } = await repo.discussion(3);
   * ```
   */
  discussion(num: number, options?: CallOptions): Promise<DiscussionDetails>;
  /**
   * Adds a comment. A repeated call adds another comment, so use {@link upsertComment} in handlers.
   *
   * @example
   * ```ts
   * const { id } = await repo.comment(3, "Thank you!");
   * ```
   */
  comment(num: number, text: string, options?: CallOptions): Promise<{
    id: string;
  }>;
  /**
   * Adds a comment, or edits the comment that this account wrote in the discussion with the same `marker`. A comment with the same
   * text is not edited. The marker is an invisible HTML comment at the end of the text.
   *
   * @example
   * ```ts
   * await repo.upsertComment(3, { marker: "card-review", text: "Please add a license." });
   * ```
   */
  upsertComment(num: number, comment: CommentUpsert): Promise<UpsertedComment>;
  /**
   * Replaces the text of a comment. Keeps the marker of the comment.
   *
   * @example
   * ```ts
   * await repo.editComment(3, id, "The license is valid.");
   * ```
   */
  editComment(num: number, id: string, text: string, options?: CallOptions): Promise<void>;
  /**
   * Hides a comment. Hidden comments cannot be shown again, and {@link upsertComment} does not find them.
   *
   * @example
   * ```ts
   * await repo.hideComment(3, id);
   * ```
   */
  hideComment(num: number, id: string, options?: CallOptions): Promise<void>;
  /**
   * Closes or reopens a discussion or pull request. Does nothing if it already has the status.
   *
   * @example
   * ```ts
   * await repo.setStatus(3, "closed", { comment: "The license is valid." });
   * ```
   */
  setStatus(num: number, status: "open" | "closed", options?: ChangeComment): Promise<void>;
  /**
   * Changes the title of a discussion or pull request. Does nothing if it already has the title.
   *
   * @example
   * ```ts
   * await repo.setTitle(3, "Metadata review: 2 fields are missing");
   * ```
   */
  setTitle(num: number, title: string, options?: CallOptions): Promise<void>;
  /**
   * Merges a pull request. If it is already merged, only returns its merge commit.
   *
   * @example
   * ```ts
   * const { oid } = await repo.merge(4);
   * ```
   */
  merge(num: number, options?: ChangeComment): Promise<MergeResult>;
  /**
   * Makes the repository public or private. Only Spaces can be `protected`.
   *
   * @example
   * ```ts
   * await repo.setVisibility("private");
   * ```
   */
  setVisibility(visibility: "public" | "private" | "protected", options?: CallOptions): Promise<void>;
}
/** A change of notification settings. */
declare const notificationSettingsChange: z.ZodMiniObject<{
  notifications: z.ZodMiniObject<{
    announcements: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    arxiv_paper_activity: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    daily_papers_digest: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    discussions_participating: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    discussions_watched: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    gated_user_access_request: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    inference_endpoint_status: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    launch_autonlp: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    launch_spaces: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    launch_prepaid_credits: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    launch_training_cluster: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    org_request: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    org_suggestions: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    org_verified_suggestions: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    org_suggestions_to_create: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    posts_participating: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    user_follows: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    secret_detected: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    web_discussions_participating: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    web_discussions_watched: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    web_posts_participating: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    api_inference_sunset: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    locked_out: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    job_status: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    repo_release: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    product_updates_after: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strip>;
  prepaidAmount: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** A user, organization, or repository to watch. The Hub notifies you about discussions there. */
declare const notificationWatchItem: z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  type: z.ZodMiniType<"org" | "repo" | "user", Open<"org" | "repo" | "user">, z.core.$ZodTypeInternals<"org" | "repo" | "user", Open<"org" | "repo" | "user">>>;
}, z.core.$strip>;
/** Items to start or stop watching. */
declare const notificationWatchChange: z.ZodMiniObject<{
  add: z.ZodMiniDefault<z.ZodMiniArray<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    type: z.ZodMiniType<"org" | "repo" | "user", Open<"org" | "repo" | "user">, z.core.$ZodTypeInternals<"org" | "repo" | "user", Open<"org" | "repo" | "user">>>;
  }, z.core.$strip>>>;
  delete: z.ZodMiniDefault<z.ZodMiniArray<z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    type: z.ZodMiniType<"org" | "repo" | "user", Open<"org" | "repo" | "user">, z.core.$ZodTypeInternals<"org" | "repo" | "user", Open<"org" | "repo" | "user">>>;
  }, z.core.$strip>>>;
}, z.core.$strip>;
/** A user's tools on the Hub's MCP server. */
declare const mcpSettings: z.ZodMiniObject<{
  builtInTools: z.ZodMiniArray<z.ZodMiniString<string>>;
  spaceTools: z.ZodMiniArray<z.ZodMiniObject<{
    _id: z.ZodMiniString<string>;
    name: z.ZodMiniString<string>;
    emoji: z.ZodMiniString<string>;
    subdomain: z.ZodMiniString<string>;
  }, z.core.$strict>>;
}, z.core.$strict>;
/** A change of your notification settings. Omitted settings keep their values. */
type NotificationSettingsChange = z.input<typeof notificationSettingsChange>;
/** The ID of a user, organization, or repository to watch. The Hub notifies you about discussions there. */
type NotificationWatchItem = z.input<typeof notificationWatchItem>;
/** Items to start or stop watching. An item in both lists is deleted. */
type NotificationWatchChange = z.input<typeof notificationWatchChange>;
/** Your tools on the Hub's MCP server. */
type McpSettings = z.output<typeof mcpSettings>;
/** The methods of `hub.settings` for the settings of the token's user. */
declare class HubSettings {
  #private;
  /** Returns your tools on the Hub's MCP server. */
  mcp(options?: CallOptions): Promise<McpSettings>;
  /**
   * Changes the given notification settings. Omitted settings keep their values. To enable `launch_prepaid_credits`, pass a
   * `prepaidAmount` of up to 24 characters.
   *
   * @example
   * ```ts
   * await hub.settings.updateNotifications({ notifications: { daily_papers_digest: false } });
   * ```
   */
  updateNotifications(change: NotificationSettingsChange, options?: CallOptions): Promise<void>;
  /**
   * Changes the users, organizations, and repositories that you watch. The Hub notifies you about discussions there.
   *
   * @example
   * ```ts
   * await hub.settings.updateWatch({ add: [{ type: "org", id: "65b2f0a1c3d4e5f60718293a" }] });
   * ```
   */
  updateWatch(change: NotificationWatchChange, options?: CallOptions): Promise<void>;
}
/** A claim to be an author of a paper. */
declare const paperClaim: z.ZodMiniObject<{
  paperId: z.ZodMiniString<string>;
  claimAuthorId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  targetUserId: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** The result of a claim. */
declare const paperClaimResult: z.ZodMiniObject<{
  ok: z.ZodMiniBoolean<boolean>;
  claimedPaperId: z.ZodMiniString<string>;
}, z.core.$strict>;
/** A claim to be an author of a paper. */
type PaperClaim = z.input<typeof paperClaim>;
/** The result of a claim. */
type PaperClaimResult = z.output<typeof paperClaimResult>;
/** The methods of `hub.papers` for papers (docs/reference/hub-api.md, Papers). */
declare class HubPapers {
  #private;
  /**
   * Claims that the user of the token, or the user `targetUserId`, is an author of a paper. `ok` is `true` if the Hub accepted the
   * claim.
   *
   * @example
   * ```ts
   * const { ok } = await hub.papers.claim({ paperId: "2401.12345" });
   * ```
   */
  claim(claim: PaperClaim, options?: CallOptions): Promise<PaperClaimResult>;
}
/** A webhook as the Hub returns it. */
declare const webhook$1: z.ZodMiniObject<{
  id: z.ZodMiniString<string>;
  url: z.ZodMiniOptional<z.ZodMiniString<string>>;
  job: z.ZodMiniOptional<z.ZodMiniObject<{
    dockerImage: z.ZodMiniOptional<z.ZodMiniString<string>>;
    spaceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    environment: z.ZodMiniDefault<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
    arguments: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
    command: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
    flavor: z.ZodMiniType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
    timeoutSeconds: z.ZodMiniDefault<z.ZodMiniNullable<z.ZodMiniInt>>;
    labels: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
    secrets: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
  }, z.core.$strict>>;
  jobSourceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  disabled: z.ZodMiniUnion<readonly [z.ZodMiniBoolean<boolean>, z.ZodMiniType<Open<"suspended-after-failure">, Open<"suspended-after-failure">, z.core.$ZodTypeInternals<Open<"suspended-after-failure">, Open<"suspended-after-failure">>>]>;
  watched: z.ZodMiniArray<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    type: z.ZodMiniType<Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    avatarUrl: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strict>>;
  hasSecret: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  secret: z.ZodMiniOptional<z.ZodMiniString<string>>;
  domains: z.ZodMiniArray<z.ZodMiniType<Open<"discussion" | "repo">, Open<"discussion" | "repo">, z.core.$ZodTypeInternals<Open<"discussion" | "repo">, Open<"discussion" | "repo">>>>;
  lastTriggerAt: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strict>;
/** The body of a request to create a webhook. */
declare const webhookRequest: z.ZodMiniObject<{
  watched: z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniType<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    name: z.ZodMiniString<string>;
  }, z.core.$strip>>;
  domains: z.ZodMiniArray<z.ZodMiniType<"discussion" | "repo", Open<"discussion" | "repo">, z.core.$ZodTypeInternals<"discussion" | "repo", Open<"discussion" | "repo">>>>;
  url: z.ZodMiniOptional<z.ZodMiniString<string>>;
  job: z.ZodMiniOptional<z.ZodMiniObject<{
    flavor: z.ZodMiniType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
    spaceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
    dockerImage: z.ZodMiniOptional<z.ZodMiniString<string>>;
    arguments: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
    command: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>;
    environment: z.ZodMiniDefault<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
    secrets: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
    arch: z.ZodMiniOptional<z.ZodMiniType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>;
    timeoutSeconds: z.ZodMiniDefault<z.ZodMiniNullable<z.ZodMiniInt>>;
    attempts: z.ZodMiniDefault<z.ZodMiniInt>;
    labels: z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>;
    volumes: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
      type: z.ZodMiniType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
      source: z.ZodMiniString<string>;
      mountPath: z.ZodMiniString<string>;
      revision: z.ZodMiniOptional<z.ZodMiniString<string>>;
      readOnly: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
      path: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, z.core.$strip>>>;
    expose: z.ZodMiniOptional<z.ZodMiniObject<{
      ports: z.ZodMiniArray<z.ZodMiniInt>;
      portsPublic: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniInt>>;
    }, z.core.$strip>>;
    ssh: z.ZodMiniOptional<z.ZodMiniObject<{
      enabled: z.ZodMiniDefault<z.ZodMiniBoolean<boolean>>;
    }, z.core.$strip>>;
    resourceGroupId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  }, z.core.$strip>>;
  jobSourceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  secret: z.ZodMiniOptional<z.ZodMiniString<string>>;
}, z.core.$strip>;
/** A webhook as the Hub returns it. */
type Webhook = z.output<typeof webhook$1>;
/** A webhook to create, with exactly one of `url`, `job`, and `jobSourceId`. */
type WebhookRequest = z.input<typeof webhookRequest>;
/**
 * The methods of `hub.webhooks` for the webhooks of the token's user.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields.
 */
declare class HubWebhooks {
  #private;
  /** Returns all your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]>;
  /** Returns a webhook. Like all methods with a webhook ID, throws `HUB_NOT_FOUND` if the webhook does not exist. */
  get(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /**
   * Creates an enabled webhook. The call is retried only if the Hub cannot have processed the call.
   *
   * @example
   * ```ts
   * const { id } = await hub.webhooks.create({
   *   watched: [{ type: "dataset", name: "acme/data" }],
   *   domains: ["repo"],
   *   url: "https://acme-bot.hf.space/webhooks/retrain",
   *   secret: process.env.WEBHOOK_SECRET,
   * });
   * ```
   */
  create(request: WebhookRequest, options?: CallOptions): Promise<Webhook>;
  /**
   * Changes the given fields. Omitted fields keep their values. The Hub accepts only complete webhooks, so this method reads the
   * webhook, merges the changes, and writes the webhook. Changes that are made between the read and the write are overwritten.
   *
   * @throws `VALUE_UNREADABLE` if the update would remove values that the Hub does not return: a hidden secret, or `arch`,
   *   `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId`, and secret values of a job. In this case, the webhook is not
   *   changed. Pass the values of the fields in `fields`.
   * @example
   * ```ts
   * await hub.webhooks.update(id, { url: "https://acme-bot.hf.space/webhooks/retrain", secret: null });
   * ```
   */
  update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook>;
  /** Enables a webhook that is disabled, or that is suspended after failures (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Disables a webhook. The Hub keeps the webhook but sends no deliveries. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Deletes a webhook permanently. */
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /**
   * Sends a past delivery again, with the webhook's current URL and secret. `status` is the HTTP status of the
   * receiver's response. Find the log ID in the webhook's Activity tab on the Hub.
   */
  replay(webhookId: string, logId: string, options?: CallOptions): Promise<{
    status: number;
  }>;
}
declare const webhookChanges: z.ZodMiniObject<{
  watched: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    type: z.ZodMiniType<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    name: z.ZodMiniString<string>;
  }, z.core.$strip>>>;
  domains: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniType<"discussion" | "repo", Open<"discussion" | "repo">, z.core.$ZodTypeInternals<"discussion" | "repo", Open<"discussion" | "repo">>>>>;
  url: z.ZodMiniOptional<z.ZodMiniString<string>>;
  job: z.ZodMiniOptional<z.ZodMiniObject<{
    flavor: z.ZodMiniOptional<z.ZodMiniType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>>;
    spaceId: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniString<string>>>;
    dockerImage: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniString<string>>>;
    arguments: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>>;
    command: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniString<string>>>>;
    environment: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>>;
    secrets: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string | null>, Record<string, string | null>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniNullable<z.ZodMiniString<string>>>>>>;
    arch: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>>;
    timeoutSeconds: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniNullable<z.ZodMiniInt>>>;
    attempts: z.ZodMiniOptional<z.ZodMiniNullable<z.ZodMiniInt>>;
    labels: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniPipe<z.ZodMiniCustom<Record<string, string>, Record<string, string>>, z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniString<string>>>>>;
    volumes: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
      type: z.ZodMiniType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
      source: z.ZodMiniString<string>;
      mountPath: z.ZodMiniString<string>;
      revision: z.ZodMiniOptional<z.ZodMiniString<string>>;
      readOnly: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
      path: z.ZodMiniOptional<z.ZodMiniString<string>>;
    }, z.core.$strip>>>>;
    expose: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniObject<{
      ports: z.ZodMiniArray<z.ZodMiniInt>;
      portsPublic: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniInt>>;
    }, z.core.$strip>>>;
    ssh: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniObject<{
      enabled: z.ZodMiniDefault<z.ZodMiniBoolean<boolean>>;
    }, z.core.$strip>>>;
    resourceGroupId: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniString<string>>>;
  }, z.core.$strip>>;
  jobSourceId: z.ZodMiniOptional<z.ZodMiniString<string>>;
  secret: z.ZodMiniNullable<z.ZodMiniOptional<z.ZodMiniString<string>>>;
}, z.core.$strip>;
/**
 * Changes to a webhook. Omitted fields keep their values, except that a new target (`url`, `job`, or `jobSourceId`) replaces the
 * current target. `secret: null` removes the secret.
 *
 * The fields of `job` are merged into the current job. `null` removes a field. If the webhook's target is not a `job`, pass a
 * complete job.
 */
type WebhookChanges = z.input<typeof webhookChanges>;
/** The options of a {@link HubClient}. */
interface HubClientOptions {
  /**
   * A Hub access token. By default, the first token found in `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, and the file that
   * `hf auth login` writes (`HF_TOKEN_PATH`, `$HF_HOME/token`, or `~/.cache/huggingface/token`). The client reads the token
   * on the first call.
   */
  token?: string | undefined;
  /**
   * The Hub's base URL. Each call sends the token to this URL, so use `http:` only on your own machine. Default:
   * `HF_ENDPOINT`, or `https://huggingface.co` if `HF_ENDPOINT` is not set.
   */
  hubUrl?: string | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** The timeout of one attempt. Default `"30s"`. */
  timeout?: Duration | undefined;
  /**
   * The maximum number of attempts per call, including the first attempt. The client retries after rate limits (429), Hub failures
   * (5xx), and network errors. Calls that must not run twice (create, replay, claim) are retried only if the Hub cannot
   * have processed the call. Default `4`.
   */
  attempts?: number | undefined;
  /**
   * Receives a warning for each field or value of a request that is unknown to this release. Default: `process.emitWarning`, or
   * `console.warn` in runtimes without `process.emitWarning`.
   */
  logger?: Logger | undefined;
}
/**
 * The Hub's REST API.
 *
 * @throws `OPTION_INVALID` if an option is invalid or unknown.
 * @example
 * ```ts
 * const hub = new HubClient();
 * for (const { id, url, disabled } of await hub.webhooks.list()) console.log(id, url, disabled);
 * ```
 */
declare class HubClient {
  #private;
  /** The Hub's base URL, without a trailing slash. */
  readonly hubUrl: string;
  /** Your webhooks. */
  readonly webhooks: HubWebhooks;
  /** Your notifications. */
  readonly notifications: HubNotifications;
  /** Your settings: notifications, watched discussions, and MCP tools. */
  readonly settings: HubSettings;
  /** Papers and their authors. */
  readonly papers: HubPapers;
  /** Jobs: start, list, follow, and cancel jobs. */
  readonly jobs: HubJobs;
  /** Organizations: members, resource groups, network security, and audit log. */
  readonly organizations: HubOrganizations;
  constructor(options?: HubClientOptions);
  /**
   * Returns the token's user, the user's organizations, and the token's permissions. The Hub has a rate limit for this
   * operation.
   *
   * @example
   * ```ts
   * const { name, orgs } = await hub.whoami();
   * ```
   */
  whoami(options?: CallOptions): Promise<Whoami>;
  /**
   * Returns the methods for a model, dataset, or Space: read files, commit, and write in discussions. Sends no request. Pass the
   * `repo` of a payload, or a name and a type.
   *
   * @throws `ARGUMENT_INVALID` if the name is neither `owner/name` nor `name`, or if the type is not `model`, `dataset`, or `space`.
   * @example
   * ```ts
   * const repo = hub.repo({ type: "dataset", name: "acme/data" });
   * const card = await repo.readText("README.md");
   * ```
   */
  repo(repo: RepoRef): HubRepository;
  /**
   * Calls an operation for which this client has no method, with the same token, timeout, retries, and errors. `path` starts with
   * one slash and is relative to {@link hubUrl}. Insert names with `params` or `encodeURIComponent`. POST and PATCH requests are
   * retried only if the Hub cannot have processed the request.
   *
   * Resolves with a successful response as soon as the headers arrive. You must read or cancel the body. The timeout and the
   * retries do not apply to the body, but `signal` does.
   *
   * @throws `HubError` with the code `ARGUMENT_INVALID`, `HUB_TOKEN_MISSING`, or `HUB_TOKEN_INVALID` before the request is sent,
   *   and with other `HUB_…` codes after the request was sent. Redirects also fail, because following a redirect would send the
   *   token to another server. If `signal` is aborted, the call rejects with the signal's abort reason.
   * @example
   * ```ts
   * const response = await hub.fetch("/api/datasets/{name}/discussions", {
   *   method: "POST",
   *   params: { name: "me/data" },
   *   body: JSON.stringify({ title: "Hello", description: "My first discussion.", pullRequest: false }),
   * });
   * const { num }: { num: number } = await response.json();
   * ```
   */
  fetch(path: string, init?: HubFetchInit): Promise<Response>;
  /** Returns a client with the same options, whose changes are observed and signed. For `WebhooksServer`. */
  [observeActions](observation: Observation): HubClient;
}
/** The types of items that a webhook can watch: one repository, or all repositories of a user or organization. */
declare const watchedTypes: readonly ["model", "dataset", "space", "bucket", "kernel", "user", "org"];
/** The type of an item that a webhook watches: a repository type, `user`, or `org`. */
type WatchedType = (typeof watchedTypes)[number];
/** The domains of events that a webhook can subscribe to: changes to repositories, or to their discussions. */
declare const webhookDomains: readonly ["repo", "discussion"];
/** A domain of events that a webhook can subscribe to. */
type WebhookDomain = (typeof webhookDomains)[number];
/**
 * A repository, user, or organization to watch, as `type:name`, such as `"dataset:me/data"` or `"org:acme"`. {@link
 * Watched} is the object form.
 */
type Watch = `${WatchedType}:${string}`;
/** A repository, user, or organization that a webhook watches, such as `{ type: "dataset", name: "me/data" }`. */
interface Watched<Type extends string = WatchedType | (string & {})> {
  /** A {@link WatchedType}, or a type that the Hub added after this release. */
  type: Type;
  /** The name of the repository (`owner/name`), the user, or the organization. */
  name: string;
}
/** A parsed {@link Watch}: a {@link Watched} of a type that is known to this release. */
type WatchedItem = Watched<WatchedType>;
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
    subdomain: z.ZodMiniOptional<z.ZodMiniString<string>>;
    tags: z.ZodMiniOptional<z.ZodMiniCustom<string[], string[]>>;
  }, $strip>;
  webhook: z.ZodMiniObject<{
    id: z.ZodMiniString<string>;
    version: z.ZodMiniNumber<number>;
  }, $strip>;
  updatedConfig: z.ZodMiniObject<{
    /** The new visibility. Missing if the Hub does not report the change. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** Only present on pull requests. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** Only present on pull requests. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** The new visibility. Missing if the Hub does not report the change. */
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
    /** The commit at the head of the main branch. Only present on `repo` scopes, and never for buckets. */
    headSha: z.ZodMiniOptional<z.ZodMiniString<string>>;
    /** The first label of a Space's hostname. */
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
    /** The new visibility. Missing if the Hub does not report the change. */
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
    /** Only present on pull requests. */
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
 * The payload of a delivery of any scope, version 3. `event`, `repo`, and `webhook` are always present. The other
 * fields depend on `event.scope`: narrow the type with {@link isScope} or with the `scope` option of an endpoint.
 * Validation covers `event`, `repo`, `webhook`, and the fields of a known scope, but not optional fields of other
 * scopes (such as `comment` on `repo.content`).
 */
type WebhookPayload = z.output<typeof anyPayload>;
/**
 * A payload of scope `repo` or a narrower scope such as `repo.content` or `repo.config`. Optional fields are validated
 * only for the scope that they belong to: see {@link WebhookPayload}.
 */
type RepoPayload = z.output<typeof anyRepoPayload>;
/** A payload of scope `repo.content`. Git repositories have `updatedRefs`, and buckets have `updatedFiles`. */
type RepoContentPayload = z.output<typeof contentPayload>;
/** A payload of scope `repo.content` of a model, a dataset, or a Space. */
type GitContentPayload = z.output<typeof gitContentPayload>;
/** A payload of scope `repo.content` of a bucket. The Hub truncates `updatedFiles` to 10,000 entries. */
type BucketContentPayload = z.output<typeof bucketContentPayload>;
/** A payload of scope `repo.config`. `updatedConfig` is `{}` when the Hub does not report what changed. */
type RepoConfigPayload = z.output<typeof repoConfigPayload>;
/** A payload of scope `discussion` or `discussion.comment`. A new discussion includes its first `comment`. */
type DiscussionPayload = z.output<typeof discussionPayload>;
/** A payload of scope `discussion.comment`. */
type DiscussionCommentPayload = z.output<typeof discussionCommentPayload>;
interface PayloadByScope {
  repo: RepoPayload;
  "repo.content": RepoContentPayload;
  "repo.config": RepoConfigPayload;
  discussion: DiscussionPayload;
  "discussion.comment": DiscussionCommentPayload;
}
/**
 * The payload type of a scope. `RepoType` narrows `repo.content` further: buckets have `updatedFiles`, and models,
 * datasets, and Spaces have `updatedRefs`.
 */
type PayloadOf<Scope extends string, RepoType extends string = string> = Scope extends KnownScope ? Scope extends "repo.content" ? ContentPayloadOf<RepoType> : PayloadByScope[Scope] : WebhookPayload;
type ContentPayloadOf<RepoType extends string> = RepoType extends "bucket" ? BucketContentPayload : RepoType extends "model" | "dataset" | "space" ? GitContentPayload : RepoContentPayload;
/** Prevents the payload type in the `else` branch of {@link isScope} from becoming `never`. */
interface Scoped<Wanted extends string> {
  event: {
    scope: Wanted | `${Wanted}.${string}`;
  };
}
/**
 * Whether a payload has the scope `scope` or a narrower scope. Narrows the payload type, unlike a comparison of the
 * nested `event.scope`. An unknown narrower scope matches only if the payload has the fields of the broader scope.
 *
 * @example
 * ```ts
 * server.webhook(async function on_change(payload) {
 *   if (isScope(payload, "discussion.comment")) return payload.comment.content;
 * });
 * ```
 */
declare function isScope<Wanted extends KnownScope>(payload: WebhookPayload, scope: Wanted): payload is WebhookPayload & PayloadOf<Wanted> & Scoped<Wanted>;
/** The values of a filter, as lists. An empty list matches everything. */
type FilterValues = Readonly<Record<"scopes" | "actions" | "repos" | "refs" | "paths", readonly string[]>>;
/**
 * A pattern for repositories, as `type:name`. In both parts, `*` matches any text without a slash, and `**` matches any
 * text.
 */
type RepoPattern = `${RepoType}:${string}`;
/** Selects the deliveries that an endpoint receives. Each field takes one value or a list, and all fields must match. */
interface FilterOptions {
  /**
   * Scopes. Each scope includes narrower scopes: `"repo"` matches `repo.content` and any future `repo.*`. A narrower scope
   * that is unknown to this release counts as an `update` of the broader scope.
   */
  scope?: Scope$1 | readonly Scope$1[];
  /** Actions, such as `create`, `delete`, `update`, and `move`. */
  action?: Action | readonly Action[];
  /**
   * Repositories as `type:name` with globs, regardless of case: `"dataset:me/data"`, `"model:gpt2"`, `"model:me/*"`, `"*:acme/**"`.
   */
  repo?: RepoPattern | readonly RepoPattern[];
  /**
   * Git refs with globs, such as `"refs/heads/main"` or `"refs/pr/*"`. At least one of `updatedRefs` must match. The Hub
   * also sends updates of `refs/pr/N` and `refs/convert/parquet`.
   */
  ref?: string | readonly string[];
  /**
   * Paths of files with globs, such as `"README.md"` or `"data/**"`. The handler only runs if at least one changed file matches.
   * Events of other scopes than `repo.content` never match. For models, datasets, and Spaces, the server requests
   * the changed files of each updated ref that matches `ref` from the Hub: it compares a new branch with the main branch, and a deleted ref has no
   * changed files. For buckets, the payload lists the files. If the Hub does not answer, or if the list in the payload is
   * truncated, the handler runs.
   */
  paths?: string | readonly string[];
}
/** A webhook delivery to one endpoint, independent of its transport: HTTP, a job, or a test. */
interface Delivery<Payload = WebhookPayload> {
  /**
   * The `Webhook-Id` header, which stays the same when the Hub retries or replays the delivery. Generated if the request has
   * no such header.
   */
  readonly id: string;
  /** The name of the endpoint. */
  readonly endpoint: string;
  /** The body exactly as the server received it. */
  readonly body: string;
  /** The parsed and validated body. */
  readonly payload: Payload;
  /** The time when the server first received the delivery. */
  readonly receivedAt: Date;
  /** The number of this attempt, starting at 1. */
  readonly attempt: number;
  /** `webhook`: the Hub sent the delivery. `catch-up`: the server derived it from the state of the Hub (see `catchUp`). */
  readonly origin: "webhook" | "catch-up";
}
/** A delivery whose body is not parsed yet. */
type UnparsedDelivery = Omit<Delivery, "payload" | "origin">;
/** A delivery whose body was validated and filtered. If the filter ignores the delivery, the endpoint's own schema is not applied. */
interface ParsedDelivery {
  readonly delivery: Delivery<unknown>;
  /** The body as a Hub payload. Missing for an endpoint that has a `schema` option but no filter. */
  readonly hubPayload?: WebhookPayload;
  /** The reason why the delivery is ignored, or `undefined` if the filter accepts it. */
  readonly ignored?: string | undefined;
}
/**
 * Parses and validates a body, then applies the filter. Returns a promise only if the schema of an endpoint is asynchronous.
 *
 * @throws `BODY_NOT_JSON` (400), `BODY_TOO_DEEP` (400), `PAYLOAD_INVALID` (422).
 */
type DeliveryParser = (unparsed: UnparsedDelivery) => ParsedDelivery | Promise<ParsedDelivery>;
/** The result of running a handler on a delivery. */
type Outcome =
/** The handler returned `result`. */
{
  readonly status: "succeeded";
  readonly result: unknown;
} |
/** The filter did not match, or a condition of the endpoint: `paths` or `ignoreSelf`. */
{
  readonly status: "ignored";
  readonly reason: string;
} |
/** The handler failed. `retryAt` is set if the handler requested a retry at a certain time. */
{
  readonly status: "failed";
  readonly error: WebhookError;
  readonly retryAt?: Date;
};
/**
 * Validates a Hub payload, and returns the same value, including unknown fields. The schemas describe version 3.
 *
 * @throws `PAYLOAD_INVALID` (422). The message lists the first invalid paths, but never their values.
 * @example
 * ```ts
 * const payload = parsePayload(JSON.parse(process.env.WEBHOOK_PAYLOAD ?? ""));
 * ```
 */
declare function parsePayload(value: unknown): WebhookPayload;
/**
 * The waits between the attempts of a delivery: either a list of waits, whose last wait repeats, or waits that double from `first`
 * up to `max`. Each wait varies by ±20%, so that deliveries that failed together are not retried together.
 *
 * @example
 * ```ts
 * // Three waits allow four attempts.
 * server.webhook("retrain", { background: true, backoff: ["10s", "1m", "1h"] }, async ({ repo }) => repo.name);
 * ```
 */
type Backoff = readonly Duration[] | {
  /** The wait before the second attempt. Default `"5s"`. */
  first?: Duration;
  /** The maximum wait, before the variation of ±20%. Default `"12h"`, or `first` if it is longer. */
  max?: Duration;
};
/** The maximum number of attempts per delivery, and the waits between attempts. */
interface RetryPolicy {
  maxAttempts: number;
  /** Returns the wait after a failed attempt, in milliseconds. The first attempt has number 1. */
  waitAfter(attempt: number): number;
  /** The maximum sum of all waits. */
  totalWaitMs: number;
}
/** The fields that identify a delivery. */
type DeliveryKey = Pick<Delivery, "id" | "endpoint">;
/** A delivery to store, before its first attempt. */
interface IncomingDelivery extends Pick<Delivery, "id" | "endpoint" | "body" | "receivedAt"> {
  /** The request headers without secrets, by lower-case name. At most 4 KiB of JSON text, otherwise the last headers are not stored. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The ID of the delivery of the same endpoint of which this delivery is a copy. */
  readonly replayOf?: string | undefined;
}
/** A delivery that this process has claimed for an attempt. While the lease lasts, no other process runs the delivery. */
interface ClaimedDelivery extends Omit<IncomingDelivery, "headers" | "replayOf">, Pick<Delivery, "attempt"> {
  /** Whether the delivery becomes dead if this attempt fails. */
  readonly isLastAttempt: boolean;
  /** Milliseconds until the next attempt if this attempt fails, unless the handler sets `retryAt`. */
  readonly retryDelayMs: number;
}
/**
 * The status of a delivery. `queued`: waiting for an attempt. `running`: an attempt is in progress. `succeeded`: an attempt has
 * succeeded. `ignored`: a condition of the endpoint ignored the delivery. Its last attempt has the reason. `dead`: the delivery failed
 * and is not retried, but can be replayed. `cancelled`: the delivery was discarded. It does not run, but can be replayed.
 */
type DeliveryStatus = "queued" | "running" | "succeeded" | "ignored" | "dead" | "cancelled";
/** What is recorded of one attempt, at most 16 KiB of JSON text. If it is larger, the inbox cuts it and sets `isTruncated`. */
interface AttemptDetails {
  /** The handler's result as JSON text. Missing if the handler returned `undefined`. */
  result?: string;
  /** The stack of the thrown error, with its causes. */
  stack?: string;
  /** The lines that the handler logged with `context.log`, oldest first. */
  logs?: readonly AttemptLog[];
  /** Whether something was cut to fit the limit. */
  isTruncated?: boolean;
}
/** A line that a handler logged during an attempt. */
interface AttemptLog {
  /** Milliseconds since the epoch. */
  at: number;
  level: "debug" | "info" | "warn" | "error";
  message: string;
  /** The JSON text of an object. */
  fields?: string;
}
/** One run of a handler for a delivery. */
interface DeliveryAttempt {
  /** The number of the attempt, starting at 1. */
  number: number;
  /** Missing if the process crashed during the attempt and the inbox is in Redis or PostgreSQL. */
  startedAt?: Date;
  /**
   * The duration in milliseconds. If the process crashed during the attempt, SQLite stores the time until the last heartbeat, and
   * Redis and PostgreSQL store no duration.
   */
  durationMs?: number;
  /**
   * `ignored`: a condition of the endpoint ignored the delivery, and the handler did not run. `abandoned`: the process stopped or lost
   * its lease before the handler finished.
   */
  outcome: "succeeded" | "ignored" | "failed" | "abandoned";
  /** The error of a failed or abandoned attempt. */
  error?: {
    code: string;
    message: string;
  };
  /** Why the delivery was ignored. */
  reason?: string;
  /** Only returned by `Inbox.get`. Deleted with the body after the retention period. */
  details?: AttemptDetails;
}
/** A delivery in the inbox. */
interface StoredDelivery extends DeliveryKey, Pick<Delivery, "receivedAt"> {
  status: DeliveryStatus;
  /** When the next attempt of a queued delivery is due. */
  dueAt?: Date;
  /** When the current attempt of a running delivery started. */
  startedAt?: Date;
  /** When the delivery succeeded, was ignored, became dead, or was discarded. */
  finishedAt?: Date;
  /** The body as it was received. Missing after the retention period, when only the ID is kept to detect duplicates. */
  body?: string;
  /** The request headers without secrets. Only returned by `Inbox.get`. Deleted with the body after the retention period. */
  headers?: Readonly<Record<string, string>>;
  /** The ID of the delivery of the same endpoint of which this delivery is a copy. Missing if it is not a copy. */
  replayOf?: string;
  attempts: readonly DeliveryAttempt[];
}
/** An endpoint's handler and the settings with which the inbox runs the handler. */
interface EndpointQueue {
  endpoint: string;
  /** The maximum number of deliveries that run at the same time in this process. */
  concurrency: number;
  policy: RetryPolicy;
  /** The retention period of finished deliveries. */
  retentionMs: number;
  /**
   * Runs the handler and never rejects. The signal is aborted when `Inbox.close` is called and when the lease of the delivery is
   * lost. If the handler fails after the signal was aborted, the attempt is interrupted: the delivery runs again,
   * and the attempt does not count.
   */
  run: (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<FinishedRun>;
  /** Called after an attempt has ended in this process, so that the delivery may have changed. Must not throw. */
  onAttemptStored?: ((key: DeliveryKey) => void) | undefined;
}
/** The end of a run that the inbox stores as an attempt. */
type FinishedRun = Outcome & {
  /** What the inbox stores with the attempt. */
  readonly details?: AttemptDetails;
  /**
   * Called once after the attempt was stored, with the stored step: a delivery that was replayed while it was running is queued
   * again, regardless of its outcome. Not called for an attempt that has no effect on the delivery, such as a failure after another
   * process has taken it over. Must not throw.
   */
  readonly onStored?: (next: NextStep) => void;
};
/** What happens to a delivery after an attempt. */
type NextStep = {
  status: "succeeded" | "ignored" | "dead";
} | {
  status: "queued";
  /** When the next attempt is due, in milliseconds since the epoch. */
  dueAt: number;
  /** Whether the attempt counts toward `maxAttempts`. An interrupted attempt does not count. */
  counts: boolean;
};
/** Filters and pagination for a list of deliveries. A delivery must match all filters. */
interface ListOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  /** The exact name of a repository with or without its type, such as `dataset:acme/data` or `acme/data`. */
  repository?: string;
  /** The exact scope of the event, such as `repo.content`. */
  scope?: string;
  /** The exact action of the event, such as `update`. */
  action?: string;
  /** Only deliveries that were received at this time or later. */
  receivedFrom?: Date;
  /** Only deliveries that were received before this time. */
  receivedUntil?: Date;
  /**
   * Words, separated by spaces, to find in the ID, the first MiB of the body, and the errors and log lines of the attempts. Each word must
   * be part of one of these texts. Case and accents are ignored.
   */
  search?: string;
  /** The maximum number of deliveries on the page, from 1 to 1,000. Default `50`. */
  limit?: number;
  /** The `next` field of the previous page. */
  cursor?: string;
}
/** A page of deliveries, newest first. A delivery whose status changes between two requests can appear on both pages or on neither. */
interface DeliveryPage {
  deliveries: readonly StoredDelivery[];
  /**
   * The cursor of the next page. Missing on the last page. With filters, a page can contain fewer deliveries than `limit`, or none,
   * and still have a next page, because the duration of one request is limited.
   */
  next?: string;
  /**
   * How far the filters other than `endpoint` and `status` were applied: the time when the last examined delivery was received. Missing if
   * all deliveries were examined. `next` continues the search.
   */
  searchedUntil?: Date;
}
/** The number of an endpoint's deliveries in each status. */
type DeliveryCounts = Readonly<Record<DeliveryStatus, number>>;
/** A problem with storing or running deliveries. */
interface InboxProblem {
  /** A stable code, such as `INBOX_UNAVAILABLE`. */
  code: string;
  /** `unavailable`: the inbox cannot store or cannot run any delivery. `degraded`: the problem affects only some deliveries. */
  severity: "unavailable" | "degraded";
  /**
   * Describes the problem and how to fix it, without secrets. Show the message only to the owner, because it can contain file and
   * host names.
   */
  message: string;
}
/** What an inbox reports about its storage. */
interface InboxDescription {
  /** Settings of the storage that can cause the loss of accepted deliveries, each with its remedy. Without secrets. */
  warnings?: readonly string[];
}
/** Stores deliveries and runs them in the background. */
interface Inbox {
  /**
   * Stores a delivery. After the promise resolves, the delivery survives crashes and power failures, unless the inbox is in memory
   * or its server does not sync each write to disk. `duplicate`: whether the
   * delivery was already stored. A dead delivery is queued again and is not a duplicate.
   *
   * @throws `INBOX_FULL` or `INBOX_UNAVAILABLE` if the delivery is not stored.
   */
  accept(delivery: IncomingDelivery): Promise<{
    duplicate: boolean;
  }>;
  /** Starts running an endpoint's deliveries. Later calls for the same endpoint have no effect. */
  startWorker(queue: EndpointQueue): void;
  /** Lists deliveries, newest first. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** Returns a delivery with its attempts, or `undefined` if the delivery is not stored. */
  get(key: DeliveryKey): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, regardless of its status. @throws `DELIVERY_UNKNOWN` if the delivery or its body is not stored. */
  replay(key: DeliveryKey): Promise<void>;
  /** Replays all dead deliveries of an endpoint. Returns the number of replayed deliveries. */
  replayDead(endpoint: string): Promise<number>;
  /**
   * Discards a queued or dead delivery, which becomes `cancelled`. Has no effect if the delivery has finished otherwise.
   *
   * @throws `DELIVERY_UNKNOWN` if the delivery is not stored, `DELIVERY_RUNNING` while it is running.
   */
  discard(key: DeliveryKey): Promise<void>;
  /**
   * Pauses an endpoint in all processes of the inbox, also after restarts. The inbox still accepts and stores the endpoint's deliveries,
   * but no process claims them. Running deliveries finish. Has no effect if the endpoint is paused.
   */
  pause(endpoint: string): Promise<void>;
  /** Resumes an endpoint. Within a second, all processes claim its deliveries again. Has no effect if the endpoint is not paused. */
  resume(endpoint: string): Promise<void>;
  /** Returns the names of the paused endpoints, sorted. */
  pausedEndpoints(): Promise<readonly string[]>;
  /** Counts deliveries by endpoint and status. Unlike `list`, includes deliveries whose body was deleted after the retention period. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /** Returns the current problems, or an empty list if the inbox is healthy. Resolves within 3 s and never rejects. */
  problems(): Promise<readonly InboxProblem[]>;
  /** Describes the storage. Does not read deliveries. */
  describe?(): Promise<InboxDescription>;
  /** Deletes deliveries whose retention period has ended. Returns the number of deleted deliveries. */
  prune(): Promise<number>;
  /**
   * The changes that servers of this inbox made on the Hub. If missing, a server only remembers its own recent changes, in memory.
   */
  readonly ownActions?: OwnActions;
  /** What `catchUp` has seen of the Hub. If missing, a server with `catchUp` or `poll` does not start. */
  readonly cursors?: Cursors;
  /**
   * The Storage Bucket of the Hub that stores the inbox, such as `me/inbox`. A server ignores the events of this bucket, because
   * storing such an event would cause the next one. Missing if the inbox is stored elsewhere.
   */
  readonly bucket?: string;
  /**
   * Stops claiming deliveries, aborts the signals of running handlers, and waits up to `graceMs` milliseconds for these handlers.
   * If a handler fails or does not finish during this time, its delivery is queued again, and the attempt does not count. Returns
   * the number of these interrupted deliveries. Later calls return the result of the first call.
   */
  close(graceMs: number): Promise<{
    interrupted: number;
  }>;
}
/**
 * The changes on the Hub that the servers of this inbox made, by key. A server uses them to recognize the events that it caused
 * itself (`ignoreSelf`). Keys are short texts without secrets, such as `comment 6123…`.
 */
interface OwnActions {
  /** Stores keys for 14 days. Keeps only the latest 100,000 keys. @throws if the keys cannot be stored. */
  add(keys: readonly string[]): Promise<void>;
  /** Returns the keys that are stored. @throws if the keys cannot be read. */
  find(keys: readonly string[]): Promise<ReadonlySet<string>>;
}
/** Texts that the servers of an inbox keep beside the deliveries of an endpoint, by key. They have no retention period. */
interface Cursors {
  /** Returns the text of a key, or `undefined`. */
  get(endpoint: string, key: string): Promise<string | undefined>;
  /** Returns all texts of an endpoint, by key. */
  list(endpoint: string): Promise<ReadonlyMap<string, string>>;
  /** Stores all texts of a change, or none. @throws if the texts cannot be stored. */
  set(endpoint: string, texts: ReadonlyMap<string, string>): Promise<void>;
  /**
   * Gives a holder an exclusive claim for a time, renews it, or returns it with `forMs: 0`. Resolves with `false` while another holder
   * has the claim.
   */
  claim(claim: CursorClaim): Promise<boolean>;
}
/** A claim that only one holder has at a time. */
interface CursorClaim {
  key: string;
  /** Identifies the process. */
  holder: string;
  /** The duration in milliseconds. */
  forMs: number;
}
/** An endpoint whose missed deliveries are derived. */
interface CatchUpTarget {
  endpoint: string;
  watch: readonly WatchedItem[];
  domains: readonly WebhookDomain[];
  /** Where the first run starts: at the present state, at the beginning, or at a time. */
  since: "now" | "all" | Date;
}
/** A range of commits, or the creation or deletion of a ref. */
declare const refChange: z.ZodMiniObject<{
  ref: z.ZodMiniString<string>;
  oldSha: z.ZodMiniNullable<z.ZodMiniString<string>>;
  newSha: z.ZodMiniNullable<z.ZodMiniString<string>>;
}, z.core.$strip>;
type RefChange = z.output<typeof refChange>;
/** What a run has done. */
interface CatchUpReport {
  /** Whether another process was catching up, so that this run did nothing. */
  isElsewhere: boolean;
  repositories: number;
  /** The number of repositories to compare. */
  total: number;
  /** The number of repositories that could not be read. The next run reads them again. */
  failed: number;
  /** The last failure of the Hub that can concern one repository alone. The next run should follow soon. */
  failure?: unknown;
  /** The number of calls to the Hub. */
  calls: number;
  /** The derived deliveries, without those that the filter ignores. */
  derived: DerivedDelivery[];
}
interface DerivedDelivery {
  id: string;
  scope: string;
  action: string;
  /** As `type:name`. */
  repository: string;
  /** Only for `repo.content`. */
  updatedRefs?: readonly RefChange[] | undefined;
  /** Only for `repo.content` of a bucket. */
  updatedFiles?: WebhookPayload["updatedFiles"];
}
interface RunOptions {
  signal: AbortSignal;
  /** Where the comparison starts if that is earlier than the end of the last run. */
  since?: CatchUpTarget["since"] | undefined;
  /** Called before each comparison, and at the end. */
  onProgress?: ((report: CatchUpReport) => void) | undefined;
  /** Whether to only report what would be derived. Cursors do not change. */
  dryRun?: boolean;
}
/** Every outcome, in display order. */
declare const activityOutcomes: readonly ["succeeded", "ignored", "retrying", "failed", "dead"];
/**
 * The outcome of a delivery or attempt. `failed` is a failure before the response. `retrying` is a failed background attempt
 * that will be retried, and `dead` is one that will not.
 */
type ActivityOutcome = (typeof activityOutcomes)[number];
/** Median and 95th percentile of handler durations, in milliseconds. They include checks of `paths` and `ignoreSelf`. */
interface HandlerTime {
  readonly p50: number;
  readonly p95: number;
  /** The number of handler runs from which the percentiles are computed. */
  readonly runs: number;
}
/**
 * Whether a webhook on the Hub is known to deliver to an endpoint. `unknown`: no delivery with an ID has arrived, and
 * `register()` has not run in this process.
 */
type EndpointRegistration = "registered" | "missing" | "unknown";
/** The state of one endpoint since the server started. Except for new deliveries, only {@link Activity} updates the counts. */
declare class EndpointActivity {
  #private;
  registration: EndpointRegistration;
  /** The number of received deliveries, excluding refused and duplicate ones, and inline ones that failed and were sent again. */
  get deliveries(): number;
  get last(): {
    readonly outcome: ActivityOutcome;
    readonly at: Date;
  } | undefined;
  /** Percentiles of the latest 256 handler durations, or `undefined` before the first run. */
  get handlerTime(): HandlerTime | undefined;
  countOf(outcome: ActivityOutcome): number;
  /** Counts a new delivery. `at` is its time of arrival, in milliseconds since the epoch. */
  addArrival(at: number): void;
  addRun(milliseconds: number, at: number): void;
  addEnd(outcome: ActivityOutcome, at: number, isRepeat?: boolean): void;
  /**
   * Returns the counts in one slot of time: new deliveries, failed deliveries that this server does not retry, handler runs, and
   * failed runs. Returns an empty array if nothing was counted.
   */
  countsIn(size: SlotSize, slot: number): Uint32Array;
}
/** A division of time in which an endpoint's activity is counted. */
interface SlotSize {
  slotMs: number;
  slots: number;
}
declare function readConditions(options: EndpointOptions): {
  ignoreSelf: boolean;
  catchUp: boolean;
  paths: {
    paths: readonly string[];
    matches: (path: string) => boolean;
    acceptsRef: (ref: unknown) => boolean;
  } | undefined;
} | undefined;
/**
 * The second argument of a handler. `signal`, `log`, and `request` are created on first use. Note that `{ ...context }`
 * creates all three. `hub` is loaded when one of its methods is called.
 */
interface HandlerContext<Payload = WebhookPayload> {
  readonly delivery: Delivery<Payload>;
  /**
   * Aborts when the endpoint's `timeout` ends. Before the response, also aborts when the client disconnects. In the
   * background, also aborts when the inbox loses the delivery's lease or the server shuts down. During a shutdown, the
   * handler has up to `shutdownGrace` to finish. If the handler fails or does not finish after a lost lease or during a
   * shutdown, it runs again, and the attempt does not count. Pass this signal to `fetch`.
   */
  readonly signal: AbortSignal;
  /** A logger that adds the endpoint and the delivery ID to each line. */
  readonly log: Logger;
  /**
   * The Hub client of the server (see `server.hub`), which is loaded at the first call. Use it to read the repository, to comment,
   * or to commit. With `ignoreSelf`, events that these calls cause are ignored.
   *
   * @example
   * ```ts
   * server.webhook("review", { scope: "repo.content", background: true }, async ({ repo }, { hub, signal }) => {
   *   return hub.repo(repo).readText("README.md", { revision: repo.headSha, signal });
   * });
   * ```
   */
  readonly hub: HubClient;
  /**
   * A copy of the HTTP request without the body, the `X-Webhook-Secret` header, and the `secret` query parameter.
   * Missing for background endpoints and for deliveries without HTTP.
   */
  readonly request?: Request | undefined;
}
/**
 * A function that handles deliveries. Its return value becomes the response: a `Response`, a value to send as JSON, or
 * `undefined` for status 200 with an empty body. The return value of a background handler is not sent, but an error
 * `Response` counts as a failure.
 */
type Handler<Payload = WebhookPayload> = (payload: Payload, context: HandlerContext<Payload>) => unknown;
/** Options of an endpoint. */
interface EndpointOptions extends FilterOptions {
  /**
   * The maximum duration of a handler run. After this time, the delivery fails with status 504, or the background
   * attempt fails. Default `"25s"`, because the Hub waits 30 s for a response. Default for background endpoints:
   * `"10m"`.
   */
  timeout?: Duration;
  /**
   * Whether the server stores each delivery, answers 202, and then runs the handler with retries. A delivery that
   * arrives twice runs once. The `attempts`, `backoff`, `concurrency`, and `retention` options require `background:
   * true`. Default `false`.
   */
  background?: boolean;
  /** The maximum number of attempts per delivery. Default `10`, or one more than the number of waits in a `backoff` list. */
  attempts?: number;
  /**
   * The waits between attempts, which vary by ±20%. Default: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 6 h, and 12 h,
   * about 22 h in total. Each further attempt waits 12 h.
   */
  backoff?: Backoff;
  /** The maximum number of the endpoint's deliveries that run at the same time on this server. Default `4`. */
  concurrency?: number;
  /**
   * How long a finished delivery is kept. Default `"14d"`. To detect duplicates, delivery IDs are kept for at least
   * 7 days, and always for one day longer than all retries can take.
   */
  retention?: Duration;
  /**
   * The schema of the body. Default: the schema of Hub payloads. With a Standard Schema (zod, valibot, arktype, …), the
   * body must be JSON, and the handler receives the schema's output. If the endpoint also has a filter, the body must
   * also be a Hub payload. With `null`, any body is accepted, even an empty one: the payload is `null`, and
   * `delivery.body` is the text.
   */
  schema?: StandardSchemaV1 | null;
  /**
   * One or more items that the endpoint's webhook on the Hub watches, such as `"dataset:me/data"`, `"org:acme"` or
   * `"user:me"`. `hub-webhooks sync` and `register` of `hub-webhooks/client` create the webhook. The server itself does not.
   */
  watch?: Watch | readonly Watch[];
  /**
   * The domains that the endpoint's webhook subscribes to: `repo`, `discussion`. Default: the domains that `scope` covers,
   * or both without `scope`.
   */
  domains?: WebhookDomain | readonly WebhookDomain[];
  /**
   * Whether to ignore events that this server caused: commits, pull requests, merges, discussions, and comments that were made with
   * `context.hub` or `server.hub`. Other changes of the same Hub account still arrive. The server recognizes its changes by their
   * IDs, which it stores in the inbox, and by its markers: see `hubSignature` of `WebhooksServer`. Default `false`.
   */
  ignoreSelf?: boolean;
  /**
   * Whether the server derives the deliveries that the endpoint missed, such as during an outage or while a Space was asleep, from
   * what the Hub publishes: commits, visibility, names, discussions, and comments of the models, datasets, and Spaces in `watch`. The
   * server compares at its start and then `every` interval (default `"6h"`), and remembers in the inbox what it has seen. The first
   * comparison starts at the present state (`since: "now"`, the default), at a time, or at the beginning of each repository
   * (`since: "all"`, which runs the handler for everything that exists). Requires `background: true` and `watch`.
   *
   * A derived delivery has the payload that the Hub would have sent, and `delivery.origin` is `"catch-up"`. Several missed pushes to a
   * ref are one delivery.
   */
  catchUp?: boolean | CatchUpSettings;
}
/** How an endpoint catches up: see `catchUp` of {@link EndpointOptions}. */
interface CatchUpSettings {
  /** The interval between two comparisons with the Hub. Default `"6h"`. */
  every?: Duration;
  /** Where the first comparison starts: at the present state, at the beginning of each repository, or at a time. Default `"now"`. */
  since?: "now" | "all" | Date;
}
type OneOf<Value> = Value extends readonly (infer Item)[] ? Item : Value;
type RepoTypeOf<Options> = Options extends {
  repo: infer Repo;
} ? OneOf<Repo> extends `${infer Type}:${string}` ? Type : string : string;
/** The payload type that TypeScript infers from the options of an endpoint. */
type PayloadFor<Options extends EndpointOptions> = Options extends {
  schema: null;
} ? null : Options extends {
  schema: infer Schema extends StandardSchemaV1;
} ? StandardSchemaV1.InferOutput<Schema> : Options extends {
  scope: infer Scope;
} ? undefined extends Scope ? WebhookPayload : PayloadOf<Extract<OneOf<Scope>, string>, RepoTypeOf<Options>> : WebhookPayload;
/** A registered endpoint. */
interface Endpoint extends FilterValues {
  readonly name: string;
  /** Warnings about options that are probably mistakes. */
  readonly warnings: readonly string[];
  readonly ignoreSelf: boolean;
  readonly watch: readonly WatchedItem[];
  readonly domains: readonly WebhookDomain[];
  readonly requiresJson: boolean;
  readonly timeoutMs: number;
  /** The settings with which the inbox runs deliveries. Missing for endpoints that run the handler before the response. */
  readonly queue?: Pick<EndpointQueue, "concurrency" | "policy" | "retentionMs"> | undefined;
  readonly parse: DeliveryParser;
  /** How missed deliveries are derived. Missing if they are not. */
  readonly catchUp?: {
    readonly everyMs: number;
    readonly since: "now" | "all" | Date;
  } | undefined;
  /** The conditions that are checked before each run of the handler, because they can require calls to the Hub. */
  readonly conditions: ReturnType<typeof readConditions>;
  readonly handler: Handler<unknown>;
  /** The counts of deliveries since the process started. */
  readonly activity: EndpointActivity;
}
/** The tunnel providers. */
declare const providerNames: readonly ["localtunnel", "cloudflared", "ngrok"];
/** The name of a tunnel provider. */
type ProviderName = (typeof providerNames)[number];
/** The events of an open tunnel, and the values that its listeners receive. */
interface TunnelEvents {
  /** Deliveries arrive again after a `down`. */
  up: [];
  /** Deliveries no longer arrive. The error contains the reason. The tunnel tries to reconnect until it is closed. */
  down: [error: WebhookError];
  /** The public URL has changed. Emitted before `up`. Update webhooks that point to the old URL. */
  urlChanged: [url: string];
  /**
   * The tunnel was lost or could not be reopened (`TUNNEL_FAILED`), or the server assigned a name other than the
   * requested one (`TUNNEL_NAME_TAKEN`). Without a listener, the error is ignored and does not end the process.
   */
  error: [error: WebhookError];
}
/** A listener for one of {@link TunnelEvents}. */
type TunnelEventListener<Name extends keyof TunnelEvents> = (...values: TunnelEvents[Name]) => void;
/** The options of `openTunnel`. */
interface OpenTunnelOptions {
  /**
   * The tunnel provider. Default `"localtunnel"`, which is part of this package. `"cloudflared"` and `"ngrok"` require
   * the program of that name on `PATH` or in `node_modules/.bin`. Programs are never downloaded.
   */
  provider?: ProviderName;
  /**
   * Your own http or https URL that already points to `port`, such as the URL of a named tunnel or a reverse proxy. No
   * tunnel is opened, and the URL is only polled. Cannot be combined with `provider`, `host`, or `subdomain`.
   */
  existingUrl?: string;
  /**
   * The local port to expose, 1 to 65535. Start to listen on this port before you open the tunnel, on 127.0.0.1 or on
   * all addresses.
   */
  port: number;
  /** The URL of the localtunnel server. Default: `LOCALTUNNEL_HOST`, otherwise `https://localtunnel.me`. */
  host?: string;
  /**
   * The name to request in the public URL from localtunnel: 4 to 63 lowercase letters, digits, and hyphens. If the name
   * is taken, the server can assign another name, and the tunnel emits an `error` with the code `TUNNEL_NAME_TAKEN`. By
   * default, the server chooses a name, and the tunnel requests this name again after a loss.
   */
  subdomain?: string;
  /**
   * Cancels the opening of the tunnel. The promise rejects with the signal's abort reason. Has no effect on an open
   * tunnel.
   */
  signal?: AbortSignal;
  /** The timeout for opening the tunnel. Default `"15s"`, or `"30s"` with cloudflared. */
  timeout?: Duration;
  /**
   * The interval of requests that check whether the public URL is reachable. In `openTunnel`, any status below 500
   * passes. After two failures in a row, the tunnel counts as lost. Default `"15s"`.
   */
  heartbeat?: Duration;
}
/** An open tunnel from a public URL to a local port. Reconnects after a loss until it is closed. */
interface Tunnel {
  /**
   * The public URL without a trailing slash, such as `https://quiet-owl-12.loca.lt`. Read it again after `urlChanged`.
   */
  readonly url: string;
  /** `up` until a loss is detected, `down` until the tunnel has reconnected, or `closed`. */
  readonly status: "up" | "down" | "closed";
  /**
   * Adds a listener for an event, and returns the function that removes it.
   *
   * @example
   * ```ts
   * const stopListening = tunnel.on("down", (error) => console.error(error.message));
   * ```
   */
  on<Name extends keyof TunnelEvents>(event: Name, listener: TunnelEventListener<Name>): () => void;
  /** Closes the tunnel. Resolves when all of its processes and connections have ended. Safe to call twice. */
  close(): Promise<void>;
  /** The same as {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}
/**
 * Makes a local port reachable from the internet. A lost tunnel is reopened until it is closed, with delays of 1 s, 2
 * s, 4 s, and so on, up to 30 s.
 *
 * @throws `TUNNEL_FAILED` with the reason if there is no tunnel within `timeout`, `OPTION_INVALID` if an option is
 * invalid, and the reason of `signal` if the signal aborts first.
 * @example
 * ```ts
 * await using tunnel = await openTunnel({ port: 7860 });
 * console.log(`Point your webhooks to ${tunnel.url}/webhooks/retrain`);
 * tunnel.on("urlChanged", (url) => console.log(`Point your webhooks to ${url}/webhooks/retrain`));
 * ```
 */
declare function openTunnel(options: OpenTunnelOptions): Promise<Tunnel>;
/**
 * A Hono app with any environment, from any copy of Hono. The type has only a few fields, because TypeScript treats the
 * classes of two copies of Hono as different types.
 */
interface HonoApp {
  /** The routes and the middleware, in the order of their registration. */
  readonly routes: readonly {
    readonly path: string;
    readonly method: string;
  }[];
  readonly fetch: (request: Request) => Response | Promise<Response>;
}
/**
 * The `hub` option of a server: the options of a client, or a client. The type of a client contains only the method that the server
 * calls, so that TypeScript infers the parameters of a `fetch` function in the options.
 */
type HubOption = HubClientOptions | Pick<HubClient, typeof observeActions>;
/** Options of `launch()`. */
interface LaunchOptions {
  /** The port to listen on, or 0 for any free port. Default: `PORT`, else `7860`, the default port of a Space. */
  port?: number;
  /**
   * The host to listen on. Default: `HOST`, else `0.0.0.0` in a Space, else `127.0.0.1`, to which only this machine can
   * connect.
   */
  host?: string;
  /**
   * Whether to open a tunnel, or the tunnel's options. The tunnel has a temporary public URL for `/webhooks/*`, and
   * closes after 72 hours. Default: `TUNNEL` (`1` or the name of a provider), else no tunnel. If no secret is set, the
   * server creates and prints a secret for the session. If the options contain an `existingUrl`, no tunnel is opened:
   * the server only polls this URL, which must point to the server's port.
   */
  tunnel?: boolean | Omit<OpenTunnelOptions, "port">;
  /**
   * The interval in which the server asks the Hub for changes of everything that its endpoints `watch`, instead of waiting for
   * webhooks: without a webhook, a tunnel, a public URL, or write access, also for repositories of others. `launch()` resolves after the
   * first comparison, from which changes are delivered. Requires `background: true` for each endpoint with `watch`. An interval that the
   * Hub's rate limit does not allow is refused. Default: `POLL`, else no polling. See `catchUp` of the endpoints for what can be found out.
   */
  poll?: Duration;
  /**
   * The public URL of this server, for the log and the landing page. Pass a function if the URL may change. Default:
   * `PUBLIC_URL`, else the URL of the Space or tunnel.
   */
  publicUrl?: string | (() => string);
  /**
   * Whether to log the URLs of the server and whether a secret is set at startup. Warnings are always logged. Default
   * `true`.
   */
  announce?: boolean;
  /**
   * The maximum times for a client to send the headers (`headers`, default `"15s"`), to send a whole request (`request`,
   * default `"30s"`), to send the next request on the same connection (`keepAlive`, default `"10s"`), and to read a response
   * (`write`, default `"30s"`). `headers` must not be longer than `request`.
   */
  timeouts?: {
    headers?: Duration;
    request?: Duration;
    keepAlive?: Duration;
    write?: Duration;
  };
  /**
   * The maximum number of open connections. At the limit, a new connection closes the oldest one without a request in
   * progress, or, if more clients are sending requests, the oldest one of those. If all clients wait for responses, the new
   * connection is closed. `Infinity` disables the limit. Default `2000`.
   */
  maxConnections?: number;
  /**
   * The maximum number of requests on one connection, which is closed after the last response. `Infinity` disables the
   * limit. A client that pipelines more than 16 unanswered requests is always disconnected. Default `1000`.
   */
  maxRequestsPerSocket?: number;
  /**
   * How long `close()`, SIGTERM, and SIGINT wait for running handlers. The server first waits for requests in progress.
   * In the remaining time, it aborts the `signal` of background handlers and waits for them. Background deliveries that
   * do not finish are queued again. Default `"30s"`.
   */
  shutdownGrace?: Duration;
  /**
   * Whether the server handles signals and errors of the process. Default `true`, but `false` under a test runner (vitest,
   * `node --test`, or `NODE_ENV=test`). If `true`:
   *
   * - SIGTERM and SIGINT let running requests finish, and exit the process with code 0, or with code 1 if requests do not
   *   finish within `shutdownGrace`. A second signal exits immediately.
   * - Unhandled rejections are logged and do not crash the process.
   * - A failed launch logs one line and exits the process with code 1.
   *
   * If `false`, a failed `launch()` rejects, and signals and rejections are not handled.
   */
  handleSignals?: boolean;
}
/** The port and URLs of a launched server. */
interface LaunchedServer {
  /** The port on which the server listens. */
  port: number;
  /** The URL of the server on this machine, without a trailing slash. */
  url: string;
  /**
   * The public URL: from the `publicUrl` option or `PUBLIC_URL`, else from the Space or tunnel, else the same as `url`.
   * The URL of a tunnel can change.
   */
  publicUrl: string;
}
/** Options of a `WebhooksServer`. */
interface WebhooksServerOptions {
  /**
   * The secret of deliveries, several valid secrets during a rotation, or `false` to accept deliveries without a secret.
   * Default: `WEBHOOK_SECRET` and `WEBHOOK_SECRET_PREVIOUS`. If neither is set, the endpoints are open to everyone, and the
   * server logs a warning. An empty secret, in the option or in the environment, is an error (`OPTION_INVALID`). So is an
   * `undefined` option without the variables, because `secret: process.env.MY_SECRET` must not open the server if
   * `MY_SECRET` is missing.
   */
  secret?: string | readonly string[] | false;
  /**
   * Whether to accept `?secret=` in the URL, for senders that cannot set headers. Default `false`, because proxies log URLs.
   */
  secretInQuery?: boolean;
  /**
   * The token that signs in to the console at `/_console/`, and the password of `/metrics` and the details of `/ready` (HTTP Basic
   * authentication with any username). A shorter token than 16 characters is an error (`OPTION_INVALID`). Default
   * `CONSOLE_TOKEN`. Without a token, `launch()` logs a one-time link to the console, and the metrics are only available on this
   * machine, and never in a Space or with a public URL (`PUBLIC_URL`, `launch({ publicUrl })`).
   */
  consoleToken?: string;
  /**
   * The inbox that stores the deliveries of background endpoints: a URL, which overrides `INBOX_URL`, or an `Inbox` object,
   * which the server closes when it closes. Default: `INBOX_URL`, else an inbox in memory under a test runner (vitest, `node
   * --test`, or `NODE_ENV=test`), else `sqlite:./.hub-webhooks/inbox.db`. In a Space, use a Storage Bucket, such as
   * `hf://buckets/me/inbox`: a restart erases the disk.
   */
  inbox?: string | Inbox;
  /**
   * The logger. Default: the console, and pino on standard output after `launch()` or `ready()`. `LOG_LEVEL` sets the level, by
   * default `info`. Under a test runner, the default logger is silent without `LOG_LEVEL`.
   */
  logger?: Logger;
  /**
   * A Hono app with middleware, such as a rate limit, an allow list, or tracing. The built-in routes are added after
   * the routes and middleware of this app. The app's middleware therefore runs for deliveries, the landing page,
   * `/health`, `/metrics`, and the console, and the app's routes take precedence. The app keeps its `onError` and
   * `notFound` handlers. Add middleware before you create the server: afterward, `app.use()` throws
   * `MIDDLEWARE_TOO_LATE`. Default: an app without middleware.
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
   * The path under which another app or a proxy mounts this server, such as `/hub`. The URLs and links on the landing page
   * start with this path. Requests match with and without the path, so the app or proxy may remove it. Default: the prefix
   * of `parent.route(prefix, server.app)`, else no prefix.
   *
   * @example
   * ```ts
   * // app/api/webhooks/[...path]/route.ts of a Next.js app
   * const server = new WebhooksServer({ basePath: "/api" });
   * ```
   */
  basePath?: string;
  /**
   * Whether the URLs and links on the landing page use `X-Forwarded-Proto`, `X-Forwarded-Host`, and
   * `X-Forwarded-Prefix`. Set this option only if a proxy sets or removes all three headers. Otherwise, any client can
   * choose the URLs on the page. Default `false`.
   */
  trustProxy?: boolean;
  /** The maximum size of a body in bytes. Default: 10 MiB, because a bucket payload can list 10,000 files. */
  bodyLimit?: number;
  /**
   * The landing page at `GET /`: HTML, a Hono app, a function that returns a page, or `false` for no page. Default: the
   * built-in page.
   */
  landingPage?: LandingPage;
  /**
   * Whether to record, for the console, the request headers of each delivery (at most 4 KiB, secrets redacted), and the handler's
   * log lines, result, and stack of each attempt (at most 16 KiB). The inbox stores them with the delivery, until its retention
   * period ends. Deliveries of inline endpoints are kept in memory: the latest 500 runs, at most 16 MiB. If more than 500 arrive in
   * one second, only failures are added. Default `true`.
   */
  recordDetails?: boolean;
  /**
   * Whether to serve metrics for Prometheus at `GET /metrics`. Requires the package `prom-client`. Default: `true` if
   * `METRICS` is `1`, else `false`.
   */
  metrics?: boolean;
  /**
   * The Hub client of handlers (`context.hub`) and of `server.hub`: the options of a client, or a client. Default: a client with
   * `HF_TOKEN` and `HF_ENDPOINT`. In a bundle for an edge worker, which does not contain the client otherwise, pass a client.
   *
   * @example
   * ```ts
   * // In a test, the local Hub replaces the Hub.
   * const server = new WebhooksServer({ hub: { hubUrl: localHub.url, token: "hf_local" } });
   * ```
   */
  hub?: HubOption;
  /**
   * The name of this server in the markers of its commits, discussions, and comments, which `ignoreSelf` and the `marker` options
   * of the client recognize. Replicas of one server must have the same name, and the name must stay the same across restarts. Set
   * different names if several servers use the same Hub account, and should see each other's changes. Maximum: 200 characters.
   * Default: `SPACE_ID`, else `"server"`.
   */
  hubSignature?: string;
}
/** The outcomes on the landing page, where `failed` includes dead background deliveries. */
type LandingOutcome = Exclude<ActivityOutcome, "dead">;
/** An endpoint on the landing page. The page is public, so no value comes from a payload. */
interface LandingEndpoint {
  /** The part of the path after `/webhooks/`. */
  name: string;
  /** The full public URL to register on the Hub. Escape it: its host can come from the client's `Host` header. */
  url: string;
  /** Always `POST`, the only method that the Hub uses. */
  method: "POST";
  /** Whether deliveries are stored and the handler runs in the background. */
  background: boolean;
  /** The scopes that match the filter of the endpoint. Empty: every scope. */
  scopes: readonly string[];
  /**
   * Whether a webhook on the Hub is known to deliver to the endpoint, without a request to the Hub. `registered`: a delivery
   * with a `Webhook-Id` has arrived since the process started, or `register()` found or created the webhook. `missing`:
   * `register()` did not create the webhook. Otherwise `unknown`.
   */
  registration?: EndpointRegistration;
  /** The number of new deliveries since the process started, without refused and duplicate deliveries. */
  deliveries: number;
  /**
   * The number of new deliveries in the current clock hour and the 23 before it. The Hub triggers a webhook at most 1,000
   * times in 24 hours.
   */
  lastDay: number;
  /** The outcome of the latest delivery or background attempt, and its time (ISO 8601). Absent before the first. */
  last?: {
    outcome: LandingOutcome;
    at: string;
  };
}
/**
 * The counts of one clock hour. `succeeded`, `ignored`, and `failed` count finished deliveries, where `failed` includes dead
 * background deliveries. A replayed delivery counts again. `retrying` does not count deliveries, but failed background attempts
 * with a retry left.
 */
interface LandingHour extends Readonly<Record<LandingOutcome, number>> {
  /** The start of the hour (ISO 8601). */
  startedAt: string;
}
/** The activity of all endpoints since the process started. It is kept in memory, so a restart clears it. */
interface LandingActivity {
  /** The current clock hour and up to 23 before it, oldest first, without hours before the start. */
  hours: readonly LandingHour[];
  /** The duration of the latest handler runs (at most 1,024), in milliseconds. Absent before the first run. */
  handlerTime?: HandlerTime;
  /**
   * The number of queued, running, and dead deliveries in the inbox; `unknown` if the inbox does not respond. Absent without
   * a background endpoint, and before the inbox is open.
   */
  queue?: {
    queued: number;
    running: number;
    dead: number;
  } | "unknown";
}
/**
 * The data of the landing page. The built-in page renders it, and a function set as `landingPage` receives it.
 *
 * @example
 * ```ts
 * import { html } from "hono/html"; // escapes interpolated values
 *
 * new WebhooksServer({ landingPage: (info) => html`<ul>${info.endpoints.map(({ url }) => html`<li>${url}</li>`)}</ul>` });
 * ```
 */
interface LandingInfo {
  endpoints: readonly LandingEndpoint[];
  /** Whether deliveries must contain a secret. The secret itself is not included. */
  secretIsSet: boolean;
  /** The public URL of the server, without a trailing slash. Escape it, like the endpoint URLs that start with it. */
  baseUrl: string;
  /**
   * The path prefix of the server as the client sees it, such as `/hub`, without a trailing slash. Empty at the root, and
   * if a proxy removes a prefix that neither `basePath` nor `X-Forwarded-Prefix` contains.
   */
  basePath: string;
  /** When the process started (ISO 8601). */
  startedAt: string;
  activity: LandingActivity;
  /** The Space that runs the server (`SPACE_ID`, such as `acme/bot`). Absent outside a Space. */
  space?: {
    id: string;
  };
  /** The theme from the query `?__theme=`. Absent: use the theme of the user's system. */
  theme?: "light" | "dark";
}
/** The landing page at `GET /`: HTML, a Hono app, a function that returns HTML or a response, or `false` for none. */
type LandingPage = string | Hono | ((info: LandingInfo) => string | Response | Promise<string | Response>) | false;
/**
 * The property through which the tools of this package (`dev`, `sync`, `register`, jobs) describe and control a server. The
 * symbol is registered (`Symbol.for`), because a tool and the user's project may use different copies of this package.
 */
declare const serverControl: unique symbol;
interface EndpointDetails extends Pick<Endpoint, keyof FilterValues | "name" | "watch" | "domains" | "ignoreSelf" | "warnings"> {
  readonly background: boolean;
}
/** The endpoints, in the order of their registration, and the secret of a server. */
interface ServerDescription {
  readonly endpoints: readonly EndpointDetails[];
  /** The first valid secret, or `undefined` if none is required. Reading it throws `OPTION_INVALID` if `WEBHOOK_SECRET` is empty. */
  readonly secret?: string | undefined;
}
/** A delivery that does not arrive over HTTP: it requires no secret, and no client waits for a response. */
interface JobDelivery {
  endpoint: string;
  body: string;
  /** The `Webhook-Id`. A missing ID, or one that is not 1 to 200 printable ASCII characters, is replaced. */
  id: string | undefined;
  signal: AbortSignal;
}
/** The options of a run that no schedule starts. */
interface CommandRunOptions extends RunOptions {
  /** Called before the comparisons, when the inbox has started to run what is due. */
  onOpened?: () => Promise<void>;
}
interface ServerControl {
  /** Whether `secret: false` opens the server to everyone. */
  readonly isSecretDisabled: boolean;
  /** Describes the server. The secret is only read when it is accessed, because a job does not require a secret. */
  describe(): ServerDescription;
  /** Adds `secret` to the valid secrets (`add`), or makes it the only valid secret (`replace`). */
  useSecret(secret: string, mode: "add" | "replace"): void;
  /**
   * Sets the URL of the inbox, which overrides `INBOX_URL` and a URL in the options. An `Inbox` object in the options is kept,
   * with a warning. Call this method before the launch.
   */
  useInbox(url: string): void;
  /** Sets the token of a tool for the API of the console. Call this method before the launch, which then logs no sign-in link. */
  useConsoleToken(token: string): void;
  /**
   * What the console shows and no inbox stores: inline deliveries, and the activity. A dev session hands it over to the next process
   * after a reload. Call `restore` before the launch.
   */
  readonly console: {
    takeSnapshot(): Promise<unknown>;
    restore(snapshot: unknown): Promise<void>;
  };
  /** Limits the wait before each retry, in milliseconds, unless the handler requests a longer wait. */
  limitRetryWaits(maxMs: number): void;
  /** Sets whether webhooks on the Hub deliver to the endpoints, by endpoint. The landing page shows it. */
  setRegistrations(registrations: ReadonlyMap<string, EndpointRegistration>): void;
  /** Launches the server like `launch()`, but a failed launch always rejects, so that the tool can report the error. */
  launch(options: LaunchOptions): Promise<LaunchedServer>;
  /** Compares the Hub once with what each endpoint with `watch` received, and accepts what is missing. Returns reports by endpoint. */
  catchUp(options: CommandRunOptions): Promise<ReadonlyMap<string, CatchUpReport>>;
  /** Starts a comparison of each endpoint with `catchUp` soon, because its webhook was registered or enabled. */
  compareNow(): Promise<void>;
  /**
   * Runs an endpoint's handler once, also in the case of a background endpoint, and logs the outcome.
   *
   * @throws `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `OPTION_INVALID` when `LOG_LEVEL`
   * is invalid.
   */
  runJob(delivery: JobDelivery): Promise<Outcome>;
}
/** A `WebhooksServer` of any copy of this package. */
interface ControllableServer {
  readonly endpointNames: readonly string[];
  readonly [serverControl]: ServerControl;
}
/** The webhook that an endpoint declares, with the same fields as a webhook on the Hub. */
interface DesiredWebhook {
  /** The name of the endpoint. */
  endpoint: string;
  url: string;
  watched: EndpointDetails["watch"];
  domains: EndpointDetails["domains"];
}
/** The options of `register`. */
interface RegisterOptions {
  /**
   * The public URL of the server, such as `https://me-bot.hf.space`. The webhooks point to `/webhooks/…` below this
   * URL.
   */
  publicUrl: string;
  /**
   * The path of the file that records the managed webhooks. Keep this file between runs, and use a separate file for
   * each server. Default `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the first secret of the server. Without a secret, new webhooks have no secret,
   * so anyone who knows the URL of an endpoint can send requests to the endpoint. Existing webhooks keep their secrets.
   */
  secret?: string | undefined;
  /** Removes existing secrets. Cannot be combined with `secret`. Default `false`. */
  removeSecret?: boolean | undefined;
  /** Reports the steps without executing them, including the steps that are known to fail. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes managed webhooks whose endpoint no longer exists. By default, these webhooks are reported as skipped. */
  prune?: boolean | undefined;
  /**
   * Adopts webhooks that deliver to one of the endpoints but were created elsewhere. By default, these webhooks are
   * reported as skipped.
   */
  adopt?: boolean | undefined;
  /** Cancels the registration between two steps or during a request to the Hub. */
  signal?: AbortSignal | undefined;
}
/** A connection to the Hub to register webhooks on, such as a `HubClient`. */
interface HubConnection {
  /** The URL of the Hub. The state file uses it to identify the Hub. */
  readonly hubUrl: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}
/** The result of a registration, or its preview in a dry run. */
interface RegistrationReport {
  /** The URL of the Hub. */
  readonly hubUrl: string;
  /** The public URL of the server. */
  readonly publicUrl: string;
  /**
   * The steps that resolve the differences between the endpoints and the Hub, in the order of execution. Empty if all
   * webhooks are in sync.
   */
  readonly steps: readonly RegistrationStep[];
  /** The steps that succeeded. Empty in a dry run. */
  readonly done: readonly RegistrationStep[];
  /**
   * The steps that failed, with the errors. Later steps for the same webhook were skipped. In a dry run, the steps that
   * would fail without a request to the Hub.
   */
  readonly failed: readonly FailedStep[];
  /** The endpoints and webhooks that were not changed but need your attention. */
  readonly skipped: readonly SkippedWebhook[];
  /** The webhooks that are in sync. */
  readonly unchanged: readonly {
    readonly endpoint: string;
    readonly id: string;
  }[];
}
/** One change to a webhook on the Hub. */
type RegistrationStep = CreateStep | UpdateStep | EnableStep | DeleteStep;
/** Creates a webhook. */
interface CreateStep extends DesiredWebhook {
  readonly action: "create";
  /** Whether the webhook is created with a secret. */
  readonly secretIsSet: boolean;
  /** The ID of the webhook. Absent before the webhook is created. */
  readonly id?: string;
}
/** Updates a webhook. */
interface UpdateStep {
  readonly action: "update";
  readonly endpoint: string;
  readonly id: string;
  readonly changes: readonly FieldChange[];
  /** Whether the webhook was created elsewhere and is adopted with this update. */
  readonly isAdopted: boolean;
}
/** Enables a webhook that was disabled, or re-enables a webhook that the Hub suspended. */
interface EnableStep {
  readonly action: "enable" | "re-enable";
  readonly endpoint: string;
  readonly id: string;
  /** The reason why the webhook is not enabled. */
  readonly reason: string;
  /** How to prevent the Hub from suspending the webhook again. */
  readonly remedy?: string;
}
/** Deletes a webhook. */
interface DeleteStep {
  readonly action: "delete";
  readonly endpoint: string;
  readonly id: string;
  readonly reason: string;
}
/** A change to a secret. Reports never contain the secret. */
type SecretChange = "set" | "changed" | "removed";
/** A change to a field of a webhook. Secrets in URLs are masked. */
type FieldChange = {
  readonly field: "url" | "watched" | "domains";
  readonly before: string;
  readonly after: string;
} | {
  readonly field: "secret";
  readonly change: SecretChange;
};
/** A step that failed, or that would fail in a dry run, and the error. Steps for other webhooks were still tried. */
interface FailedStep {
  readonly step: RegistrationStep;
  readonly error: HubError;
}
/** An endpoint or a webhook that was not changed but needs your attention. */
interface SkippedWebhook {
  /**
   * - `no-watch`: the endpoint has no watch list.
   * - `not-managed`: a webhook delivers to the endpoint but was created elsewhere.
   * - `endpoint-removed`: the endpoint of a managed webhook no longer exists, or no longer has a watch list.
   * - `duplicate`: the endpoint has more than one managed webhook.
   * - `secret-kept`: the webhook has a secret on the Hub, but no secret was given.
   */
  readonly reason: "no-watch" | "not-managed" | "endpoint-removed" | "duplicate" | "secret-kept";
  readonly endpoint: string;
  /** The ID of the webhook, if there is one. */
  readonly id?: string;
  /** A description of the problem and the remedy. */
  readonly message: string;
}
/**
 * Reconciles the webhooks on the Hub with the endpoints of a server: creates missing webhooks, updates webhooks that
 * differ, and enables webhooks that are disabled or suspended. Does not change webhooks that were created elsewhere.
 * Requires Node, Bun, or Deno, because the state file needs a file system.
 *
 * If a change fails, the failure is reported in `failed`, and the other webhooks are still processed.
 *
 * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` if the webhooks cannot be listed; the signal's abort reason.
 * Steps that were completed before the error are recorded in the state file.
 * @example
 * ```ts
 * const report = await register(server, new HubClient(), { publicUrl: "https://me-bot.hf.space" });
 * for (const { error } of report.failed) console.error(error.message);
 * ```
 */
declare function register(server: ControllableServer, client: HubConnection, options: RegisterOptions): Promise<RegistrationReport>;
declare namespace client_d_exports {
  export { AuditLogEvent, AuditLogSearch, AuditLogType, CallOptions, ChangeComment, ChangedFile, ChangedFilesOptions, CommentUpsert, CommitFiles, CommitRequest, CommitResult, CreateStep, DeleteStep, DiscussionDetails, DiscussionEvent, DiscussionRequest, DiscussionSearch, DiscussionSummary, EnableStep, FailedStep, FieldChange, HubClient, HubClientOptions, HubConnection, HubError, HubErrorOptions, HubFetchInit, HubJobs, HubNetworkSecurity, HubNotifications, HubOrganizations, HubPapers, HubRepository, HubResourceGroups, HubSettings, HubWebhooks, Job, JobCallOptions, JobHardware, JobLogLine, JobLogOptions, JobRequest, JobSearch, JobStage, ListFilesOptions, McpSettings, MemberRoleChange, MemberSearch, MergeResult, NetworkSecurity, NetworkSecurityChange, Notification, NotificationPage, NotificationSearch, NotificationSelection, NotificationSettingsChange, OpenedDiscussion, OpenedPullRequest, OrganizationMember, OrganizationRole, Pages, PaperClaim, PaperClaimResult, PullRequestRequest, ReadFileOptions, RegisterOptions, RegistrationReport, RegistrationStep, RepoRef as RepoId, RepositoryCommit, RepositoryFile, RepositoryInfo, RepositoryRefs, Resource, ResourceGroup, ResourceGroupRequest, RevisionOptions, RevokedToken, ScimConfig, SkippedWebhook, UpdateStep, UpsertedComment, NotificationWatchChange as WatchChange, NotificationWatchItem as WatchItem, Watched, WatchedType, Webhook, WebhookChanges, WebhookDomain, WebhookError, WebhookErrorCode, WebhookErrorCodes, WebhookErrorOptions, WebhookJob, WebhookJobRequest, WebhookRequest, Whoami, register };
}
/** A line that the child process prints. */
interface OutputLine {
  stream: "stdout" | "stderr";
  text: string;
}
/** An endpoint of a session. */
interface DevEndpoint {
  name: string;
  /** The URL of the endpoint's webhook. */
  url: string;
  /** The items that the webhook watches, as `type:name`. Empty if the endpoint has no webhook. */
  watch: readonly string[];
  /**
   * The arguments of `hub-webhooks trigger` that send a test event to the endpoint. Absent on the real Hub and for an
   * endpoint without a webhook.
   */
  trigger?: readonly string[];
}
/** The current URLs and endpoints of a session. */
interface DevState {
  /** The local URL, without a trailing slash. */
  url: string;
  /** The URL to which the Hub sends deliveries. The same as `url` if there is no tunnel and no `publicUrl` option. */
  publicUrl: string;
  /** The Hub on which the session's webhooks are registered. */
  hub: {
    kind: "local" | "real";
    url: string;
  };
  endpoints: readonly DevEndpoint[];
  /** The URL of the console. Opening it requires a sign-in link. */
  consoleUrl: string;
  /** The URL of the session's inbox, with a masked password. Absent if no endpoint runs in the background. */
  inbox?: string;
}
/** An event that a session passes to its `onEvent` option. */
type DevEvent =
/** The session is ready for deliveries: a test request has arrived through the public URL. Emitted once. */
({
  event: "ready";
} & DevState) |
/** The public URL is no longer reachable. The tunnel tries to reconnect until the session is closed. */
{
  event: "down";
  reason: string;
} |
/** Deliveries arrive again. */
{
  event: "up";
  publicUrl: string;
} |
/** The public URL has changed. The session then updates its webhooks. */
{
  event: "urlChanged";
  publicUrl: string;
} |
/** Source files have changed. New deliveries wait until the server is reloaded. */
{
  event: "reloading";
  files: readonly string[];
} |
/** The server is running again. Webhooks that could not be updated are reported as `problem` events. */
{
  event: "reloaded";
  endpoints: readonly DevEndpoint[];
} |
/**
 * The server failed to load, or its process exited. If `isRestarted` is true, deliveries wait for the restart.
 * Otherwise, deliveries receive status 503, and the Hub retries them.
 */
{
  event: "broken";
  reason: string;
  /** The stack trace, reduced to the user's own files. */
  stack?: string;
  /** Whether the server is restarted even if its files do not change. */
  isRestarted: boolean;
} |
/** A delivery was answered. */
({
  event: "delivery";
} & ProxiedDelivery) |
/** The session changed its webhooks. `steps` describes the changes for display. */
{
  event: "webhooks";
  steps: readonly string[];
} |
/** A sign-in link of the console was used. Create another one with `createConsoleLink()`. */
{
  event: "signedIn";
} |
/** A problem that does not end the session. `message` describes the problem and, where you can act, how to fix it. */
{
  event: "problem";
  code: string;
  message: string;
} |
/** A line of the server's output: JSON from the logger, or text that your code prints. */
({
  event: "output";
} & OutputLine);
/** A delivery that was answered. */
interface ProxiedDelivery {
  endpoint: string;
  /** The `Webhook-Id` header. Absent if the sender did not set the header. */
  deliveryId?: string;
  /** The HTTP status of the response. */
  status: number;
  /**
   * The time from the request headers to the end of the response, in milliseconds. Includes the time that the request
   * waits for the server.
   */
  durationMs: number;
  /**
   * The reason why the server did not answer the delivery. Absent if the server answered. The Hub retries deliveries
   * that the server did not answer.
   */
  reason?: string;
}
/** The result of a replay. */
interface ReplayResult {
  endpoint: string;
  deliveryId: string;
  /** The HTTP status of the response. */
  status: number;
}
/** The options of `startDev`. */
interface StartDevOptions {
  /** The file that creates the server. Default: the first of `server.ts`, `src/server.ts`, `app.ts`, and so on. */
  file?: string;
  /**
   * The URL of a program to which deliveries are passed on, instead of a server file: `http://localhost:8000/webhooks/data`. The
   * program can be written in any language. What arrives while it does not run waits for it. `X-Webhook-Secret` contains
   * `WEBHOOK_SECRET`, if that is set.
   */
  forward?: string;
  /**
   * The Hub to register the webhooks on. `"local"` (the default) starts a local Hub, which requires no account or
   * internet access. `"real"` uses the Hub at `hubUrl`, with a tunnel.
   */
  hub?: "local" | "real";
  /** The local port of the server. Default: 7860, or the next free port. */
  port?: number;
  /** The port of the local Hub. Default: 5050, or the next free port. */
  hubPort?: number;
  /**
   * The URL of the session's inbox. Overrides `INBOX_URL` and a URL in the options of the server, because a session must
   * not run the queued deliveries of a deployed server. If the server passes an `Inbox` object, the server uses that
   * object and logs a warning. Default `sqlite:./.hub-webhooks/dev.db`, or `dev-<port>.db` if the port
   * is not 7860.
   */
  inbox?: string;
  /**
   * The tunnel's options, or `false` for no tunnel. Default `{}` for the real Hub, and `false` for the local Hub, which
   * runs on the same machine.
   */
  tunnel?: false | Pick<OpenTunnelOptions, "provider" | "host" | "subdomain" | "timeout" | "heartbeat">;
  /**
   * The interval in which the server asks the Hub for changes of what its endpoints `watch`, instead of webhooks and a tunnel. See
   * `poll` of `launch()`.
   */
  poll?: Duration;
  /** Your own public URL that points to `port`. Replaces the tunnel. */
  publicUrl?: string;
  /**
   * The default watch list for endpoints that do not set one. If omitted, an endpoint on the local Hub watches the
   * repositories and owners in its filter, or all repositories of `local-user` if the filter has none. On the real Hub,
   * an endpoint without a watch list has no webhook.
   */
  watch?: readonly Watch[];
  /**
   * The token for the real Hub. Default: `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, or the token that `hf auth login` saved.
   */
  token?: string;
  /** The URL of the real Hub. Default: `HF_ENDPOINT`, otherwise `https://huggingface.co`. */
  hubUrl?: string;
  /**
   * The file that records the session's webhooks on the real Hub until they are deleted. Default
   * `.hub-webhooks/registrations.json`.
   */
  state?: string;
  /** Whether to wait for a change if the file does not load at the start. By default, `startDev` rejects. */
  waitForFile?: boolean;
  /** How often the session reverts other changes to its webhooks and enables suspended webhooks. Default `"1m"`. */
  repairInterval?: Duration;
  /** Called with every event. If the function throws, the session continues. */
  onEvent?: (event: DevEvent) => void;
  /** Ends the session, even while the session starts. */
  signal?: AbortSignal;
}
/**
 * A dev session, which runs a server file, reloads the file on changes, and manages temporary webhooks for its
 * endpoints.
 */
interface DevSession extends AsyncDisposable {
  /** The current URLs and endpoints. */
  readonly state: DevState;
  /** Creates a link that opens the console and signs in. The link is valid once, for one hour. */
  createConsoleLink(): string;
  /**
   * The secret that was generated for this session. `undefined` if the server has its own secret or the session has a
   * public URL. Set the header `X-Webhook-Secret` of your own test requests to this secret. The local Hub and
   * `hub-webhooks trigger` set the header automatically.
   */
  readonly secret: string | undefined;
  /**
   * Sends the latest delivery again with a new ID. Returns `undefined` if there is no delivery yet.
   *
   * @throws `SERVER_FILE_INVALID` while the file does not load; `NO_RESPONSE` if the server does not answer.
   */
  replay(): Promise<ReplayResult | undefined>;
  /** Deletes the session's webhooks, closes the tunnel, and stops the server. Safe to call twice. */
  close(): Promise<void>;
}
/**
 * Runs a server file like `hub-webhooks dev`. The session has a stable URL, reloads the file on every change, and
 * creates temporary webhooks that are deleted at the end. Resolves when deliveries can arrive, after a test request
 * through the public URL has succeeded.
 *
 * @throws `SERVER_FILE_INVALID`, `OPTION_INVALID`, `PORT_IN_USE`, `TUNNEL_FAILED`, `STATE_UNUSABLE`, errors of the Hub
 * (`HUB_TOKEN_MISSING`, `HUB_UNAUTHORIZED`, …), and the reason of `signal`.
 * @example
 * ```ts
 * await using dev = await startDev({ file: "server.ts", onEvent: (event) => console.log(event) });
 * console.log(dev.state.endpoints);
 * ```
 */
declare function startDev(options?: StartDevOptions): Promise<DevSession>;
declare namespace dev_d_exports {
  export { DevEndpoint, DevEvent, DevSession, DevState, OpenTunnelOptions, ProviderName, ProxiedDelivery, ReplayResult, StartDevOptions, Tunnel, TunnelEvents, TunnelEventListener as TunnelListener, openTunnel, startDev };
}
/**
 * Throw this error from a handler when a retry cannot succeed. A background endpoint then marks the delivery as dead
 * immediately.
 *
 * @example
 * ```ts
 * if (!(await modelExists(payload.repo.name))) throw new NonRetriableError("The model does not exist.");
 * ```
 */
declare class NonRetriableError extends WebhookError {
  constructor(message: string, options?: {
    cause?: unknown;
  });
}
/**
 * Throw this error from a handler to choose when a background endpoint retries the delivery. The attempt counts toward
 * `attempts`. If the date is invalid or beyond the endpoint's `retention`, the server logs `RETRY_TIME_INVALID` and uses the
 * endpoint's `backoff`.
 *
 * @throws `OPTION_INVALID` when `when` is not a duration.
 * @example
 * ```ts
 * throw new RetryAfterError("1h", { message: "No GPU is free." });
 * ```
 */
declare class RetryAfterError extends WebhookError {
  /** The time of the retry. */
  readonly retryAt: Date;
  constructor(when: Duration | Date, { message, cause }?: {
    message?: string;
    cause?: unknown;
  });
}
/** Options of methods that look up a delivery by its ID. */
interface DeliveryLookup {
  /** The name of the endpoint. Only required if two endpoints have a delivery with the same ID. */
  endpoint?: string;
}
/**
 * The deliveries of a server's background endpoints, as `server.inbox`. If the inbox is not open yet, each method opens it,
 * and the server then also starts to run queued deliveries.
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
  /** Lists deliveries, newest first. @throws `OPTION_INVALID` when an option is invalid. */
  list(options?: ListOptions): Promise<DeliveryPage>;
  /** Returns one delivery with its attempts, or `undefined` if the inbox does not contain the delivery. */
  get(id: string, { endpoint }?: DeliveryLookup): Promise<StoredDelivery | undefined>;
  /** Runs a delivery again, regardless of its status. @throws `DELIVERY_UNKNOWN` when the inbox does not contain it. */
  replay(id: string, lookup?: DeliveryLookup): Promise<void>;
  /** Runs every dead delivery of an endpoint again. Returns the number of these deliveries. */
  replayDead(endpoint: string): Promise<number>;
  /**
   * Discards a queued or dead delivery. It does not run, but can be replayed. Has no effect if the delivery has succeeded or was
   * discarded.
   *
   * @throws `DELIVERY_UNKNOWN` when the inbox does not contain the delivery, `DELIVERY_RUNNING` while the delivery is running.
   */
  discard(id: string, lookup?: DeliveryLookup): Promise<void>;
  /**
   * Pauses an endpoint in all processes of the inbox, also after restarts. The server still accepts and stores the endpoint's
   * deliveries, but does not run them. Running deliveries finish.
   */
  pause(endpoint: string): Promise<void>;
  /** Resumes an endpoint, whose deliveries run again within a second. */
  resume(endpoint: string): Promise<void>;
  /** Returns the names of the paused endpoints, sorted. */
  pausedEndpoints(): Promise<readonly string[]>;
  /** Returns the number of deliveries by endpoint and status. */
  counts(): Promise<Readonly<Record<string, DeliveryCounts>>>;
  /**
   * Deletes deliveries whose retention period has ended, which also happens every hour. Returns the number of deleted
   * deliveries.
   */
  prune(): Promise<number>;
}
/**
 * A standard decorator that registers a method as an endpoint. Requires TypeScript without `experimentalDecorators`. Static
 * methods are registered when the class is defined, and other methods when the class is instantiated for the first time.
 */
type WebhookDecorator<Payload> = <This, Method extends (this: This, payload: Payload, context: HandlerContext<Payload>) => unknown>(method: Method, context: ClassMethodDecoratorContext<This, Method>) => void;
/**
 * Registers handlers as endpoints. TypeScript infers the payload type from the options. Leading and trailing slashes
 * are removed from a name, so `"/retrain/"` becomes `"retrain"`.
 *
 * @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`, `ENDPOINT_EXISTS`, `OPTION_INVALID`, `DECORATOR_INVALID`;
 * `INBOX_UNUSABLE` for a background endpoint in a runtime without an inbox, such as a worker.
 */
interface WebhookFunction {
  /**
   * Registers a named function. The endpoint has the name of the function.
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
 * Receives Hub webhooks: `POST /webhooks/<endpoint>` runs your handler and answers with the handler's result, or stores
 * the delivery for a background endpoint.
 *
 * Until you launch the server, it requires no Node APIs: `server.fetch` runs on every runtime that Hono supports.
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
declare class WebhooksServer {
  #private;
  /** Registers handlers as endpoints, before or after the launch. See {@link WebhookFunction}. */
  readonly webhook: WebhookFunction;
  /**
   * The Hono app, to which you can add routes. This is the app from the `app` option, or a new app. You cannot add
   * middleware: `server.app.use()` throws `MIDDLEWARE_TOO_LATE`, because the built-in routes are already registered.
   */
  readonly app: Hono;
  /** The deliveries of the background endpoints. */
  readonly inbox: ServerInbox;
  /** @throws `OPTION_INVALID` if an option is invalid or unknown. */
  constructor(options?: WebhooksServerOptions);
  /**
   * The Hub client of this server, for code outside handlers. Handlers receive the same client as `context.hub`. The `hub` option
   * configures the client, which is loaded at the first call.
   *
   * @example
   * ```ts
   * const { name } = await server.hub.whoami();
   * ```
   */
  get hub(): HubClient;
  /** The names of the endpoints, in the order of their registration. */
  get endpointNames(): readonly string[];
  /**
   * Responds to a request. Hono's adapters, Bun, Deno, and edge workers call this function. On an edge worker, the
   * secret is read from `environment.WEBHOOK_SECRET`.
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
   * Validates and filters a payload, and runs the handler, without HTTP and without a secret, for tests. You can omit
   * `endpoint` if the server has only one endpoint.
   *
   * @throws `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`.
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
   * Prepares the server without listening: checks the settings, sets up the logger, and logs configuration warnings. If
   * there are background endpoints, also opens the inbox and starts to run queued deliveries. Call this method before
   * another server passes requests to `server.fetch`. You do not need it before `launch()`.
   *
   * @throws `OPTION_INVALID` when `WEBHOOK_SECRET` is empty, `CONSOLE_TOKEN` is short, `LOG_LEVEL` or `INBOX_URL` is invalid, or
   * metrics are enabled without `prom-client`; `INBOX_UNUSABLE`.
   */
  ready(): Promise<void>;
  /**
   * Starts listening, opens a tunnel if the options request one, and logs the URLs to register on the Hub. By default,
   * `launch()` also handles SIGTERM and SIGINT: see {@link LaunchOptions.handleSignals}.
   *
   * When `hub-webhooks dev`, `hub-webhooks sync`, or a job runs your file, the command decides whether and where the
   * server listens, and these options have no effect. After `launch()`, Bun and `deno serve` do not also serve the
   * default export.
   *
   * @throws `PORT_IN_USE`, `LISTEN_FAILED`, `TUNNEL_FAILED`, `OPTION_INVALID`. With `handleSignals`, `launch()` logs the
   * error and exits the process with code 1 instead.
   * @example
   * ```ts
   * const { url } = await server.launch({ port: 0, handleSignals: false });
   * ```
   */
  launch(options?: LaunchOptions): Promise<LaunchedServer>;
  /**
   * Stops accepting requests, waits up to `shutdownGrace` for running handlers, and closes the tunnel and inbox. Safe
   * to call twice.
   */
  close(): Promise<void>;
  /** Calls {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
  /** Describes and controls the server for tools of this package, such as `sync`. */
  get [serverControl](): ServerControl;
}
/**
 * Registers an endpoint on a shared server, which is launched at the end of the script. Takes the arguments of {@link
 * WebhookFunction}.
 *
 * The server is launched at Node's `beforeExit` event. Node does not emit this event after `process.exit()`, or while a
 * timer or open connection keeps the process alive, and other runtimes may not support it. In these cases, or to set
 * options, create a {@link WebhooksServer}.
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
declare const webhookEndpoint: WebhookFunction;
declare namespace index_d_exports {
  export { Action, AttemptDetails, AttemptLog, Backoff, BucketContentPayload, CatchUpSettings, ClaimedDelivery, CursorClaim, Cursors, Delivery, DeliveryAttempt, DeliveryCounts, DeliveryKey, DeliveryPage, DeliveryStatus, DiscussionCommentPayload, DiscussionPayload, Duration, EndpointOptions, EndpointQueue, FilterOptions, FinishedRun, GitContentPayload, Handler, HandlerContext, Inbox, IncomingDelivery, KnownScope, LandingInfo, LandingPage, LaunchOptions, LaunchedServer, ListOptions, LogMethod, Logger, NextStep, NonRetriableError, Outcome, OwnActions, PayloadFor, PayloadOf, RepoConfigPayload, RepoContentPayload, RepoPattern, RepoPayload, RepoType, RetryAfterError, RetryPolicy, Scope$1 as Scope, ServerInbox, StoredDelivery, Watch, WebhookDecorator, WebhookDomain, WebhookError, WebhookErrorCode, WebhookErrorCodes, WebhookErrorOptions, WebhookFunction, WebhookPayload, WebhooksServer, WebhooksServerOptions, isScope, parsePayload, webhookEndpoint };
}
/** The options of {@link runJob}. */
interface RunJobOptions {
  /** The endpoint to run. Required if the server has several endpoints. */
  endpoint?: string | undefined;
  /** Variables that contain `WEBHOOK_PAYLOAD` and `WEBHOOK_ID`. Default `process.env`. */
  environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Aborts the handler's signal. By default, the first SIGTERM or SIGINT aborts the handler's signal, and the second
   * signal exits the process.
   */
  signal?: AbortSignal;
}
/** The outcome of a job that did not fail: the handler succeeded, or the filter ignored the delivery. */
type JobOutcome = Exclude<Outcome, {
  status: "failed";
}>;
/**
 * Runs an endpoint of a server in a webhook's job. The Hub sets `WEBHOOK_PAYLOAD` to the payload and `WEBHOOK_ID` to
 * the delivery ID. The filter, schema, timeout, and logging of the endpoint apply as they do to a delivery over HTTP.
 * The secret is not checked, because setting environment variables requires more permissions than sending a request. A
 * background endpoint runs immediately, with one attempt and without an inbox. To retry, run the job again.
 *
 * If the handler fails, `runJob` throws the error. An uncaught error sets the exit code of the process to 1.
 *
 * @throws `HANDLER_FAILED` with the handler's error as `cause`, `HANDLER_TIMED_OUT`, `RESULT_NOT_JSON`;
 * `PAYLOAD_MISSING`, `BODY_NOT_JSON`, `BODY_TOO_DEEP`, `PAYLOAD_INVALID`; `ENDPOINT_REQUIRED`, `ENDPOINT_UNKNOWN`;
 * `SERVER_FILE_INVALID` when a file that the `hub-webhooks` command runs calls `runJob`; `OPTION_INVALID`; the reason
 * of `signal` when `signal` is already aborted.
 * @example
 * ```ts
 * import { runJob } from "hub-webhooks/job";
 * import server from "./server.ts";
 *
 * await runJob(server, { endpoint: "retrain" });
 * ```
 */
declare function runJob(server: WebhooksServer, options?: RunJobOptions): Promise<JobOutcome>;
declare namespace job_d_exports {
  export { JobOutcome, RunJobOptions, runJob };
}
/** What goes wrong with the deliveries of a local Hub, so that the recovery of a receiver can be tested. */
interface DeliveryFaults {
  /** The share of deliveries that are lost, from 0 to 1: they are neither sent nor retried. Default `0`. */
  drop?: number | undefined;
  /** The share of deliveries that are sent twice, with the same `Webhook-Id`, from 0 to 1. Default `0`. */
  duplicate?: number | undefined;
  /** How long each delivery waits before its first attempt. Default: not at all. */
  delay?: Duration | undefined;
  /** Whether each delivery waits for a random part of `delay`, by default of 1 second, so that later ones overtake it. */
  reorder?: boolean | undefined;
}
/** A delivery that an event caused, with the result of its latest attempt. */
interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** The ID of the latest attempt. Before the first attempt, the ID that the first attempt will have. */
  logId: string;
  /** The target URL with masked secrets. For a job, the URL at which the local Hub lists the job. */
  url: string;
  /** The number of attempts so far. */
  attempts: number;
  /** The HTTP status of the latest attempt, or `null` if there was no response. */
  status: number | null;
  /** The duration of the latest attempt in milliseconds, or `null` before the first attempt. */
  durationMs: number | null;
  /** The first 2,000 characters of the response body, or `null` if there was no response. */
  answer: string | null;
  /** A readable reason why the latest attempt failed or why the delivery was canceled. Otherwise `null`. */
  error: string | null;
}
/** One attempt to send a delivery. The Hub calls the ID of an attempt `logId`. */
interface HubDeliveryAttempt {
  logId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** The number of the attempt, starting at 1. Replays count as attempts. */
  attempt: number;
  /** The start time of the attempt, in ISO 8601 format. */
  at: string;
  durationMs: number;
  /** The target URL with masked secrets. */
  url: string;
  /** The HTTP status of the response, or `null` if there was no response. */
  status: number | null;
  /** The request. The value of the secret header is masked as `***`. */
  request: {
    headers: Record<string, string>;
    body: string;
  };
  /** The response, with up to 64 KiB of the body. */
  response: {
    headers: Record<string, string>;
    body: string;
    truncated: boolean;
  } | null;
  /** A readable reason why the attempt failed, or `null` if the attempt succeeded. */
  error: string | null;
}
/** A part of a payload to merge into a sample. Lists are replaced, not merged. */
type DeepPartial<Value> = Value extends string | readonly unknown[] ? Value : Value extends object ? { [Key in keyof Value]?: DeepPartial<Value[Key]>; } : Value;
type TypeIn<Changes> = Changes extends {
  repo: {
    type: infer Type extends string;
  };
} ? Type : "dataset";
/**
 * Creates a realistic Hub payload for tests. The payload has all fields of its scope. Objects in `changes` are merged
 * into it, and lists replace its lists. To leave out a field, set it to `undefined`. For `repo.content`, a bucket has
 * `updatedFiles` and other repositories have `updatedRefs`. URLs match the name of the repository.
 *
 * @example
 * ```ts
 * webhookPayload("repo.content");
 * webhookPayload("repo.config", { repo: { type: "model", name: "acme/net" }, updatedConfig: { private: true } });
 * webhookPayload("repo.config", { updatedConfig: { private: undefined } }); // JSON: "updatedConfig": {}
 * webhookPayload("repo.content", { repo: { type: "bucket", name: "acme/files" } });
 * ```
 */
declare function webhookPayload<const Scope extends KnownScope, const Changes extends DeepPartial<WebhookPayload> = Record<never, never>>(scope: Scope, changes?: Changes): PayloadOf<Scope, TypeIn<Changes>>;
/** An event to trigger: the repository, the event, and other fields of the payload. */
declare const eventRequest: z.ZodMiniObject<{
  repo: z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
    type: z.ZodMiniType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
    private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  }, z.core.$loose>;
  event: z.ZodMiniObject<{
    scope: z.ZodMiniString<string>;
    action: z.ZodMiniString<string>;
  }, z.core.$loose>;
  movedTo: z.ZodMiniOptional<z.ZodMiniObject<{
    name: z.ZodMiniString<string>;
  }, z.core.$loose>>;
  discussion: z.ZodMiniOptional<z.ZodMiniObject<{
    num: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
  }, z.core.$loose>>;
  updatedConfig: z.ZodMiniOptional<z.ZodMiniObject<{
    private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  }, z.core.$loose>>;
  updatedRefs: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    ref: z.ZodMiniString<string>;
    newSha: z.ZodMiniNullable<z.ZodMiniString<string>>;
  }, z.core.$loose>>>;
  files: z.ZodMiniOptional<z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniUnion<readonly [z.ZodMiniString<string>, z.ZodMiniObject<{
    base64: z.ZodMiniBase64;
  }, z.core.$strict>, z.ZodMiniNull]>>>;
  silent: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
  edits: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
    path: z.ZodMiniString<string>;
    value: z.ZodMiniOptional<z.ZodMiniUnknown>;
    remove: z.ZodMiniOptional<z.ZodMiniLiteral<true>>;
  }, z.core.$strict>>>;
}, z.core.$loose>;
/**
 * An event on a repository: `repo` with `type` and `name`, `event` with `scope` and `action`, and other fields of the payload. The
 * local Hub makes the change, such as a commit or a comment, and adds the fields that you omit. `files` are the files of a push, of a new
 * repository, or of a new pull request, by path: text, `{ base64 }`, or `null` to delete a file. In `updatedRefs`, an empty `newSha` stands for
 * the new commit, so that a push can go to another branch or to `refs/pr/N`. A `silent` event makes the change without deliveries, and a
 * silent `repo` create replaces a repository that has the name. `edits` are applied to the payload last. They affect neither the
 * repository nor the choice of webhooks that fire.
 */
type HubEvent = z.input<typeof eventRequest>;
declare const scenarioSchema: z.ZodMiniObject<{
  description: z.ZodMiniOptional<z.ZodMiniString<string>>;
  events: z.ZodMiniArray<z.ZodMiniObject<{
    repo: z.ZodMiniObject<{
      name: z.ZodMiniString<string>;
      type: z.ZodMiniType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
      private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    }, z.core.$loose>;
    event: z.ZodMiniObject<{
      scope: z.ZodMiniString<string>;
      action: z.ZodMiniString<string>;
    }, z.core.$loose>;
    movedTo: z.ZodMiniOptional<z.ZodMiniObject<{
      name: z.ZodMiniString<string>;
    }, z.core.$loose>>;
    discussion: z.ZodMiniOptional<z.ZodMiniObject<{
      num: z.ZodMiniOptional<z.ZodMiniNumber<number>>;
    }, z.core.$loose>>;
    updatedConfig: z.ZodMiniOptional<z.ZodMiniObject<{
      private: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    }, z.core.$loose>>;
    updatedRefs: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
      ref: z.ZodMiniString<string>;
      newSha: z.ZodMiniNullable<z.ZodMiniString<string>>;
    }, z.core.$loose>>>;
    files: z.ZodMiniOptional<z.ZodMiniRecord<z.ZodMiniString<string>, z.ZodMiniUnion<readonly [z.ZodMiniString<string>, z.ZodMiniObject<{
      base64: z.ZodMiniBase64;
    }, z.core.$strict>, z.ZodMiniNull]>>>;
    silent: z.ZodMiniOptional<z.ZodMiniBoolean<boolean>>;
    edits: z.ZodMiniOptional<z.ZodMiniArray<z.ZodMiniObject<{
      path: z.ZodMiniString<string>;
      value: z.ZodMiniOptional<z.ZodMiniUnknown>;
      remove: z.ZodMiniOptional<z.ZodMiniLiteral<true>>;
    }, z.core.$strict>>>;
  }, z.core.$loose>>;
}, z.core.$strict>;
/** What happens on a local Hub, one event after the other: pushes, pull requests, comments, changes of repositories. */
type Scenario = z.input<typeof scenarioSchema>;
/** Selects the requests to which a fault applies. Default: all requests. */
interface BucketFaultSelection {
  /** Default: all operations. `HEAD` and `LIST` include requests for the bucket itself. */
  operations?: ("GET" | "HEAD" | "PUT" | "DELETE" | "LIST")[];
  /** The full name of the bucket, such as `me/inbox`. */
  bucket?: string;
  /** A pattern of keys, in which `*` matches any characters, such as `"log/*"`. For `LIST`, the pattern of prefixes. */
  keys?: string;
  /** The number of selected requests that succeed before the fault. Default `0`. */
  skip?: number;
  /** The number of requests that the fault applies to. Default: all requests. */
  count?: number;
}
/**
 * A failure of the S3 API of the local Hub:
 *
 * - `latency`: the request is executed after the latency, also if the client disconnects.
 * - `error`: the response is an error. The default code belongs to the status: `SlowDown` for 503, `InternalError` for 500. With
 *   `isExecuted`, the request is executed first.
 * - `answer-lost`: the request is executed, and the connection is closed without a response.
 * - `torn-body`: a PUT stores only the first half of the body, but succeeds.
 * - `ignored-condition`: a PUT ignores `If-None-Match` and `If-Match`.
 * - `redirect`: a GET is answered with 302, to another origin (default) or to another path.
 */
type BucketFault = BucketFaultSelection & ({
  kind: "latency";
  latency: Duration;
} | {
  kind: "error";
  status: number;
  code?: string;
  retryAfterSeconds?: number;
  isExecuted?: boolean;
} | {
  kind: "answer-lost";
} | {
  kind: "torn-body";
} | {
  kind: "ignored-condition";
} | {
  kind: "redirect";
  to?: "path" | "origin";
});
/** The options of `LocalHub.launch`. */
interface LocalHubOptions {
  /** The port. Default `0`, which chooses a free port. */
  port?: number;
  /** A SQLite file that stores all data across restarts. By default, data is stored in memory. */
  state?: string;
  /** Whether to run the commands of jobs as local processes. By default, jobs are only recorded. */
  runJobs?: boolean;
  /**
   * Whether to run Docker Spaces as local processes: the start command of the Dockerfile in a copy of the repository, with the Space's
   * secrets and variables, and with the packages in the `node_modules` of the current folder. By default, only their settings are stored.
   */
  runSpaces?: boolean;
  /** Whether to deliver to other machines. By default, the local Hub delivers only to this machine. */
  allowRemote?: boolean;
  /** The maximum number of attempts per delivery. Default `3`. */
  attempts?: number;
  /** The pause before the second attempt. The pause doubles before each later attempt. Default `"500ms"`. */
  backoff?: Duration;
  /** The timeout for the complete response of a receiver. Default `"30s"`, as on the Hub. */
  timeout?: Duration;
  /** The number of consecutive failed deliveries after which a webhook is suspended. Default `5`. */
  suspendAfter?: number;
  /** The maximum number of triggers per webhook and 24 hours. Default `1000`, as on the Hub. Use `Infinity` for no limit. */
  triggersPerDay?: number;
  /** What goes wrong with deliveries. Default: nothing. {@link LocalHub.setDeliveryFaults} changes it. */
  deliveryFaults?: DeliveryFaults;
  /** Receives log lines, including one for each delivery. By default, the local Hub does not log. */
  logger?: Logger;
}
/**
 * A Hub on this machine. Serves the webhooks API, triggers events, and sends deliveries, without an account or internet access.
 *
 * @example
 * ```ts
 * await using hub = await LocalHub.launch();
 * const client = new HubClient({ hubUrl: hub.url, token: "hf_local" });
 * await client.webhooks.create({ url, watched: [{ type: "dataset", name: "me/data" }], domains: ["repo"] });
 * const [delivery] = await hub.push({ type: "dataset", name: "me/data" });
 * ```
 */
declare class LocalHub {
  #private;
  /** The URL without a trailing slash, for `HF_ENDPOINT`. */
  readonly url: string;
  readonly port: number;
  private constructor();
  /**
   * Launches a local Hub on 127.0.0.1.
   *
   * @throws `PORT_IN_USE` or `LISTEN_FAILED` if the port cannot be used, `LOCAL_HUB_STATE_UNUSABLE` if the state file cannot be
   *   used, `OPTION_INVALID` if an option is invalid.
   */
  static launch(options?: LocalHubOptions): Promise<LocalHub>;
  /**
   * Triggers a push to a repository, which adds a commit to its main branch, and waits until each delivery has succeeded, has failed its last attempt, or
   * was canceled. Creates the repository if necessary. `fields` override fields of the payload.
   *
   * @throws `ARGUMENT_INVALID` if `fields` are invalid, `CLOSING` if the local Hub is closed.
   */
  push(repo: HubEvent["repo"], fields?: Omit<Partial<HubEvent>, "repo" | "event">): Promise<HubDelivery[]>;
  /**
   * Triggers an event by making its change, such as a comment, and waits until each delivery has succeeded, has failed its last
   * attempt, or was canceled. A new pull request also fires the event of its ref. You can set all other fields of the payload, such
   * as `comment`, `discussion`, or `updatedRefs`. The local Hub adds the fields that you omit.
   *
   * @throws `ARGUMENT_INVALID` if the event is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * await localHub.trigger({
   *   repo: { type: "model", name: "me/net" },
   *   event: { scope: "discussion.comment", action: "create" },
   *   comment: { content: "@bot hello" },
   * });
   * ```
   */
  trigger(event: HubEvent): Promise<HubDelivery[]>;
  /**
   * Triggers the events of a scenario one after the other, each after the deliveries of the one before. Returns all deliveries. A
   * text is the path of a JSON file, which `hub-webhooks scenario` runs too.
   *
   * @throws `ARGUMENT_INVALID` if the scenario is invalid, `CLOSING` if the local Hub is closed, and errors from the file system.
   * @example
   * ```ts
   * const repo = { type: "dataset", name: "me/data" } as const;
   * await localHub.run({
   *   events: [
   *     { repo, event: { scope: "repo.content", action: "update" }, files: { "train.csv": "no header" } },
   *     { repo, event: { scope: "discussion.comment", action: "create" }, comment: { content: "@bot check again" } },
   *   ],
   * });
   * ```
   */
  run(scenario: Scenario | string): Promise<HubDelivery[]>;
  /**
   * Waits until all deliveries have succeeded, have failed their last attempt, or were canceled. Use this method after a change
   * through the API, such as a commit.
   *
   * @throws `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * await client.repo({ type: "dataset", name: "me/data" }).commit({ message: "Add a card", files: { "README.md": "# Data" } });
   * await localHub.settled();
   * ```
   */
  settled(): Promise<void>;
  /** Returns a webhook's latest 100 attempts, newest first. */
  deliveries(webhookId: string): HubDeliveryAttempt[];
  /** Returns the jobs of all users, newest first. */
  jobs(): Job[];
  /**
   * Creates a private bucket, unless it exists. Returns the environment variables of a receiver whose inbox is in the bucket. A name
   * without an owner belongs to `local-user`. `token` is the token whose access the key has. Default `"hf_local"`.
   *
   * @throws `ARGUMENT_INVALID` if the name is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * const { INBOX_URL, AWS_ENDPOINT_URL_S3 } = localHub.createBucket("me/inbox"); // "hf://buckets/me/inbox", "http://127.0.0.1:…/s3/me"
   * ```
   */
  createBucket(name: string, options?: {
    private?: boolean;
    token?: string;
  }): BucketVariables;
  /**
   * Returns the options of an S3 client for the buckets of a namespace. The access key belongs to `token`, by default `"hf_local"`.
   *
   * @throws `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
   *
   * const s3 = new S3Client(localHub.bucketConnection("me"));
   * await s3.send(new PutObjectCommand({ Bucket: "inbox", Key: "data.txt", Body: "hello" }));
   * ```
   */
  bucketConnection(namespace: string, { token }?: {
    token?: string;
  }): BucketConnection;
  /**
   * Returns the address and the stage of a Space, after its latest start has succeeded or failed.
   *
   * @throws `ARGUMENT_INVALID` if there is no such Space, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * await using localHub = await LocalHub.launch({ runSpaces: true });
   * const { url, stage } = await localHub.space("me/my-bot"); // after a push to the Space
   * ```
   */
  space(name: string): Promise<LocalSpace>;
  /**
   * Lets a Space sleep, as after 48 hours without a request: its process ends, and the files that it wrote are lost. The next request wakes
   * it. From another process, send `POST /_local/spaces/OWNER/NAME/sleep`.
   *
   * @throws `ARGUMENT_INVALID` if there is no such Space, `CLOSING` if the local Hub is closed.
   */
  sleepSpace(name: string): void;
  /**
   * Sets the failures of requests to buckets. Replaces all failures that were set before.
   *
   * @throws `ARGUMENT_INVALID` if a fault is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * localHub.setBucketFaults([{ kind: "error", status: 503, retryAfterSeconds: 1, operations: ["PUT"], keys: "log/*", count: 3 }]);
   * ```
   */
  setBucketFaults(faults: readonly BucketFault[]): void;
  /**
   * Sets what goes wrong with deliveries, so that the recovery of a receiver can be tested. Replaces all such faults that were set
   * before. Replays are always sent.
   *
   * @throws `ARGUMENT_INVALID` if a fault is invalid, `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * localHub.setDeliveryFaults({ drop: 0.1, duplicate: 0.1, delay: "2s", reorder: true });
   * ```
   */
  setDeliveryFaults(faults: DeliveryFaults): void;
  /**
   * Creates a link that signs a browser in to the web console once. The console shows the webhooks, events, repositories, and jobs,
   * and sends events. The link is valid for an hour. After a link was used, the local Hub logs a new one.
   *
   * @throws `CLOSING` if the local Hub is closed.
   * @example
   * ```ts
   * console.log(`Console: ${localHub.createConsoleLink()}`); // http://127.0.0.1:…/_console/#/sign-in/…
   * ```
   */
  createConsoleLink(): string;
  /** Restores the initial state: deletes all webhooks, deliveries, jobs, and other changes. */
  reset(): void;
  /**
   * Stops the server and the deliveries, and cancels running jobs. If there is a state file, pending deliveries stay in
   * it.
   */
  close(): Promise<void>;
  /** Calls {@link close}. */
  [Symbol.asyncDispose](): Promise<void>;
}
/** A Space of a local Hub. */
interface LocalSpace {
  /** The address, without a trailing slash. `undefined` if the local Hub does not run the Space. */
  url: string | undefined;
  /** Such as `RUNNING`, `SLEEPING`, or `BUILD_ERROR`. */
  stage: string;
  /** Why the Space does not run. */
  errorMessage: string | undefined;
}
/** Everything that a client of the S3 API needs. Pass it to `new S3Client()` of AWS, or copy the fields for another client. */
interface BucketConnection {
  /** The endpoint of the namespace. Its URL contains the path `/s3/NAMESPACE`. */
  endpoint: string;
  region: "us-east-1";
  /** The endpoint has no subdomains for buckets. */
  forcePathStyle: true;
  credentials: {
    accessKeyId: string;
    secretAccessKey: string;
  };
  /** As on the Hub, checksums after the body are not supported. */
  requestChecksumCalculation: "WHEN_REQUIRED";
  responseChecksumValidation: "WHEN_REQUIRED";
}
/** The environment variables with which a receiver stores its inbox in a bucket. */
interface BucketVariables {
  INBOX_URL: string;
  AWS_ENDPOINT_URL_S3: string;
  AWS_ACCESS_KEY_ID: string;
  AWS_SECRET_ACCESS_KEY: string;
}
declare namespace local_hub_d_exports {
  export { BucketConnection, BucketFault, BucketFaultSelection, BucketVariables, DeliveryFaults, HubDelivery, HubDeliveryAttempt, HubEvent, Job, JobStage, LocalHub, LocalHubOptions, LocalSpace, Scenario, WebhookError };
}
declare namespace testing_d_exports {
  export { DeepPartial, deliveryRequest, settled, webhookPayload };
}
/**
 * Creates a request like the Hub's request for a delivery. Pass it to `server.fetch`, or to `fetch` to send it over a
 * socket.
 *
 * @example
 * ```ts
 * const request = deliveryRequest({ endpoint: "retrain", payload: webhookPayload("repo.content"), secret: "s3cret" });
 * const response = await server.fetch(request);
 * ```
 */
declare function deliveryRequest({ endpoint, payload, secret, id, baseUrl }: {
  /** The name of the endpoint. */
  endpoint: string;
  /** Any JSON value, such as the result of `webhookPayload()`. */
  payload: unknown;
  /** The value of the `X-Webhook-Secret` header. Default: no such header. */
  secret?: string;
  /** The value of the `Webhook-Id` header. Default: a new ID. */
  id?: string;
  /** The base URL of the server. Default `http://localhost`. */
  baseUrl?: string;
}): Request;
/**
 * Waits until every accepted delivery of the background endpoints has succeeded, was ignored, or is dead, including retries. In the
 * default inbox of a test runner, a retry waits at most 50 ms. With another inbox, set a short `backoff` on the endpoints.
 *
 * @throws `NOT_SETTLED` after `timeout`, with a list of the unfinished deliveries; `ENDPOINT_UNKNOWN`; `OPTION_INVALID`.
 * @example
 * ```ts
 * await server.fetch(deliveryRequest({ endpoint: "retrain", payload, secret: "s3cret", id: "first" }));
 * await settled(server);
 * const stored = await server.inbox.get("first"); // its status is "succeeded", "ignored", or "dead"
 * ```
 */
declare function settled(server: Pick<WebhooksServer, "inbox" | "endpointNames">, { endpoint, timeout, signal }?: {
  /** The endpoint to wait for. Default: all endpoints. */
  endpoint?: string;
  /** The maximum time to wait. Default `"10s"`. */
  timeout?: Duration;
  /** Aborts the wait. `settled` then rejects with the signal's abort reason. */
  signal?: AbortSignal;
}): Promise<void>;
export { client_d_exports as client, dev_d_exports as dev, index_d_exports as index, job_d_exports as job, local_hub_d_exports as localHub, testing_d_exports as testing };