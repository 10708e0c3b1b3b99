import type { StandardSchemaV1 } from "@standard-schema/spec";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/log.ts";
import { checkCount, checkOptionNames, type Duration, optionError, suggest, toMilliseconds } from "../core/options.ts";
import type { HubClient } from "../hub/client.ts";
import type { EndpointQueue } from "../inbox/inbox.ts";
import { type Backoff, createRetryPolicy, defaultRetentionMs } from "../inbox/retry.ts";
import {
  createFilter,
  createPathFilter,
  type FilterOptions,
  type FilterValues,
  lintFilter,
} from "../payload/filter.ts";
import { createParser, type Delivery, type DeliveryParser } from "../payload/parse.ts";
import { coversScope, type PayloadOf, type WebhookPayload } from "../payload/schema.ts";
import {
  parseDomain,
  parseWatch,
  type Watch,
  type WatchedItem,
  type WebhookDomain,
  webhookDomains,
} from "../payload/watch.ts";
import { EndpointActivity } from "./counts.ts";

/** Allows only characters that URLs never encode, so that paths can be compared without decoding. */
const namePattern = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;

/** Removes leading and trailing slashes, because names in the Hub's Python library can start with a slash. */
function readEndpointName(given: string | undefined): string {
  if (!given) {
    throw new WebhookError(
      'The endpoint has no name. Pass a named function, or pass a name, as in webhook("retrain", handler).',
      { code: "ENDPOINT_NAME_MISSING" },
    );
  }
  const name = given.replace(/^\/+|\/+$/g, "");
  // Rejects the segments "." and "..", because clients resolve them before they send a request.
  if (!namePattern.test(name) || name.split("/").some((part) => part === "." || part === "..")) {
    throw new WebhookError(
      `Invalid endpoint name ${JSON.stringify(given)}. Use letters, digits, ".", "_" and "-", and separate segments with slashes, as in webhook("acme/retrain", handler).`,
      { code: "ENDPOINT_NAME_INVALID" },
    );
  }
  return name;
}

function readConditions(options: EndpointOptions) {
  const { ignoreSelf = false } = options;
  if (typeof ignoreSelf !== "boolean") {
    throw optionError({ option: "ignoreSelf", value: ignoreSelf, expected: "true or false" });
  }
  const paths = createPathFilter(options);
  // Ignores events that catch-up has delivered before.
  const catchUp = Boolean(options.catchUp);
  return ignoreSelf || catchUp || paths ? { ignoreSelf, catchUp, paths } : undefined;
}

function readCatchUp({
  catchUp,
  background,
  watch,
  schema,
  retention = defaultRetentionMs,
}: EndpointOptions): Endpoint["catchUp"] {
  if (catchUp === undefined || catchUp === false) return undefined;
  const { every = defaultCatchUpInterval, since = "now" } = catchUp === true ? {} : catchUp;
  if (!background || watch === undefined || schema === null) {
    throw optionError(
      'Option "catchUp" requires background: true, watch, and a Hub payload (no "schema: null"). Set them, or remove "catchUp".',
    );
  }
  if (since !== "now" && since !== "all" && !(since instanceof Date && !Number.isNaN(since.getTime()))) {
    throw optionError({ option: "catchUp.since", value: since, expected: '"now", "all", or a valid Date' });
  }
  const everyMs = toMilliseconds(every, "catchUp.every");
  if (everyMs > toMilliseconds(retention, "retention")) {
    throw optionError(
      'Option "catchUp.every" is longer than "retention", so delivered changes would be derived again.',
    );
  }
  return { everyMs, since };
}

function readWatch(option: EndpointOptions["watch"]): readonly WatchedItem[] {
  const texts = new Set(listOf(option));
  if (option !== undefined && texts.size === 0)
    throw optionError('Option "watch" is empty. Add an item such as "dataset:me/data", or remove the option.');
  return Array.from(texts, (text) => {
    const watched = parseWatch(text);
    if ("problem" in watched) throw optionError(`Option "watch" is ${JSON.stringify(text)}. ${watched.problem}`);
    return watched;
  });
}

/** Reads an endpoint's `domains` option. Default: the domains of the endpoint's scopes. */
function readDomains(option: EndpointOptions["domains"], scopes: readonly string[]): readonly WebhookDomain[] {
  const wanted = domainsOf(scopes);
  if (option === undefined) return wanted;
  const domains = listOf(option).map((text) => {
    const domain = parseDomain(text);
    if (domain !== undefined) return domain;
    throw optionError(
      `Option "domains" is ${JSON.stringify(text)}.${suggest(text, webhookDomains)} Valid domains: ${webhookDomains.join(", ")}.`,
    );
  });
  if (domains.length === 0)
    throw optionError('Option "domains" is empty. Add a domain, or remove the option to subscribe to both domains.');
  if (!domains.some((domain) => wanted.includes(domain))) {
    throw optionError(
      `Option "domains" is ${domains.join(", ")}, which option "scope" does not cover. Remove "domains", or set it to ${wanted.join(", ")}.`,
    );
  }
  return webhookDomains.filter((domain) => domains.includes(domain));
}

/** Returns the domains of these scopes. An unknown scope may belong to either domain, so both are returned. */
function domainsOf(scopes: readonly string[]): readonly WebhookDomain[] {
  const found = scopes.map((scope) => webhookDomains.find((domain) => coversScope(domain, scope)));
  return found.length === 0 || found.includes(undefined)
    ? webhookDomains
    : webhookDomains.filter((domain) => found.includes(domain));
}

/** Returns the values of an option that takes one text or a list. JavaScript users may pass any value. */
function listOf(option: unknown): readonly string[] {
  return option === undefined ? [] : [option].flat().map(String);
}

