import * as z from "zod";
import "zod/mini";
import "zod/v4/core";
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
declare const hubBrand: unique symbol;
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
/** The options of a {@link HubError}. */
interface HubErrorOptions extends WebhookErrorOptions {
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
export declare class HubError extends WebhookError {
  readonly name = "HubError";
  /** The `X-Request-Id` of the response: quote it to the Hub's support. */
  readonly requestId: string | undefined;
  /** The arguments that the error is about, as in `watched[0].type`. */
  readonly fields: readonly string[];
  readonly [hubBrand] = true;
  constructor(message: string, options: HubErrorOptions);
  /** Recognizes a `HubError` of any installed copy of this package. Never throws. */
  static isInstance(value: unknown): value is HubError;
}
/** The repository types of today; a payload may have a newer one. */
declare const repoTypes: readonly ["model", "dataset", "space", "bucket", "kernel"];
/** One of the known values, or one that is newer than this release. Editors complete the known ones. */
type Open<Known extends string> = Known | (string & {});
/** A repository by name and type, as in `{ type: "dataset", name: "acme/data" }`. */
type RepoId = {
  /** `<owner>/<repo_name>`. */
  name: string;
  type: Open<(typeof repoTypes)[number]>;
};
/** The roles that every organization has; others are its own. */
declare const organizationRoles: readonly ["admin", "write", "contributor", "read", "no_access"];
/** A role in an organization or in a resource group: one of five, or the name of a custom one. */
type OrganizationRole = (typeof organizationRoles)[number] | (string & {});
/** What a program may ask for: each field may be left out. */
type SearchOf<Query extends z.ZodType> = { [Name in keyof z.output<Query>]?: z.output<Query>[Name] | undefined; };
/** The user that a token belongs to, and what the token allows. */
declare const whoami: z.ZodObject<{
  email: z.ZodOptional<z.ZodNullable<z.ZodString>>;
  canPay: z.ZodOptional<z.ZodBoolean>;
  billingMode: z.ZodOptional<z.ZodType<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">, z.core.$ZodTypeInternals<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">>>>;
  periodEnd: z.ZodOptional<z.ZodNullable<z.ZodNumber>>;
  type: z.ZodLiteral<"user">;
  id: z.ZodString;
  name: z.ZodString;
  fullname: z.ZodString;
  avatarUrl: z.ZodString;
  emailVerified: z.ZodOptional<z.ZodBoolean>;
  isPro: z.ZodBoolean;
  orgs: z.ZodArray<z.ZodObject<{
    email: z.ZodOptional<z.ZodNullable<z.ZodString>>;
    canPay: z.ZodOptional<z.ZodBoolean>;
    billingMode: z.ZodOptional<z.ZodType<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">, z.core.$ZodTypeInternals<Open<"postpaid" | "prepaid">, Open<"postpaid" | "prepaid">>>>;
    periodEnd: z.ZodOptional<z.ZodNullable<z.ZodNumber>>;
    type: z.ZodLiteral<"org">;
    id: z.ZodString;
    name: z.ZodString;
    fullname: z.ZodString;
    avatarUrl: z.ZodString;
    plan: z.ZodOptional<z.ZodType<Open<"academia" | "enterprise" | "plus" | "team">, Open<"academia" | "enterprise" | "plus" | "team">, z.core.$ZodTypeInternals<Open<"academia" | "enterprise" | "plus" | "team">, Open<"academia" | "enterprise" | "plus" | "team">>>>;
    roleInOrg: z.ZodOptional<z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>>;
    securityRestrictions: z.ZodOptional<z.ZodArray<z.ZodType<Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">, Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">, z.core.$ZodTypeInternals<Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">, Open<"ip" | "mfa" | "sso" | "token-policy" | "token-revoked">>>>>;
    resourceGroups: z.ZodOptional<z.ZodArray<z.ZodObject<{
      id: z.ZodString;
      name: z.ZodString;
      role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    }, z.core.$strict>>>;
  }, z.core.$strict>>;
  auth: z.ZodObject<{
    type: z.ZodString;
    accessToken: z.ZodOptional<z.ZodObject<{
      displayName: z.ZodString;
      role: z.ZodType<Open<"fineGrained" | "god" | "read" | "write">, Open<"fineGrained" | "god" | "read" | "write">, z.core.$ZodTypeInternals<Open<"fineGrained" | "god" | "read" | "write">, Open<"fineGrained" | "god" | "read" | "write">>>;
      fineGrained: z.ZodOptional<z.ZodObject<{
        scoped: z.ZodArray<z.ZodObject<{
          entity: z.ZodObject<{
            _id: z.ZodString;
            name: z.ZodOptional<z.ZodString>;
            type: z.ZodType<Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">, Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">, z.core.$ZodTypeInternals<Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">, Open<"bucket" | "collection" | "dataset" | "kernel" | "model" | "oauth-app" | "org" | "resource-group" | "space" | "user">>>;
          }, z.core.$strict>;
          permissions: z.ZodArray<z.ZodString>;
        }, z.core.$strict>>;
        global: z.ZodOptional<z.ZodArray<z.ZodType<Open<"discussion.write" | "post.write">, Open<"discussion.write" | "post.write">, z.core.$ZodTypeInternals<Open<"discussion.write" | "post.write">, Open<"discussion.write" | "post.write">>>>>;
        canReadGatedRepos: z.ZodOptional<z.ZodBoolean>;
      }, z.core.$strict>>;
      createdAt: z.ZodISODateTime;
    }, z.core.$strict>>;
    expiresAt: z.ZodOptional<z.ZodISODateTime>;
    resource: z.ZodOptional<z.ZodObject<{
      sub: z.ZodString;
    }, z.core.$strict>>;
  }, z.core.$strict>;
}, z.core.$strict>;
/** The user that a token belongs to, and what the token allows. */
type Whoami = z.output<typeof whoami>;
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
/** Options of every call. */
interface CallOptions {
  /** Cancels the call, also while it waits for the next attempt. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
}
/** What `new Headers()` takes. Its usual name, `HeadersInit`, is in the types of the DOM and not in those of Node. */
type HeadersSource = ConstructorParameters<typeof Headers>[0];
/** What `hub.fetch` can be given: the part of what `fetch` takes that can be sent a second time. */
interface HubFetchInit extends CallOptions {
  /** Default `GET`. */
  method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** Headers beside the token's. A body without a `content-type` is sent as JSON. */
  headers?: HeadersSource;
  /**
   * What stands in the path for each `{name}`, encoded here: nothing in it can end the path or begin a query. Slashes
   * stay, as in the name of a repository. What comes from a payload belongs here.
   */
  params?: Readonly<Record<string, string | number>> | undefined;
  /** The body as text: `JSON.stringify(…)`. */
  body?: string | undefined;
}
/** The job of a webhook, as create and update accept it. */
declare const webhookJobRequest: z.ZodObject<{
  flavor: z.ZodType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  spaceId: z.ZodOptional<z.ZodString>;
  dockerImage: z.ZodOptional<z.ZodString>;
  arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
  command: z.ZodOptional<z.ZodArray<z.ZodString>>;
  environment: z.ZodDefault<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
  secrets: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
  arch: z.ZodOptional<z.ZodType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>;
  timeoutSeconds: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
  attempts: z.ZodDefault<z.ZodInt>;
  labels: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
  volumes: z.ZodOptional<z.ZodArray<z.ZodObject<{
    type: z.ZodType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
    source: z.ZodString;
    mountPath: z.ZodString;
    revision: z.ZodOptional<z.ZodString>;
    readOnly: z.ZodOptional<z.ZodBoolean>;
    path: z.ZodOptional<z.ZodString>;
  }, z.core.$strip>>>;
  expose: z.ZodOptional<z.ZodObject<{
    ports: z.ZodArray<z.ZodInt>;
    portsPublic: z.ZodOptional<z.ZodArray<z.ZodInt>>;
  }, z.core.$strip>>;
  ssh: z.ZodOptional<z.ZodObject<{
    enabled: z.ZodDefault<z.ZodBoolean>;
  }, z.core.$strip>>;
  resourceGroupId: z.ZodOptional<z.ZodString>;
}, z.core.$strip>;
/** The job of a webhook, as a webhook answers with it. */
declare const webhookJob: z.ZodObject<{
  dockerImage: z.ZodOptional<z.ZodString>;
  spaceId: z.ZodOptional<z.ZodString>;
  environment: z.ZodDefault<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
  arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
  command: z.ZodOptional<z.ZodArray<z.ZodString>>;
  flavor: z.ZodType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
  timeoutSeconds: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
  labels: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
  secrets: z.ZodOptional<z.ZodArray<z.ZodString>>;
}, z.core.$strict>;
/** Hardware that a job can request, with its price. */
declare const jobHardware: z.ZodObject<{
  name: z.ZodString;
  prettyName: z.ZodString;
  cpu: z.ZodString;
  ram: z.ZodString;
  ephemeralStorage: z.ZodString;
  accelerator: z.ZodNullable<z.ZodObject<{
    type: z.ZodType<Open<"gpu" | "neuron">, Open<"gpu" | "neuron">, z.core.$ZodTypeInternals<Open<"gpu" | "neuron">, Open<"gpu" | "neuron">>>;
    model: z.ZodString;
    quantity: z.ZodString;
    vram: z.ZodString;
    manufacturer: z.ZodType<Open<"AWS" | "Nvidia">, Open<"AWS" | "Nvidia">, z.core.$ZodTypeInternals<Open<"AWS" | "Nvidia">, Open<"AWS" | "Nvidia">>>;
  }, z.core.$strict>>;
  unitCostMicroUSD: z.ZodNumber;
  unitCostUSD: z.ZodNumber;
  unitLabel: z.ZodString;
}, z.core.$strict>;
/** Hardware that a job can request, with its price. */
type JobHardware = z.output<typeof jobHardware>;
/** The job of a webhook, as it is given: secrets by name and value. */
type WebhookJobRequest = z.input<typeof webhookJobRequest>;
/** The job of a webhook, as it is answered: secrets by name; the Hub does not return `arch`, `attempts`, `volumes`, `expose`, `ssh` and `resourceGroupId`. */
type WebhookJob = z.output<typeof webhookJob>;
/** Jobs on the Hub's infrastructure: `hub.jobs`. */
declare class HubJobs {
  #private;
  /**
   * Lists the hardware that a job can request. Each `name` is a `flavor`.
   *
   * @example
   * ```ts
   * for (const { name, unitCostUSD, unitLabel } of await hub.jobs.hardware()) console.log(name, unitCostUSD, unitLabel);
   * ```
   */
  hardware(options?: CallOptions): Promise<JobHardware[]>;
}
/** A notification; `type` tells which of the four it is. */
declare const notification: z.ZodDiscriminatedUnion<[z.ZodObject<{
  updatedAt: z.ZodISODateTime;
  read: z.ZodBoolean;
  discussionEventId: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"paper">;
  paper: z.ZodObject<{
    _id: z.ZodString;
    title: z.ZodString;
  }, z.core.$strict>;
  paperDiscussion: z.ZodObject<{
    id: z.ZodString;
    participating: z.ZodArray<z.ZodObject<{
      _id: z.ZodString;
      avatar: z.ZodString;
      user: z.ZodString;
    }, z.core.$strict>>;
    paperId: z.ZodString;
  }, z.core.$strict>;
}, z.core.$strict>, z.ZodObject<{
  updatedAt: z.ZodISODateTime;
  read: z.ZodBoolean;
  discussionEventId: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"repo">;
  repo: z.ZodType<RepoId, RepoId, z.core.$ZodTypeInternals<RepoId, RepoId>>;
  discussion: z.ZodObject<{
    num: z.ZodNumber;
    title: z.ZodString;
    status: z.ZodType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
    id: z.ZodString;
    isPullRequest: z.ZodBoolean;
    participating: z.ZodArray<z.ZodObject<{
      _id: z.ZodString;
      avatar: z.ZodString;
      user: z.ZodString;
    }, z.core.$strict>>;
  }, z.core.$strict>;
}, z.core.$strict>, z.ZodObject<{
  updatedAt: z.ZodISODateTime;
  read: z.ZodBoolean;
  discussionEventId: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"post">;
  post: z.ZodObject<{
    id: z.ZodString;
    slug: z.ZodString;
    authorName: z.ZodString;
    title: z.ZodString;
    participating: z.ZodArray<z.ZodObject<{
      _id: z.ZodString;
      avatar: z.ZodString;
      user: z.ZodString;
    }, z.core.$strict>>;
  }, z.core.$strict>;
}, z.core.$strict>, z.ZodObject<{
  updatedAt: z.ZodISODateTime;
  read: z.ZodBoolean;
  discussionEventId: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"community_blog">;
  blog: z.ZodObject<{
    id: z.ZodString;
    slug: z.ZodString;
    title: z.ZodString;
    canonical: z.ZodBoolean;
    participating: z.ZodArray<z.ZodObject<{
      _id: z.ZodString;
      avatar: z.ZodString;
      user: z.ZodString;
    }, z.core.$strict>>;
    authorName: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>;
}, z.core.$strict>], "type">;
/** A page of notifications. */
declare const notificationPage: z.ZodObject<{
  notifications: z.ZodArray<z.ZodDiscriminatedUnion<[z.ZodObject<{
    updatedAt: z.ZodISODateTime;
    read: z.ZodBoolean;
    discussionEventId: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"paper">;
    paper: z.ZodObject<{
      _id: z.ZodString;
      title: z.ZodString;
    }, z.core.$strict>;
    paperDiscussion: z.ZodObject<{
      id: z.ZodString;
      participating: z.ZodArray<z.ZodObject<{
        _id: z.ZodString;
        avatar: z.ZodString;
        user: z.ZodString;
      }, z.core.$strict>>;
      paperId: z.ZodString;
    }, z.core.$strict>;
  }, z.core.$strict>, z.ZodObject<{
    updatedAt: z.ZodISODateTime;
    read: z.ZodBoolean;
    discussionEventId: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"repo">;
    repo: z.ZodType<RepoId, RepoId, z.core.$ZodTypeInternals<RepoId, RepoId>>;
    discussion: z.ZodObject<{
      num: z.ZodNumber;
      title: z.ZodString;
      status: z.ZodType<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">, z.core.$ZodTypeInternals<Open<"closed" | "draft" | "merged" | "open">, Open<"closed" | "draft" | "merged" | "open">>>;
      id: z.ZodString;
      isPullRequest: z.ZodBoolean;
      participating: z.ZodArray<z.ZodObject<{
        _id: z.ZodString;
        avatar: z.ZodString;
        user: z.ZodString;
      }, z.core.$strict>>;
    }, z.core.$strict>;
  }, z.core.$strict>, z.ZodObject<{
    updatedAt: z.ZodISODateTime;
    read: z.ZodBoolean;
    discussionEventId: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"post">;
    post: z.ZodObject<{
      id: z.ZodString;
      slug: z.ZodString;
      authorName: z.ZodString;
      title: z.ZodString;
      participating: z.ZodArray<z.ZodObject<{
        _id: z.ZodString;
        avatar: z.ZodString;
        user: z.ZodString;
      }, z.core.$strict>>;
    }, z.core.$strict>;
  }, z.core.$strict>, z.ZodObject<{
    updatedAt: z.ZodISODateTime;
    read: z.ZodBoolean;
    discussionEventId: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"community_blog">;
    blog: z.ZodObject<{
      id: z.ZodString;
      slug: z.ZodString;
      title: z.ZodString;
      canonical: z.ZodBoolean;
      participating: z.ZodArray<z.ZodObject<{
        _id: z.ZodString;
        avatar: z.ZodString;
        user: z.ZodString;
      }, z.core.$strict>>;
      authorName: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>;
  }, z.core.$strict>], "type">>;
  count: z.ZodObject<{
    view: z.ZodNumber;
    unread: z.ZodNumber;
    all: z.ZodNumber;
  }, z.core.$strict>;
  start: z.ZodNumber;
}, z.core.$strict>;
/** Which notifications; every field narrows it (hub-api.md, Notification search parameters). */
declare const search$2: z.ZodObject<{
  p: z.ZodDefault<z.ZodCodec<z.ZodString, z.ZodInt>>;
  readStatus: z.ZodDefault<z.ZodType<Open<"all" | "unread">, Open<"all" | "unread">, z.core.$ZodTypeInternals<Open<"all" | "unread">, Open<"all" | "unread">>>>;
  repoType: z.ZodOptional<z.ZodType<Open<"bucket" | "dataset" | "kernel" | "model" | "space">, Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<Open<"bucket" | "dataset" | "kernel" | "model" | "space">, Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>>;
  repoName: z.ZodOptional<z.ZodString>;
  postAuthor: z.ZodOptional<z.ZodString>;
  paperId: z.ZodOptional<z.ZodString>;
  articleId: z.ZodOptional<z.ZodString>;
  mention: z.ZodDefault<z.ZodType<Open<"all" | "mentions" | "participating">, Open<"all" | "mentions" | "participating">, z.core.$ZodTypeInternals<Open<"all" | "mentions" | "participating">, Open<"all" | "mentions" | "participating">>>>;
  lastUpdate: z.ZodOptional<z.ZodISODateTime>;
}, z.core.$strip>;
/** A notification; `type` tells which of the four it is. */
type Notification = z.output<typeof notification>;
/** A page of notifications: `count` and `start` say where it stands among all. */
type NotificationPage = z.output<typeof notificationPage>;
/** Which notifications: every field narrows it, `p` is the page, from 0 on. */
type NotificationSearch = SearchOf<typeof search$2>;
/** Selects notifications. */
interface NotificationSelection extends NotificationSearch {
  /**
   * The ids of their discussions: `discussion.id`, `paperDiscussion.id`, `post.id` or `blog.id` of a notification. To
   * delete, each is of 24 lower-case hexadecimal digits, and there is at least one.
   */
  discussionIds?: readonly string[] | undefined;
  /** All that the other fields find, on every page, whatever `discussionIds` says. Default `false`. */
  applyToAll?: boolean | undefined;
}
/**
 * The notifications of the user of the token: `hub.notifications`.
 *
 * Every method throws a `HubError`: `ARGUMENT_INVALID` with the invalid fields before a request is sent, and other codes
 * for other failures.
 */
declare class HubNotifications {
  #private;
  /**
   * Returns one page of notifications, the newest first. `p` is the page, starting at 0; the other fields filter.
   *
   * @example
   * ```ts
   * const { notifications, count } = await hub.notifications.list({ readStatus: "unread", repoType: "dataset" });
   * ```
   */
  list(search?: NotificationSearch, options?: CallOptions): Promise<NotificationPage>;
  /**
   * Deletes the notifications of the given discussions, or all that match a search. Pass `lastUpdate` to keep notifications
   * that arrived after you listed them. Without it, a call that may have been processed is not retried.
   *
   * @example
   * ```ts
   * await hub.notifications.delete({ discussionIds: ["65b2f0a1c3d4e5f60718293a"] });
   * await hub.notifications.delete({ applyToAll: true, repoType: "dataset", repoName: "acme/old-data" });
   * ```
   */
  delete(selection: NotificationSelection, options?: CallOptions): Promise<void>;
  /**
   * Marks the notifications of the given discussions, or all that match a search, as read, or as unread with `read: false`.
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
/**
 * A paginated list. `for await` iterates over all items and requests each page when it is needed.
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
  /** Iterates over the pages, each an array of items. */
  pages(): AsyncGenerator<Item[], void, undefined>;
}
/** The types of an event of the audit log. */
declare const auditLogTypes: readonly ["billing.update_payment_method", "billing.create_customer", "billing.remove_payment_method", "billing.aws_add", "billing.aws_remove", "billing.gcp_add", "billing.gcp_remove", "billing.marketplace_approve", "billing.cancel_subscription", "billing.renew_subscription", "billing.start_subscription", "billing.un_cancel_subscription", "billing.update_subscription", "billing.update_subscription_plan", "collection.create", "collection.delete", "org.add_user", "org.change_role", "org.create", "org.delete", "org.restore", "org.invite_user", "org.invite.accept", "org.invite.email", "org.join.from_domain", "org.join.automatic", "org.leave", "org.remove_user", "org.rename", "org.rotate_token", "org.sso_login", "org.sso_join", "org.update_join_settings", "org.update_settings", "org.token_approval.enabled", "org.token_approval.disabled", "org.token_approval.authorization_request", "org.token_approval.authorization_request.authorized", "org.token_approval.authorization_request.revoked", "org.token_approval.authorization_request.denied", "org.custom_role.create", "org.custom_role.update", "org.custom_role.delete", "repo.add_secrets", "repo.remove_secrets", "repo.add_secret", "repo.update_secret", "repo.remove_secret", "repo.create", "repo.delete", "repo.disable", "repo.removeDisable", "repo.duplication", "repo.delete_doi", "repo.move", "repo.update_resource_group", "repo.update_settings", "repo.add_variable", "repo.update_variable", "repo.remove_variable", "repo.add_variables", "repo.remove_variables", "repo.delete_lfs_file", "spaces.add_storage", "spaces.remove_storage", "spaces.set_volumes", "spaces.remove_volumes", "spaces.update_hardware", "spaces.update_sleep_time", "resource_group.create", "resource_group.add_users", "resource_group.remove_users", "resource_group.change_role", "resource_group.settings", "resource_group.delete", "jobs.create", "jobs.cancel", "scheduled_job.create", "scheduled_job.delete", "scheduled_job.resume", "scheduled_job.suspend", "scheduled_job.run", "scheduled_job.update_schedule", "oauth.token", "collection.update_resource_group", "org.settings.regions", "org.settings.profile", "org.settings.resource_groups", "org.settings.publisher_gating", "org.settings.inference_providers", "org.settings.inference_providers.keys.add", "org.settings.inference_providers.keys.remove", "org.settings.inference_providers.usage", "org.settings.sso", "org.settings.sso.enable", "org.settings.sso.disable", "org.settings.security.repo_visibility", "org.settings.security.2fa.enable", "org.settings.security.2fa.disable", "org.settings.security.auto_join.enable", "org.settings.security.auto_join.disable", "org.settings.security.members_privacy.enable", "org.settings.security.members_privacy.disable", "org.settings.network", "org.settings.network.ip_restriction.enable", "org.settings.network.ip_restriction.disable", "org.settings.network.auth_enforcement.enable", "org.settings.network.auth_enforcement.disable", "repo.add_trusted_publisher", "repo.remove_trusted_publisher", "jobs.update_labels", "jobs.update_expose", "scheduled_job.update_labels", "org.service_account.create", "org.service_account.delete", "org.service_account.token.create", "org.service_account.token.delete", "org.service_account.token.rotate", "org.service_account.token.update"];
/** Something that somebody did in an organization. */
declare const auditLogEvent: z.ZodObject<{
  _id: z.ZodString;
  createdAt: z.ZodISODateTime;
  type: z.ZodType<Open<"billing.aws_add" | "billing.aws_remove" | "billing.cancel_subscription" | "billing.create_customer" | "billing.gcp_add" | "billing.gcp_remove" | "billing.marketplace_approve" | "billing.remove_payment_method" | "billing.renew_subscription" | "billing.start_subscription" | "billing.un_cancel_subscription" | "billing.update_payment_method" | "billing.update_subscription" | "billing.update_subscription_plan" | "collection.create" | "collection.delete" | "collection.update_resource_group" | "jobs.cancel" | "jobs.create" | "jobs.update_expose" | "jobs.update_labels" | "oauth.token" | "org.add_user" | "org.change_role" | "org.create" | "org.custom_role.create" | "org.custom_role.delete" | "org.custom_role.update" | "org.delete" | "org.invite.accept" | "org.invite.email" | "org.invite_user" | "org.join.automatic" | "org.join.from_domain" | "org.leave" | "org.remove_user" | "org.rename" | "org.restore" | "org.rotate_token" | "org.service_account.create" | "org.service_account.delete" | "org.service_account.token.create" | "org.service_account.token.delete" | "org.service_account.token.rotate" | "org.service_account.token.update" | "org.settings.inference_providers" | "org.settings.inference_providers.keys.add" | "org.settings.inference_providers.keys.remove" | "org.settings.inference_providers.usage" | "org.settings.network" | "org.settings.network.auth_enforcement.disable" | "org.settings.network.auth_enforcement.enable" | "org.settings.network.ip_restriction.disable" | "org.settings.network.ip_restriction.enable" | "org.settings.profile" | "org.settings.publisher_gating" | "org.settings.regions" | "org.settings.resource_groups" | "org.settings.security.2fa.disable" | "org.settings.security.2fa.enable" | "org.settings.security.auto_join.disable" | "org.settings.security.auto_join.enable" | "org.settings.security.members_privacy.disable" | "org.settings.security.members_privacy.enable" | "org.settings.security.repo_visibility" | "org.settings.sso" | "org.settings.sso.disable" | "org.settings.sso.enable" | "org.sso_join" | "org.sso_login" | "org.token_approval.authorization_request" | "org.token_approval.authorization_request.authorized" | "org.token_approval.authorization_request.denied" | "org.token_approval.authorization_request.revoked" | "org.token_approval.disabled" | "org.token_approval.enabled" | "org.update_join_settings" | "org.update_settings" | "repo.add_secret" | "repo.add_secrets" | "repo.add_trusted_publisher" | "repo.add_variable" | "repo.add_variables" | "repo.create" | "repo.delete" | "repo.delete_doi" | "repo.delete_lfs_file" | "repo.disable" | "repo.duplication" | "repo.move" | "repo.removeDisable" | "repo.remove_secret" | "repo.remove_secrets" | "repo.remove_trusted_publisher" | "repo.remove_variable" | "repo.remove_variables" | "repo.update_resource_group" | "repo.update_secret" | "repo.update_settings" | "repo.update_variable" | "resource_group.add_users" | "resource_group.change_role" | "resource_group.create" | "resource_group.delete" | "resource_group.remove_users" | "resource_group.settings" | "scheduled_job.create" | "scheduled_job.delete" | "scheduled_job.resume" | "scheduled_job.run" | "scheduled_job.suspend" | "scheduled_job.update_labels" | "scheduled_job.update_schedule" | "spaces.add_storage" | "spaces.remove_storage" | "spaces.remove_volumes" | "spaces.set_volumes" | "spaces.update_hardware" | "spaces.update_sleep_time">, Open<"billing.aws_add" | "billing.aws_remove" | "billing.cancel_subscription" | "billing.create_customer" | "billing.gcp_add" | "billing.gcp_remove" | "billing.marketplace_approve" | "billing.remove_payment_method" | "billing.renew_subscription" | "billing.start_subscription" | "billing.un_cancel_subscription" | "billing.update_payment_method" | "billing.update_subscription" | "billing.update_subscription_plan" | "collection.create" | "collection.delete" | "collection.update_resource_group" | "jobs.cancel" | "jobs.create" | "jobs.update_expose" | "jobs.update_labels" | "oauth.token" | "org.add_user" | "org.change_role" | "org.create" | "org.custom_role.create" | "org.custom_role.delete" | "org.custom_role.update" | "org.delete" | "org.invite.accept" | "org.invite.email" | "org.invite_user" | "org.join.automatic" | "org.join.from_domain" | "org.leave" | "org.remove_user" | "org.rename" | "org.restore" | "org.rotate_token" | "org.service_account.create" | "org.service_account.delete" | "org.service_account.token.create" | "org.service_account.token.delete" | "org.service_account.token.rotate" | "org.service_account.token.update" | "org.settings.inference_providers" | "org.settings.inference_providers.keys.add" | "org.settings.inference_providers.keys.remove" | "org.settings.inference_providers.usage" | "org.settings.network" | "org.settings.network.auth_enforcement.disable" | "org.settings.network.auth_enforcement.enable" | "org.settings.network.ip_restriction.disable" | "org.settings.network.ip_restriction.enable" | "org.settings.profile" | "org.settings.publisher_gating" | "org.settings.regions" | "org.settings.resource_groups" | "org.settings.security.2fa.disable" | "org.settings.security.2fa.enable" | "org.settings.security.auto_join.disable" | "org.settings.security.auto_join.enable" | "org.settings.security.members_privacy.disable" | "org.settings.security.members_privacy.enable" | "org.settings.security.repo_visibility" | "org.settings.sso" | "org.settings.sso.disable" | "org.settings.sso.enable" | "org.sso_join" | "org.sso_login" | "org.token_approval.authorization_request" | "org.token_approval.authorization_request.authorized" | "org.token_approval.authorization_request.denied" | "org.token_approval.authorization_request.revoked" | "org.token_approval.disabled" | "org.token_approval.enabled" | "org.update_join_settings" | "org.update_settings" | "repo.add_secret" | "repo.add_secrets" | "repo.add_trusted_publisher" | "repo.add_variable" | "repo.add_variables" | "repo.create" | "repo.delete" | "repo.delete_doi" | "repo.delete_lfs_file" | "repo.disable" | "repo.duplication" | "repo.move" | "repo.removeDisable" | "repo.remove_secret" | "repo.remove_secrets" | "repo.remove_trusted_publisher" | "repo.remove_variable" | "repo.remove_variables" | "repo.update_resource_group" | "repo.update_secret" | "repo.update_settings" | "repo.update_variable" | "resource_group.add_users" | "resource_group.change_role" | "resource_group.create" | "resource_group.delete" | "resource_group.remove_users" | "resource_group.settings" | "scheduled_job.create" | "scheduled_job.delete" | "scheduled_job.resume" | "scheduled_job.run" | "scheduled_job.suspend" | "scheduled_job.update_labels" | "scheduled_job.update_schedule" | "spaces.add_storage" | "spaces.remove_storage" | "spaces.remove_volumes" | "spaces.set_volumes" | "spaces.update_hardware" | "spaces.update_sleep_time">, z.core.$ZodTypeInternals<Open<"billing.aws_add" | "billing.aws_remove" | "billing.cancel_subscription" | "billing.create_customer" | "billing.gcp_add" | "billing.gcp_remove" | "billing.marketplace_approve" | "billing.remove_payment_method" | "billing.renew_subscription" | "billing.start_subscription" | "billing.un_cancel_subscription" | "billing.update_payment_method" | "billing.update_subscription" | "billing.update_subscription_plan" | "collection.create" | "collection.delete" | "collection.update_resource_group" | "jobs.cancel" | "jobs.create" | "jobs.update_expose" | "jobs.update_labels" | "oauth.token" | "org.add_user" | "org.change_role" | "org.create" | "org.custom_role.create" | "org.custom_role.delete" | "org.custom_role.update" | "org.delete" | "org.invite.accept" | "org.invite.email" | "org.invite_user" | "org.join.automatic" | "org.join.from_domain" | "org.leave" | "org.remove_user" | "org.rename" | "org.restore" | "org.rotate_token" | "org.service_account.create" | "org.service_account.delete" | "org.service_account.token.create" | "org.service_account.token.delete" | "org.service_account.token.rotate" | "org.service_account.token.update" | "org.settings.inference_providers" | "org.settings.inference_providers.keys.add" | "org.settings.inference_providers.keys.remove" | "org.settings.inference_providers.usage" | "org.settings.network" | "org.settings.network.auth_enforcement.disable" | "org.settings.network.auth_enforcement.enable" | "org.settings.network.ip_restriction.disable" | "org.settings.network.ip_restriction.enable" | "org.settings.profile" | "org.settings.publisher_gating" | "org.settings.regions" | "org.settings.resource_groups" | "org.settings.security.2fa.disable" | "org.settings.security.2fa.enable" | "org.settings.security.auto_join.disable" | "org.settings.security.auto_join.enable" | "org.settings.security.members_privacy.disable" | "org.settings.security.members_privacy.enable" | "org.settings.security.repo_visibility" | "org.settings.sso" | "org.settings.sso.disable" | "org.settings.sso.enable" | "org.sso_join" | "org.sso_login" | "org.token_approval.authorization_request" | "org.token_approval.authorization_request.authorized" | "org.token_approval.authorization_request.denied" | "org.token_approval.authorization_request.revoked" | "org.token_approval.disabled" | "org.token_approval.enabled" | "org.update_join_settings" | "org.update_settings" | "repo.add_secret" | "repo.add_secrets" | "repo.add_trusted_publisher" | "repo.add_variable" | "repo.add_variables" | "repo.create" | "repo.delete" | "repo.delete_doi" | "repo.delete_lfs_file" | "repo.disable" | "repo.duplication" | "repo.move" | "repo.removeDisable" | "repo.remove_secret" | "repo.remove_secrets" | "repo.remove_trusted_publisher" | "repo.remove_variable" | "repo.remove_variables" | "repo.update_resource_group" | "repo.update_secret" | "repo.update_settings" | "repo.update_variable" | "resource_group.add_users" | "resource_group.change_role" | "resource_group.create" | "resource_group.delete" | "resource_group.remove_users" | "resource_group.settings" | "scheduled_job.create" | "scheduled_job.delete" | "scheduled_job.resume" | "scheduled_job.run" | "scheduled_job.suspend" | "scheduled_job.update_labels" | "scheduled_job.update_schedule" | "spaces.add_storage" | "spaces.remove_storage" | "spaces.remove_volumes" | "spaces.set_volumes" | "spaces.update_hardware" | "spaces.update_sleep_time">, Open<"billing.aws_add" | "billing.aws_remove" | "billing.cancel_subscription" | "billing.create_customer" | "billing.gcp_add" | "billing.gcp_remove" | "billing.marketplace_approve" | "billing.remove_payment_method" | "billing.renew_subscription" | "billing.start_subscription" | "billing.un_cancel_subscription" | "billing.update_payment_method" | "billing.update_subscription" | "billing.update_subscription_plan" | "collection.create" | "collection.delete" | "collection.update_resource_group" | "jobs.cancel" | "jobs.create" | "jobs.update_expose" | "jobs.update_labels" | "oauth.token" | "org.add_user" | "org.change_role" | "org.create" | "org.custom_role.create" | "org.custom_role.delete" | "org.custom_role.update" | "org.delete" | "org.invite.accept" | "org.invite.email" | "org.invite_user" | "org.join.automatic" | "org.join.from_domain" | "org.leave" | "org.remove_user" | "org.rename" | "org.restore" | "org.rotate_token" | "org.service_account.create" | "org.service_account.delete" | "org.service_account.token.create" | "org.service_account.token.delete" | "org.service_account.token.rotate" | "org.service_account.token.update" | "org.settings.inference_providers" | "org.settings.inference_providers.keys.add" | "org.settings.inference_providers.keys.remove" | "org.settings.inference_providers.usage" | "org.settings.network" | "org.settings.network.auth_enforcement.disable" | "org.settings.network.auth_enforcement.enable" | "org.settings.network.ip_restriction.disable" | "org.settings.network.ip_restriction.enable" | "org.settings.profile" | "org.settings.publisher_gating" | "org.settings.regions" | "org.settings.resource_groups" | "org.settings.security.2fa.disable" | "org.settings.security.2fa.enable" | "org.settings.security.auto_join.disable" | "org.settings.security.auto_join.enable" | "org.settings.security.members_privacy.disable" | "org.settings.security.members_privacy.enable" | "org.settings.security.repo_visibility" | "org.settings.sso" | "org.settings.sso.disable" | "org.settings.sso.enable" | "org.sso_join" | "org.sso_login" | "org.token_approval.authorization_request" | "org.token_approval.authorization_request.authorized" | "org.token_approval.authorization_request.denied" | "org.token_approval.authorization_request.revoked" | "org.token_approval.disabled" | "org.token_approval.enabled" | "org.update_join_settings" | "org.update_settings" | "repo.add_secret" | "repo.add_secrets" | "repo.add_trusted_publisher" | "repo.add_variable" | "repo.add_variables" | "repo.create" | "repo.delete" | "repo.delete_doi" | "repo.delete_lfs_file" | "repo.disable" | "repo.duplication" | "repo.move" | "repo.removeDisable" | "repo.remove_secret" | "repo.remove_secrets" | "repo.remove_trusted_publisher" | "repo.remove_variable" | "repo.remove_variables" | "repo.update_resource_group" | "repo.update_secret" | "repo.update_settings" | "repo.update_variable" | "resource_group.add_users" | "resource_group.change_role" | "resource_group.create" | "resource_group.delete" | "resource_group.remove_users" | "resource_group.settings" | "scheduled_job.create" | "scheduled_job.delete" | "scheduled_job.resume" | "scheduled_job.run" | "scheduled_job.suspend" | "scheduled_job.update_labels" | "scheduled_job.update_schedule" | "spaces.add_storage" | "spaces.remove_storage" | "spaces.remove_volumes" | "spaces.set_volumes" | "spaces.update_hardware" | "spaces.update_sleep_time">>>;
  data: z.ZodOptional<z.ZodUnknown>;
  message: z.ZodString;
  ip: z.ZodOptional<z.ZodString>;
  location: z.ZodOptional<z.ZodObject<{
    formatted: z.ZodString;
    country: z.ZodOptional<z.ZodString>;
    city: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>;
  userAgent: z.ZodOptional<z.ZodString>;
  author: z.ZodObject<{
    _id: z.ZodString;
    user: z.ZodString;
    avatarUrl: z.ZodString;
    type: z.ZodType<Open<"system" | "user">, Open<"system" | "user">, z.core.$ZodTypeInternals<Open<"system" | "user">, Open<"system" | "user">>>;
    deleted: z.ZodOptional<z.ZodBoolean>;
  }, z.core.$strict>;
  token: z.ZodOptional<z.ZodObject<{
    type: z.ZodOptional<z.ZodLiteral<"access_token">>;
    id: z.ZodOptional<z.ZodString>;
    deleted: z.ZodBoolean;
    role: z.ZodOptional<z.ZodType<Open<"fineGrained" | "read" | "write">, Open<"fineGrained" | "read" | "write">, z.core.$ZodTypeInternals<Open<"fineGrained" | "read" | "write">, Open<"fineGrained" | "read" | "write">>>>;
    last4: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>;
  oauth: z.ZodOptional<z.ZodObject<{
    clientId: z.ZodString;
    name: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>;
}, z.core.$strict>;
declare const search$1: z.ZodObject<{
  q: z.ZodOptional<z.ZodString>;
}, z.core.$strip>;
/** Something that somebody did in an organization. */
type AuditLogEvent = z.output<typeof auditLogEvent>;
/** The type of an event of the audit log. */
type AuditLogType = Open<(typeof auditLogTypes)[number]>;
/** Which events: `q` holds terms such as `author:ada ip:192.0.2.1 type:org.add_user`. */
type AuditLogSearch = SearchOf<typeof search$1>;
/** A member of an organization. */
declare const organizationMember: z.ZodObject<{
  _id: z.ZodString;
  avatarUrl: z.ZodString;
  fullname: z.ZodString;
  isPro: z.ZodBoolean;
  user: z.ZodString;
  type: z.ZodLiteral<"user">;
  isFollowing: z.ZodOptional<z.ZodBoolean>;
  role: z.ZodOptional<z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>>;
  resourceGroups: z.ZodOptional<z.ZodArray<z.ZodObject<{
    name: z.ZodString;
    id: z.ZodString;
    numUsers: z.ZodNumber;
    role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  }, z.core.$strict>>>;
  twoFaEnabled: z.ZodOptional<z.ZodBoolean>;
  verifiedEmail: z.ZodOptional<z.ZodNullable<z.ZodString>>;
  isExternalCollaborator: z.ZodOptional<z.ZodBoolean>;
}, z.core.$strict>;
/** What a member may do from now on, in the organization and in some of its resource groups. */
declare const memberRoleChange: z.ZodObject<{
  role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  resourceGroups: z.ZodOptional<z.ZodArray<z.ZodObject<{
    id: z.ZodString;
    role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  }, z.core.$strip>>>;
}, z.core.$strip>;
declare const search: z.ZodObject<{
  search: z.ZodOptional<z.ZodString>;
  email: z.ZodOptional<z.ZodEmail>;
  cursor: z.ZodOptional<z.ZodString>;
  limit: z.ZodDefault<z.ZodCodec<z.ZodString, z.ZodInt>>;
}, z.core.$strip>;
/** A member of an organization. */
type OrganizationMember = z.output<typeof organizationMember>;
/** Which members; `limit` is how many come in one page, `cursor` where to go on. */
type MemberSearch = SearchOf<typeof search>;
/** What a member may do from now on, in the organization and in some of its resource groups. */
type MemberRoleChange = z.input<typeof memberRoleChange>;
/** Who may reach an organization, and what its members may reach. */
declare const networkSecurity: z.ZodObject<{
  enforceAuth: z.ZodUnion<readonly [z.ZodBoolean, z.ZodLiteral<"pending">]>;
  enforceIpRestriction: z.ZodBoolean;
  highRateLimits: z.ZodUnion<readonly [z.ZodBoolean, z.ZodLiteral<"pending">]>;
  ipRanges: z.ZodArray<z.ZodString>;
  blockedContents: z.ZodOptional<z.ZodArray<z.ZodObject<{
    resource: z.ZodType<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodString;
  }, z.core.$strict>>>;
  allowedContents: z.ZodOptional<z.ZodArray<z.ZodObject<{
    resource: z.ZodType<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodString;
  }, z.core.$strict>>>;
  keepReposMetadataVisible: z.ZodOptional<z.ZodBoolean>;
  blockedUrls: z.ZodOptional<z.ZodArray<z.ZodString>>;
  allowedUrls: z.ZodOptional<z.ZodArray<z.ZodString>>;
}, z.core.$strict>;
/** What changes of it; what is left out stays as it is. */
declare const networkSecurityChange: z.ZodObject<{
  enforceAuth: z.ZodOptional<z.ZodBoolean>;
  enforceIpRestriction: z.ZodOptional<z.ZodBoolean>;
  highRateLimits: z.ZodOptional<z.ZodBoolean>;
  ipRanges: z.ZodOptional<z.ZodArray<z.ZodString>>;
  blockedContents: z.ZodOptional<z.ZodArray<z.ZodObject<{
    resource: z.ZodType<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodString;
  }, z.core.$strip>>>;
  allowedContents: z.ZodOptional<z.ZodArray<z.ZodObject<{
    resource: z.ZodType<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"*" | "bucket" | "dataset" | "kernel" | "model" | "space", Open<"*" | "bucket" | "dataset" | "kernel" | "model" | "space">>>;
    scope: z.ZodString;
  }, z.core.$strip>>>;
  keepReposMetadataVisible: z.ZodOptional<z.ZodBoolean>;
  blockedUrls: z.ZodOptional<z.ZodArray<z.ZodString>>;
  allowedUrls: z.ZodOptional<z.ZodArray<z.ZodString>>;
}, z.core.$strip>;
/** Who may reach an organization, and what it may reach. `pending`: it is asked for, and not granted yet. */
type NetworkSecurity = z.output<typeof networkSecurity>;
/** What changes of an organization's network security; what is left out stays as it is. */
type NetworkSecurityChange = z.input<typeof networkSecurityChange>;
/** The network security of organizations: `hub.organizations.networkSecurity`. */
declare class HubNetworkSecurity {
  #private;
  /** Returns the current settings. */
  get(name: string, options?: CallOptions): Promise<NetworkSecurity>;
  /**
   * Changes the given settings and returns all of them. `allowedContents` and `blockedContents` replaced `allowedUrls` and
   * `blockedUrls` on 2026-05-04. If you pass one of these, the current settings are read first.
   *
   * @throws `ARGUMENT_INVALID`, before anything is changed, if the Hub uses the other names and would ignore yours.
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
/** Something that belongs to a resource group. */
declare const resource: z.ZodDiscriminatedUnion<[z.ZodObject<{
  type: z.ZodEnum<{
    bucket: "bucket";
    dataset: "dataset";
    kernel: "kernel";
    model: "model";
    space: "space";
  }>;
  name: z.ZodString;
  private: z.ZodBoolean;
  addedBy: z.ZodOptional<z.ZodString>;
}, z.core.$strict>, z.ZodObject<{
  id: z.ZodString;
  slug: z.ZodString;
  title: z.ZodString;
  private: z.ZodBoolean;
  addedBy: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"collection">;
}, z.core.$strict>, z.ZodObject<{
  id: z.ZodString;
  slug: z.ZodString;
  title: z.ZodString;
  private: z.ZodBoolean;
  addedBy: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"blog">;
}, z.core.$strict>, z.ZodObject<{
  id: z.ZodString;
  name: z.ZodOptional<z.ZodString>;
  addedBy: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"job">;
}, z.core.$strict>, z.ZodObject<{
  id: z.ZodString;
  name: z.ZodOptional<z.ZodString>;
  addedBy: z.ZodOptional<z.ZodString>;
  type: z.ZodLiteral<"scheduled-job">;
}, z.core.$strict>], "type">;
/** Resources of an organization, and who may do what with them. */
declare const resourceGroup: z.ZodObject<{
  id: z.ZodString;
  name: z.ZodString;
  description: z.ZodOptional<z.ZodNullable<z.ZodString>>;
  autoJoin: z.ZodOptional<z.ZodDiscriminatedUnion<[z.ZodObject<{
    enabled: z.ZodLiteral<true>;
    role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    scope: z.ZodOptional<z.ZodType<Open<"all" | "read_plus">, Open<"all" | "read_plus">, z.core.$ZodTypeInternals<Open<"all" | "read_plus">, Open<"all" | "read_plus">>>>;
  }, z.core.$strict>, z.ZodObject<{
    enabled: z.ZodLiteral<false>;
  }, z.core.$strict>], "enabled">>;
  spendLimits: z.ZodOptional<z.ZodObject<{
    total: z.ZodOptional<z.ZodInt>;
    inferenceProviders: z.ZodOptional<z.ZodInt>;
    spaces: z.ZodOptional<z.ZodInt>;
    jobs: z.ZodOptional<z.ZodInt>;
    endpoints: z.ZodOptional<z.ZodInt>;
  }, z.core.$strict>>;
  users: z.ZodArray<z.ZodObject<{
    type: z.ZodLiteral<"user">;
    _id: z.ZodString;
    fullname: z.ZodString;
    name: z.ZodString;
    avatarUrl: z.ZodString;
    role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    addedBy: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>;
  resources: z.ZodOptional<z.ZodArray<z.ZodDiscriminatedUnion<[z.ZodObject<{
    type: z.ZodEnum<{
      bucket: "bucket";
      dataset: "dataset";
      kernel: "kernel";
      model: "model";
      space: "space";
    }>;
    name: z.ZodString;
    private: z.ZodBoolean;
    addedBy: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>, z.ZodObject<{
    id: z.ZodString;
    slug: z.ZodString;
    title: z.ZodString;
    private: z.ZodBoolean;
    addedBy: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"collection">;
  }, z.core.$strict>, z.ZodObject<{
    id: z.ZodString;
    slug: z.ZodString;
    title: z.ZodString;
    private: z.ZodBoolean;
    addedBy: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"blog">;
  }, z.core.$strict>, z.ZodObject<{
    id: z.ZodString;
    name: z.ZodOptional<z.ZodString>;
    addedBy: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"job">;
  }, z.core.$strict>, z.ZodObject<{
    id: z.ZodString;
    name: z.ZodOptional<z.ZodString>;
    addedBy: z.ZodOptional<z.ZodString>;
    type: z.ZodLiteral<"scheduled-job">;
  }, z.core.$strict>], "type">>>;
  repos: z.ZodOptional<z.ZodArray<z.ZodObject<{
    type: z.ZodEnum<{
      bucket: "bucket";
      dataset: "dataset";
      kernel: "kernel";
      model: "model";
      space: "space";
    }>;
    name: z.ZodString;
    private: z.ZodBoolean;
    addedBy: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>>;
}, z.core.$strict>;
/** A resource group to create. */
declare const resourceGroupRequest: z.ZodObject<{
  name: z.ZodString;
  description: z.ZodOptional<z.ZodString>;
  users: z.ZodDefault<z.ZodArray<z.ZodObject<{
    user: z.ZodString;
    role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
  }, z.core.$strip>>>;
  repos: z.ZodDefault<z.ZodArray<z.ZodObject<{
    name: z.ZodString;
    type: z.ZodType<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "space", Open<"bucket" | "dataset" | "kernel" | "model" | "space">>>;
  }, z.core.$strict>>>;
  autoJoin: z.ZodOptional<z.ZodDiscriminatedUnion<[z.ZodObject<{
    enabled: z.ZodLiteral<true>;
    role: z.ZodType<OrganizationRole, OrganizationRole, z.core.$ZodTypeInternals<OrganizationRole, OrganizationRole>>;
    scope: z.ZodOptional<z.ZodType<"all" | "read_plus", Open<"all" | "read_plus">, z.core.$ZodTypeInternals<"all" | "read_plus", Open<"all" | "read_plus">>>>;
  }, z.core.$strip>, z.ZodObject<{
    enabled: z.ZodLiteral<false>;
  }, z.core.$strip>], "enabled">>;
}, z.core.$strip>;
/** Something that belongs to a resource group; `type` tells what it is. A newer Hub may return further types. */
type Resource = z.output<typeof resource>;
/** A resource group as the Hub returns it: with `resources`, or before 2026-07-01 with `repos`. */
type ReturnedResourceGroup = z.output<typeof resourceGroup>;
/** Resources of an organization, and who may do what with them. */
type ResourceGroup = Omit<ReturnedResourceGroup, "resources"> & {
  /** Repositories, collections, blog articles and jobs. */
  resources: Resource[];
};
/** A resource group to create. */
type ResourceGroupRequest = z.input<typeof resourceGroupRequest>;
/** The resource groups of organizations: `hub.organizations.resourceGroups`. */
declare class HubResourceGroups {
  #private;
  /** Lists the resource groups that you can access. */
  list(name: string, options?: CallOptions): Promise<ResourceGroup[]>;
  /**
   * Creates a resource group. The call is retried only if the Hub cannot have processed it.
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
/** Which token loses its access: by its id, or before 2026-08-12 by its raw value. */
type RevokedToken = {
  /** As the token settings of the organization and its audit log show it. */
  tokenId: string;
} | {
  /** The raw token, for a Hub from before 2026-08-12. It appears in no error and no log. */
  token: string;
};
/** What the SCIM interface of an organization can do. What else the answer holds is not shown, nor is what `sort` does. */
declare const scimConfig: z.ZodObject<{
  schemas: z.ZodArray<z.ZodString>;
  documentationUri: z.ZodString;
  patch: z.ZodObject<{
    supported: z.ZodBoolean;
  }, z.core.$strict>;
  bulk: z.ZodObject<{
    supported: z.ZodBoolean;
    maxOperations: z.ZodNumber;
    maxPayloadSize: z.ZodNumber;
  }, z.core.$strict>;
  filter: z.ZodObject<{
    supported: z.ZodBoolean;
    maxResults: z.ZodNumber;
  }, z.core.$strict>;
  changePassword: z.ZodObject<{
    supported: z.ZodBoolean;
  }, z.core.$strict>;
  sort: z.ZodObject<{}, z.core.$loose>;
}, z.core.$loose>;
/** What the SCIM interface of an organization can do. */
type ScimConfig = z.output<typeof scimConfig>;
/**
 * Organizations: `hub.organizations`. The first argument of every method is the name of the organization. Most methods
 * need a token of an admin, and a paid plan.
 */
declare class HubOrganizations {
  #private;
  /** Groups of repositories with their own members and roles. Enterprise only. */
  readonly resourceGroups: HubResourceGroups;
  /** Which networks can access the organization, and which content its members can access. */
  readonly networkSecurity: HubNetworkSecurity;
  /**
   * Revokes the access of a token to the organization. The token still works elsewhere. Enterprise only.
   *
   * @example
   * ```ts
   * await hub.organizations.revokeToken("acme", { tokenId: "65b2f0a1c3d4e5f60718293a" });
   * ```
   */
  revokeToken(name: string, revoked: RevokedToken, options?: CallOptions): Promise<void>;
  /**
   * Streams the audit log, the newest event first, up to 100,000 events. Yields each event as soon as it arrives and never
   * holds the whole log in memory. Team or Enterprise.
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
   * Changes the role of a member in the organization and in the given resource groups. Needs a paid plan.
   *
   * @example
   * ```ts
   * await hub.organizations.setMemberRole("acme", "ada", { role: "write" });
   * ```
   */
  setMemberRole(name: string, username: string, change: MemberRoleChange, options?: CallOptions): Promise<void>;
  /** Returns the SCIM configuration. Enterprise Plus only; needs a token of an owner with write access. */
  scimConfig(name: string, options?: CallOptions): Promise<ScimConfig>;
}
/** Which paper is claimed, as which of its authors, and for whom. */
declare const paperClaim: z.ZodObject<{
  paperId: z.ZodString;
  claimAuthorId: z.ZodOptional<z.ZodString>;
  targetUserId: z.ZodOptional<z.ZodString>;
}, z.core.$strip>;
/** What became of a claim. */
declare const paperClaimResult: z.ZodObject<{
  ok: z.ZodBoolean;
  claimedPaperId: z.ZodString;
}, z.core.$strict>;
/** Which paper is claimed, as which of its authors, and for whom. */
type PaperClaim = z.input<typeof paperClaim>;
/** What became of a claim. */
type PaperClaimResult = z.output<typeof paperClaimResult>;
/** Papers: `hub.papers` (hub-api.md, Papers). */
declare class HubPapers {
  #private;
  /**
   * Claims that you, or the user of `targetUserId`, are an author of a paper. `ok` is whether the Hub accepted the claim.
   *
   * @example
   * ```ts
   * const { ok } = await hub.papers.claim({ paperId: "2401.12345" });
   * ```
   */
  claim(claim: PaperClaim, options?: CallOptions): Promise<PaperClaimResult>;
}
/** What changes in a user's notification settings. */
declare const notificationSettingsChange: z.ZodObject<{
  notifications: z.ZodObject<{
    announcements: z.ZodOptional<z.ZodBoolean>;
    arxiv_paper_activity: z.ZodOptional<z.ZodBoolean>;
    daily_papers_digest: z.ZodOptional<z.ZodBoolean>;
    discussions_participating: z.ZodOptional<z.ZodBoolean>;
    discussions_watched: z.ZodOptional<z.ZodBoolean>;
    gated_user_access_request: z.ZodOptional<z.ZodBoolean>;
    inference_endpoint_status: z.ZodOptional<z.ZodBoolean>;
    launch_autonlp: z.ZodOptional<z.ZodBoolean>;
    launch_spaces: z.ZodOptional<z.ZodBoolean>;
    launch_prepaid_credits: z.ZodOptional<z.ZodBoolean>;
    launch_training_cluster: z.ZodOptional<z.ZodBoolean>;
    org_request: z.ZodOptional<z.ZodBoolean>;
    org_suggestions: z.ZodOptional<z.ZodBoolean>;
    org_verified_suggestions: z.ZodOptional<z.ZodBoolean>;
    org_suggestions_to_create: z.ZodOptional<z.ZodBoolean>;
    posts_participating: z.ZodOptional<z.ZodBoolean>;
    user_follows: z.ZodOptional<z.ZodBoolean>;
    secret_detected: z.ZodOptional<z.ZodBoolean>;
    web_discussions_participating: z.ZodOptional<z.ZodBoolean>;
    web_discussions_watched: z.ZodOptional<z.ZodBoolean>;
    web_posts_participating: z.ZodOptional<z.ZodBoolean>;
    api_inference_sunset: z.ZodOptional<z.ZodBoolean>;
    locked_out: z.ZodOptional<z.ZodBoolean>;
    job_status: z.ZodOptional<z.ZodBoolean>;
    repo_release: z.ZodOptional<z.ZodBoolean>;
    product_updates_after: z.ZodOptional<z.ZodISODateTime>;
  }, z.core.$strip>;
  prepaidAmount: z.ZodOptional<z.ZodString>;
}, z.core.$strip>;
/** Something whose discussions a user wants to hear of. */
declare const watchItem: z.ZodObject<{
  id: z.ZodString;
  type: z.ZodType<"org" | "repo" | "user", Open<"org" | "repo" | "user">, z.core.$ZodTypeInternals<"org" | "repo" | "user", Open<"org" | "repo" | "user">>>;
}, z.core.$strip>;
/** What a user begins to watch, and what no longer. */
declare const watchChange: z.ZodObject<{
  add: z.ZodDefault<z.ZodArray<z.ZodObject<{
    id: z.ZodString;
    type: z.ZodType<"org" | "repo" | "user", Open<"org" | "repo" | "user">, z.core.$ZodTypeInternals<"org" | "repo" | "user", Open<"org" | "repo" | "user">>>;
  }, z.core.$strip>>>;
  delete: z.ZodDefault<z.ZodArray<z.ZodObject<{
    id: z.ZodString;
    type: z.ZodType<"org" | "repo" | "user", Open<"org" | "repo" | "user">, z.core.$ZodTypeInternals<"org" | "repo" | "user", Open<"org" | "repo" | "user">>>;
  }, z.core.$strip>>>;
}, z.core.$strip>;
/** What a user's own tools of the Hub's MCP server are. */
declare const mcpSettings: z.ZodObject<{
  builtInTools: z.ZodArray<z.ZodString>;
  spaceTools: z.ZodArray<z.ZodObject<{
    _id: z.ZodString;
    name: z.ZodString;
    emoji: z.ZodString;
    subdomain: z.ZodString;
  }, z.core.$strict>>;
}, z.core.$strict>;
/** What changes in your notification settings: 25 switches and a date, and an amount that one switch asks for. */
type NotificationSettingsChange = z.input<typeof notificationSettingsChange>;
/** Something whose discussions you want to hear of, by its id. */
type WatchItem = z.input<typeof watchItem>;
/** What you begin to watch, and what no longer. */
type WatchChange = z.input<typeof watchChange>;
/** The tools that the Hub's MCP server offers you. */
type McpSettings = z.output<typeof mcpSettings>;
/**
 * The settings of the user of the token: `hub.settings`.
 */
declare class HubSettings {
  #private;
  /** Returns your tools of the Hub's MCP server. */
  mcp(options?: CallOptions): Promise<McpSettings>;
  /**
   * Changes the given notification settings and keeps the others. To enable `launch_prepaid_credits`, pass a
   * `prepaidAmount` of up to 24 characters.
   *
   * @example
   * ```ts
   * await hub.settings.updateNotifications({ notifications: { daily_papers_digest: false } });
   * ```
   */
  updateNotifications(change: NotificationSettingsChange, options?: CallOptions): Promise<void>;
  /**
   * Changes whose discussions you are notified of.
   *
   * @example
   * ```ts
   * await hub.settings.updateWatch({ add: [{ type: "org", id: "65b2f0a1c3d4e5f60718293a" }] });
   * ```
   */
  updateWatch(change: WatchChange, options?: CallOptions): Promise<void>;
}
/** A webhook as the Hub answers with it. */
declare const webhook$1: z.ZodObject<{
  id: z.ZodString;
  url: z.ZodOptional<z.ZodURL>;
  job: z.ZodOptional<z.ZodObject<{
    dockerImage: z.ZodOptional<z.ZodString>;
    spaceId: z.ZodOptional<z.ZodString>;
    environment: z.ZodDefault<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
    command: z.ZodOptional<z.ZodArray<z.ZodString>>;
    flavor: z.ZodType<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
    timeoutSeconds: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
    labels: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    secrets: z.ZodOptional<z.ZodArray<z.ZodString>>;
  }, z.core.$strict>>;
  jobSourceId: z.ZodOptional<z.ZodString>;
  disabled: z.ZodUnion<readonly [z.ZodBoolean, z.ZodType<Open<"suspended-after-failure">, Open<"suspended-after-failure">, z.core.$ZodTypeInternals<Open<"suspended-after-failure">, Open<"suspended-after-failure">>>]>;
  watched: z.ZodArray<z.ZodObject<{
    name: z.ZodString;
    type: z.ZodType<Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    avatarUrl: z.ZodOptional<z.ZodString>;
  }, z.core.$strict>>;
  hasSecret: z.ZodOptional<z.ZodBoolean>;
  secret: z.ZodOptional<z.ZodString>;
  domains: z.ZodArray<z.ZodType<Open<"discussion" | "repo">, Open<"discussion" | "repo">, z.core.$ZodTypeInternals<Open<"discussion" | "repo">, Open<"discussion" | "repo">>>>;
  lastTriggerAt: z.ZodOptional<z.ZodISODateTime>;
}, z.core.$strict>;
/** What create accepts. */
declare const webhookRequest: z.ZodObject<{
  watched: z.ZodArray<z.ZodObject<{
    type: z.ZodType<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    name: z.ZodString;
  }, z.core.$strip>>;
  domains: z.ZodArray<z.ZodType<"discussion" | "repo", Open<"discussion" | "repo">, z.core.$ZodTypeInternals<"discussion" | "repo", Open<"discussion" | "repo">>>>;
  url: z.ZodOptional<z.ZodString>;
  job: z.ZodOptional<z.ZodObject<{
    flavor: z.ZodType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>;
    spaceId: z.ZodOptional<z.ZodString>;
    dockerImage: z.ZodOptional<z.ZodString>;
    arguments: z.ZodOptional<z.ZodArray<z.ZodString>>;
    command: z.ZodOptional<z.ZodArray<z.ZodString>>;
    environment: z.ZodDefault<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    secrets: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    arch: z.ZodOptional<z.ZodType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>;
    timeoutSeconds: z.ZodDefault<z.ZodNullable<z.ZodInt>>;
    attempts: z.ZodDefault<z.ZodInt>;
    labels: z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>;
    volumes: z.ZodOptional<z.ZodArray<z.ZodObject<{
      type: z.ZodType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
      source: z.ZodString;
      mountPath: z.ZodString;
      revision: z.ZodOptional<z.ZodString>;
      readOnly: z.ZodOptional<z.ZodBoolean>;
      path: z.ZodOptional<z.ZodString>;
    }, z.core.$strip>>>;
    expose: z.ZodOptional<z.ZodObject<{
      ports: z.ZodArray<z.ZodInt>;
      portsPublic: z.ZodOptional<z.ZodArray<z.ZodInt>>;
    }, z.core.$strip>>;
    ssh: z.ZodOptional<z.ZodObject<{
      enabled: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strip>>;
    resourceGroupId: z.ZodOptional<z.ZodString>;
  }, z.core.$strip>>;
  jobSourceId: z.ZodOptional<z.ZodString>;
  secret: z.ZodOptional<z.ZodString>;
}, z.core.$strip>;
/** A webhook as the Hub answers with it. */
type Webhook = z.output<typeof webhook$1>;
/** A webhook to create: with exactly one of `url`, `job` and `jobSourceId`. */
type WebhookRequest = z.input<typeof webhookRequest>;
declare const webhookChanges: z.ZodObject<{
  watched: z.ZodOptional<z.ZodArray<z.ZodObject<{
    type: z.ZodType<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user", Open<"bucket" | "dataset" | "kernel" | "model" | "org" | "space" | "user">>>;
    name: z.ZodString;
  }, z.core.$strip>>>;
  domains: z.ZodOptional<z.ZodArray<z.ZodType<"discussion" | "repo", Open<"discussion" | "repo">, z.core.$ZodTypeInternals<"discussion" | "repo", Open<"discussion" | "repo">>>>>;
  url: z.ZodOptional<z.ZodString>;
  job: z.ZodOptional<z.ZodObject<{
    flavor: z.ZodOptional<z.ZodType<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">, z.core.$ZodTypeInternals<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g", Open<"a100-large" | "a100x4" | "a100x8" | "a10g-large" | "a10g-largex2" | "a10g-largex4" | "a10g-small" | "cpu-basic" | "cpu-performance" | "cpu-upgrade" | "cpu-xl" | "h200" | "h200x2" | "h200x4" | "h200x8" | "inf2x6" | "l40sx1" | "l40sx4" | "l40sx8" | "l4x1" | "l4x4" | "rtx-pro-6000" | "rtx-pro-6000x2" | "rtx-pro-6000x4" | "rtx-pro-6000x8" | "sprx8" | "t4-medium" | "t4-small" | "zero-a10g">>>>;
    spaceId: z.ZodNullable<z.ZodOptional<z.ZodString>>;
    dockerImage: z.ZodNullable<z.ZodOptional<z.ZodString>>;
    arguments: z.ZodNullable<z.ZodOptional<z.ZodArray<z.ZodString>>>;
    command: z.ZodNullable<z.ZodOptional<z.ZodArray<z.ZodString>>>;
    environment: z.ZodOptional<z.ZodNullable<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>>;
    secrets: z.ZodOptional<z.ZodNullable<z.ZodRecord<z.ZodString, z.ZodNullable<z.ZodString>>>>;
    arch: z.ZodNullable<z.ZodOptional<z.ZodType<"amd64" | "arm64", Open<"amd64" | "arm64">, z.core.$ZodTypeInternals<"amd64" | "arm64", Open<"amd64" | "arm64">>>>>;
    timeoutSeconds: z.ZodOptional<z.ZodNullable<z.ZodNullable<z.ZodInt>>>;
    attempts: z.ZodOptional<z.ZodNullable<z.ZodInt>>;
    labels: z.ZodNullable<z.ZodOptional<z.ZodPipe<z.ZodCustom<Record<string, string>, Record<string, string>>, z.ZodRecord<z.ZodString, z.ZodString>>>>;
    volumes: z.ZodNullable<z.ZodOptional<z.ZodArray<z.ZodObject<{
      type: z.ZodType<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">, z.core.$ZodTypeInternals<"bucket" | "dataset" | "model" | "space", Open<"bucket" | "dataset" | "model" | "space">>>;
      source: z.ZodString;
      mountPath: z.ZodString;
      revision: z.ZodOptional<z.ZodString>;
      readOnly: z.ZodOptional<z.ZodBoolean>;
      path: z.ZodOptional<z.ZodString>;
    }, z.core.$strip>>>>;
    expose: z.ZodNullable<z.ZodOptional<z.ZodObject<{
      ports: z.ZodArray<z.ZodInt>;
      portsPublic: z.ZodOptional<z.ZodArray<z.ZodInt>>;
    }, z.core.$strip>>>;
    ssh: z.ZodNullable<z.ZodOptional<z.ZodObject<{
      enabled: z.ZodDefault<z.ZodBoolean>;
    }, z.core.$strip>>>;
    resourceGroupId: z.ZodNullable<z.ZodOptional<z.ZodString>>;
  }, z.core.$strip>>;
  jobSourceId: z.ZodOptional<z.ZodString>;
  secret: z.ZodNullable<z.ZodOptional<z.ZodString>>;
}, z.core.$strip>;
/**
 * What is to change of a webhook. What is left out stays as it is, except that another target (`url`, `job` or
 * `jobSourceId`) takes the place of the one before. `secret: null` removes the secret.
 *
 * The fields of `job` are laid over those of the job that the webhook has; `null` removes one. A webhook without a job
 * of its own takes a whole one.
 */
type WebhookChanges = z.input<typeof webhookChanges>;
/**
 * The webhooks of the user of the token: `hub.webhooks`.
 *
 * Every method throws a `HubError`: `ARGUMENT_INVALID` with the invalid fields before a request is sent, and other codes
 * for other failures.
 */
declare class HubWebhooks {
  #private;
  /** Lists all your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]>;
  /** Returns a webhook. Every method that takes an ID throws `HUB_NOT_FOUND` if the webhook does not exist. */
  get(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /**
   * Creates an active webhook. The call is retried only if the Hub cannot have processed it.
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
   * Changes the given fields and keeps the others. The Hub accepts only complete webhooks, so this method reads the webhook,
   * merges the changes and writes it back. It overwrites changes that are made between the read and the write.
   *
   * @throws `VALUE_UNREADABLE`, before anything is written, if the update would lose values that the Hub does not return: a
   * hidden secret, or `arch`, `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId` and secret values of a job. Pass
   * the values that `fields` lists.
   * @example
   * ```ts
   * await hub.webhooks.update(id, { url: "https://acme-bot.hf.space/webhooks/retrain", secret: null });
   * ```
   */
  update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook>;
  /** Enables a webhook that is disabled or suspended (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Disables a webhook: it stays, and delivers nothing. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook>;
  /** Deletes a webhook permanently. */
  delete(webhookId: string, options?: CallOptions): Promise<void>;
  /**
   * Sends a past delivery again, with the current URL and secret of the webhook. `status` is the HTTP status of the
   * receiver. Find the log ID in the Activity tab of the webhook on the Hub.
   */
  replay(webhookId: string, logId: string, options?: CallOptions): Promise<{
    status: number;
  }>;
}
/** Options of {@link HubClient}. */
interface HubClientOptions {
  /**
   * An access token of the Hub. Default: `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN`, else the file that `hf auth login`
   * writes (`HF_TOKEN_PATH`, `$HF_HOME/token`, `~/.cache/huggingface/token`). Read at the first call.
   */
  token?: string | undefined;
  /**
   * The base URL of the Hub. Every call sends the token there, so use `http:` only on your own machine. Default:
   * `HF_ENDPOINT`, else `https://huggingface.co`.
   */
  endpoint?: string | undefined;
  /** The function that sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** Timeout of one attempt. Default `"30s"`. */
  timeout?: Duration | undefined;
  /**
   * The maximum number of attempts per call, including the first. The client retries rate limits (429), failures of the
   * Hub (5xx) and network errors. It retries calls that must not run twice (create, replay, claim) only if the Hub cannot
   * have processed them. Default 4.
   */
  attempts?: number | undefined;
  /**
   * Logs a warning for fields and values in requests that this release does not list. Default:
   * `process.emitWarning`, and `console.warn` in runtimes without it.
   */
  logger?: Logger | undefined;
}
/**
 * The Hub's REST API.
 *
 * @throws `OPTION_INVALID` when an option cannot be used.
 * @example
 * ```ts
 * const hub = new HubClient();
 * for (const { id, url, disabled } of await hub.webhooks.list()) console.log(id, url, disabled);
 * ```
 */
export declare class HubClient {
  #private;
  /** The base URL of the Hub, without a trailing slash. */
  readonly endpoint: string;
  /** Your webhooks: list, create, update, enable, delete, replay. */
  readonly webhooks: HubWebhooks;
  /** Your notifications. */
  readonly notifications: HubNotifications;
  /** Your settings: notifications, watched discussions, MCP tools. */
  readonly settings: HubSettings;
  /** Papers and their authors. */
  readonly papers: HubPapers;
  /** Jobs: the available hardware. */
  readonly jobs: HubJobs;
  /** Organizations: members, resource groups, network security, audit log. */
  readonly organizations: HubOrganizations;
  constructor(options?: HubClientOptions);
  /**
   * Returns the user of the token, the organizations of that user, and the permissions of the token. The Hub limits how
   * often you can call this.
   *
   * @example
   * ```ts
   * const { name, orgs } = await hub.whoami();
   * ```
   */
  whoami(options?: CallOptions): Promise<Whoami>;
  /**
   * Calls an operation that this client has no method for, with the same token, timeout, retries and errors. `path` starts
   * with one slash and is relative to {@link endpoint}. Insert names with `params` or `encodeURIComponent`. POST and PATCH
   * are retried only if the Hub cannot have processed them.
   *
   * Resolves with a successful response as soon as its headers arrive. Read or cancel the body yourself: the timeout does
   * not apply to it, only `signal` does, and a body that breaks off is not retried.
   *
   * @throws `HubError`: `ARGUMENT_INVALID`, `HUB_TOKEN_MISSING` and `HUB_TOKEN_INVALID` before the request is sent; other
   * `HUB_…` codes after that, also for a redirect, since the token must not be sent elsewhere; the reason of the signal.
   * @example
   * ```ts
   * const response = await hub.fetch("/api/datasets/{name}/discussions", {
   *   method: "POST",
   *   params: { name: "me/data" },
   *   body: JSON.stringify({ title: "Hello", description: "A first word.", pullRequest: false }),
   * });
   * const { num }: { num: number } = await response.json();
   * ```
   */
  fetch(path: string, init?: HubFetchInit): Promise<Response>;
}
/** What a webhook can watch: a repository of a type, or all repositories of a user or an organization. */
declare const watchedTypes: readonly ["model", "dataset", "space", "bucket", "kernel", "user", "org"];
/** The type of something that a webhook watches: a type of repository, a user or an organization. */
type WatchedType = (typeof watchedTypes)[number];
/** The events that a webhook can subscribe to: changes of the repository, or of its discussions. */
declare const webhookDomains: readonly ["repo", "discussion"];
/** The events that a webhook can subscribe to. */
type WebhookDomain = (typeof webhookDomains)[number];
/** A repository, user or organization that a webhook watches, as in `{ type: "dataset", name: "me/data" }`. */
interface Watched<Type extends string = WatchedType | (string & {})> {
  /** A {@link WatchedType}, or a type that the Hub added after this release. */
  type: Type;
  /** The name of the repository (`owner/name`), the user or the organization. */
  name: string;
}
/** A {@link Watched} of a type that this release lists. */
type KnownWatched = Watched<WatchedType>;
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
/** A `WebhooksServer`, also of another copy of this package. */
interface DetailedServer {
  [serverDetails](): ServerDetails;
}
/** The result of a registration, or its preview in a dry run. */
interface RegistrationReport {
  /** Address of the Hub. */
  readonly hub: string;
  /** Public address of the server. */
  readonly baseUrl: string;
  /** The differences between the endpoints and the Hub, as steps in the order of execution. Empty if all is in sync. */
  readonly steps: readonly RegistrationStep[];
  /** The steps that succeeded. Empty in a dry run. */
  readonly done: readonly RegistrationStep[];
  /** The steps that failed, with the reason. Later steps for the same webhook were not tried. */
  readonly failed: readonly FailedStep[];
  /** The endpoints and webhooks that were not changed although they need your attention. */
  readonly skipped: readonly SkippedWebhook[];
  /** The webhooks that are in sync. */
  readonly unchanged: readonly {
    readonly endpoint: string;
    readonly id: string;
  }[];
}
/** One change on the Hub. */
type RegistrationStep = CreateStep | UpdateStep | EnableStep | DeleteStep;
/** A webhook as its endpoint declares it. */
interface DesiredWebhook {
  /** Name of the endpoint. */
  endpoint: string;
  url: string;
  watched: readonly KnownWatched[];
  domains: readonly WebhookDomain[];
}
/** Creates a webhook. */
interface CreateStep extends DesiredWebhook {
  readonly action: "create";
  /** Whether the webhook gets a secret. */
  readonly secretIsSet: boolean;
  /** Its id, once it is created. */
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
/** Enables a webhook that was disabled, or re-enables one that the Hub has suspended. */
interface EnableStep {
  readonly action: "enable" | "re-enable";
  readonly endpoint: string;
  readonly id: string;
  /** Why the webhook does not deliver. */
  readonly reason: string;
  /** What to check so that the Hub does not suspend it again. */
  readonly remedy?: string;
}
/** Deletes a webhook. */
interface DeleteStep {
  readonly action: "delete";
  readonly endpoint: string;
  readonly id: string;
  readonly reason: string;
}
/** What happens to a secret. The secret itself is in no report. */
type SecretChange = "set" | "changed" | "removed";
/** A field of a webhook that an update changes. Secrets in URLs are masked. */
type FieldChange = {
  readonly field: "url" | "watched" | "domains";
  readonly before: string;
  readonly after: string;
} | {
  readonly field: "secret";
  readonly change: SecretChange;
};
/** A step that failed, and why. The other steps were still tried. */
interface FailedStep {
  readonly step: RegistrationStep;
  readonly error: HubError;
}
/** An endpoint or a webhook that was not changed although it needs your attention. */
interface SkippedWebhook {
  /**
   * - `no-watch`: the endpoint does not declare what to watch.
   * - `not-managed`: a webhook that was created elsewhere delivers to the endpoint.
   * - `endpoint-removed`: the endpoint of a managed webhook no longer exists, or no longer declares what to watch.
   * - `duplicate`: the endpoint has more than one managed webhook.
   * - `secret-kept`: the webhook has a secret on the Hub, but none was given.
   */
  readonly reason: "no-watch" | "not-managed" | "endpoint-removed" | "duplicate" | "secret-kept";
  readonly endpoint: string;
  /** Id of the webhook, if there is one. */
  readonly id?: string;
  /** What it means, and what to do. */
  readonly message: string;
}
/** The Hub on which webhooks are registered: a `HubClient`. */
interface HubConnection {
  /** Its address, which identifies the Hub in the state file. */
  readonly endpoint: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}
/** The options of `register`. */
interface RegisterOptions {
  /** The public address of the server, such as `https://me-bot.hf.space`. Its webhooks point to `/webhooks/…` below it. */
  baseUrl: string;
  /**
   * The file that records which webhooks are managed. Keep it, one for each server. Default
   * `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the secret of the server, or the first of several. Without a secret, new webhooks
   * have none, so anyone who knows the URL of an endpoint can post to it, and existing webhooks keep theirs.
   */
  secret?: string | undefined;
  /** Removes existing secrets. Cannot be combined with `secret`. Default `false`. */
  removeSecret?: boolean | undefined;
  /** Reports the steps without executing them. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes managed webhooks whose endpoint no longer exists. Default `false`: they are reported as skipped. */
  prune?: boolean | undefined;
  /**
   * Adopts webhooks that were created elsewhere and deliver to one of the endpoints. Default `false`: they are reported as
   * skipped.
   */
  adopt?: boolean | undefined;
  /** Cancels between two steps, and during a request to the Hub. */
  signal?: AbortSignal | undefined;
}
/**
 * Reconciles the webhooks on the Hub with the endpoints of a server: creates missing webhooks, updates those that differ,
 * enables those that are disabled or suspended, and does not touch webhooks that were created elsewhere. Needs a file
 * system for the state file, and therefore Node, Bun or Deno.
 *
 * A webhook that fails is reported in `failed`; the others are still processed.
 *
 * @throws `OPTION_INVALID`; `STATE_UNUSABLE`; `HubError` if the webhooks cannot be listed; the reason of the signal.
 * Steps that were completed before are recorded.
 * @example
 * ```ts
 * const report = await register(server, new HubClient(), { baseUrl: "https://me-bot.hf.space" });
 * for (const { error } of report.failed) console.error(error.message);
 * ```
 */
export declare function register(server: DetailedServer, hub: HubConnection, options: RegisterOptions): Promise<RegistrationReport>;
export type { AuditLogEvent, AuditLogSearch, AuditLogType, CallOptions, CreateStep, DeleteStep, EnableStep, FailedStep, FieldChange, HubClientOptions, HubConnection, HubErrorOptions, HubFetchInit, HubJobs, HubNetworkSecurity, HubNotifications, HubOrganizations, HubPapers, HubResourceGroups, HubSettings, HubWebhooks, JobHardware, McpSettings, MemberRoleChange, MemberSearch, NetworkSecurity, NetworkSecurityChange, Notification, NotificationPage, NotificationSearch, NotificationSelection, NotificationSettingsChange, OrganizationMember, OrganizationRole, Pages, PaperClaim, PaperClaimResult, RegisterOptions, RegistrationReport, RegistrationStep, RepoId, Resource, ResourceGroup, ResourceGroupRequest, RevokedToken, ScimConfig, SkippedWebhook, UpdateStep, WatchChange, WatchItem, Watched, WatchedType, Webhook, WebhookChanges, WebhookDomain, WebhookErrorCode, WebhookErrorCodes, WebhookErrorOptions, WebhookJob, WebhookJobRequest, WebhookRequest, Whoami };