/**
 * The second argument of a handler. `signal`, `log`, and `request` are created on first use. Note that `{ ...context }`
 * creates all three. `hub` is loaded when one of its methods is called.
 */
export interface HandlerContext<Payload = WebhookPayload> {
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
export type Handler<Payload = WebhookPayload> = (payload: Payload, context: HandlerContext<Payload>) => unknown;

/** Options of an endpoint. */
export interface EndpointOptions extends FilterOptions {
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
export interface CatchUpSettings {
  /** The interval between two comparisons with the Hub. Default `"6h"`. */
  every?: Duration;
  /** Where the first comparison starts: at the present state, at the beginning of each repository, or at a time. Default `"now"`. */
  since?: "now" | "all" | Date;
}

type OneOf<Value> = Value extends readonly (infer Item)[] ? Item : Value;
type RepoTypeOf<Options> = Options extends { repo: infer Repo }
  ? OneOf<Repo> extends `${infer Type}:${string}`
    ? Type
    : string
  : string;

/** The payload type that TypeScript infers from the options of an endpoint. */
export type PayloadFor<Options extends EndpointOptions> = Options extends { schema: null }
  ? null
  : Options extends { schema: infer Schema extends StandardSchemaV1 }
    ? StandardSchemaV1.InferOutput<Schema>
    : Options extends { scope: infer Scope }
      ? undefined extends Scope
        ? WebhookPayload
        : PayloadOf<Extract<OneOf<Scope>, string>, RepoTypeOf<Options>>
      : WebhookPayload;

/** A registered endpoint. */
export interface Endpoint extends FilterValues {
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
  readonly catchUp?: { readonly everyMs: number; readonly since: "now" | "all" | Date } | undefined;
  /** The conditions that are checked before each run of the handler, because they can require calls to the Hub. */
  readonly conditions: ReturnType<typeof readConditions>;
  readonly handler: Handler<unknown>;
  /** The counts of deliveries since the process started. */
  readonly activity: EndpointActivity;
}

const hubTimeoutMs = 30_000;
/** Leaves 5 s of the Hub's timeout for the response. */
const defaultTimeout: Duration = "25s";
const defaultBackgroundTimeout: Duration = "10m";
const defaultConcurrency = 4;
const defaultCatchUpInterval: Duration = "6h";

/** @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`, `OPTION_INVALID`. */
export function createEndpoint(declaration: {
  name: string | undefined;
  options: EndpointOptions;
  handler: Handler<never>;
}): Endpoint {
  const { name, options, handler } = declaration;
  checkOptions(options);
  const { background, schema } = options;
  const conditions = readConditions(options);
  // With conditions, the body must be a Hub payload, even if the filter accepts all payloads.
  const filter = createFilter(options) ?? (conditions && (() => undefined));
  if (schema === null && filter) {
    throw optionError(
      `Endpoint "${name}" has "schema: null" and a filter. A filter requires a Hub payload, but "schema: null" accepts any body. Remove "schema: null" or the filter.`,
    );
  }
  const scopes = listOf(options.scope);
  const timeoutMs = toMilliseconds(
    options.timeout ?? (background ? defaultBackgroundTimeout : defaultTimeout),
    "timeout",
  );
  return {
    name: readEndpointName(name),
    warnings: [...lintFilter(options), ...(background ? [] : lintTimeout(timeoutMs))],
    scopes,
    repos: listOf(options.repo),
    actions: listOf(options.action),
    refs: listOf(options.ref),
    paths: listOf(options.paths),
    ignoreSelf: conditions?.ignoreSelf === true,
    watch: readWatch(options.watch),
    domains: readDomains(options.domains, scopes),
    requiresJson: schema !== null,
    timeoutMs,
    queue: readQueue(options),
    catchUp: readCatchUp(options),
    conditions,
    parse: createParser(schema, filter),
    // `parse` returns the payload type from which the handler's type is derived.
    handler: handler as Handler<unknown>,
    activity: new EndpointActivity(),
  };
}

function lintTimeout(timeoutMs: number): string[] {
  if (timeoutMs <= hubTimeoutMs) return [];
  return [
    `Option "timeout" is ${timeoutMs / 1000} s, but after 30 s, the Hub counts the delivery as failed. Add background: true, or remove the option. Ignore this warning if the endpoint only runs in a job.`,
  ];
}

const backgroundOptions = ["attempts", "backoff", "concurrency", "retention"] as const;
const otherOptions = [
  "background",
  "timeout",
  "schema",
  "scope",
  "action",
  "repo",
  "ref",
  "paths",
  "watch",
  "domains",
  "ignoreSelf",
  "catchUp",
] as const;

/** Checks the names of options for JavaScript users, because a misspelled option would have no effect. */
function checkOptions(options: EndpointOptions): void {
  checkOptionNames(options, { valid: [...backgroundOptions, ...otherOptions], kind: "endpoint" });
  const { background } = options;
  if (background === undefined || typeof background === "boolean") return;
  throw optionError(
    'Option "background" must be true or false. Set other options next to it, as in { background: true, attempts: 2 }.',
  );
}

function readQueue(options: EndpointOptions): Endpoint["queue"] {
  if (!options.background) {
    const useless = backgroundOptions.find((name) => options[name] !== undefined);
    if (useless === undefined) return undefined;
    throw optionError(`Option "${useless}" requires background: true. Add background: true, or remove "${useless}".`);
  }
  const { concurrency = defaultConcurrency, retention = defaultRetentionMs } = options;
  checkCount(concurrency, "concurrency");
  return { concurrency, policy: createRetryPolicy(options), retentionMs: toMilliseconds(retention, "retention") };
}
