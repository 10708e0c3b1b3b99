import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Duration, toMilliseconds } from "../core/duration.ts";
import { WebhookError } from "../core/errors.ts";
import type { Logger } from "../core/logger.ts";
import { checkCount, optionError } from "../core/option-error.ts";
import type { QueueOptions } from "../inbox/inbox.ts";
import { defaultRetentionMs } from "../inbox/retention.ts";
import { type Backoff, createRetryPolicy } from "../inbox/retry-policy.ts";
import type { Delivery } from "../payload/delivery.ts";
import { createFilter, type Filter, type FilterOptions, lintFilter } from "../payload/filter.ts";
import { parsePayload, payloadInvalid } from "../payload/parse.ts";
import type { WebhookPayload } from "../payload/schema.ts";
import type { PayloadOf } from "../payload/scope.ts";
import type { KnownWatched, Watch, WebhookDomain } from "../payload/watch.ts";
import { EndpointActivity } from "./activity.ts";
import { readDomains, readWatch } from "./watching.ts";

/**
 * What a handler is given beside the payload. `signal`, `log` and `request` are created when they are read first, so
 * `{ ...context }` creates all of them.
 */
export interface HandlerContext<Payload = WebhookPayload> {
  readonly delivery: Delivery<Payload>;
  /** Aborts at the time limit, and when whoever sent the delivery hangs up. Pass it on to `fetch`. */
  readonly signal: AbortSignal;
  /** Logs with the endpoint and the delivery id on each line. */
  readonly log: Logger;
  /** The HTTP request, its body already read; absent where the delivery did not come over HTTP. */
  readonly request?: Request | undefined;
}

/**
 * Your function. What it returns is the answer: JSON, or a `Response` as it is; nothing is 200 with an empty body.
 */
export type Handler<Payload = WebhookPayload> = (payload: Payload, context: HandlerContext<Payload>) => unknown;

/** What an endpoint may be given beside its name and its handler. */
export interface EndpointOptions extends FilterOptions {
  /**
   * How long the handler may take. Default `"25s"`, since the Hub waits 30 seconds, and then the answer is 504; in the
   * background `"10m"`.
   */
  timeout?: Duration;
  /**
   * Answers at once, with 202 and after the delivery is on the disk, and runs the handler afterwards, as often as it
   * takes. What came before is not run again. Default `false`. The other options below are for such an endpoint only.
   */
  background?: boolean;
  /** How often a delivery is tried at most. Default 10, or one more than `backoff` lists waits. */
  attempts?: number;
  /**
   * How long to wait between attempts, ±20 %. Default: 5 s, 30 s, 2 min, 10 min, 30 min, 1 h, 2 h, 6 h and 12 h, about
   * 22 hours in all; further attempts wait 12 h each.
   */
  backoff?: Backoff;
  /** How many deliveries are worked on at the same time. Default 4. */
  concurrency?: number;
  /**
   * How long a delivery that is done or dead is kept. Default `"14d"`. Its id is known for 7 days at least, and for a day
   * longer than all retries together can take.
   */
  retention?: Duration;
  /**
   * What the body must be. Left out: a payload of the Hub. Any Standard Schema (zod, valibot, arktype, …): JSON that
   * fits it, and the handler gets its output; together with a filter the payload of the Hub is checked first.
   * `null`: any body, even none; the payload is `null` and `delivery.body` holds the text.
   */
  schema?: StandardSchemaV1 | null;
  /**
   * What the endpoint's webhook on the Hub is to watch: `"dataset:me/data"`, `"org:acme"`, `"user:me"`, one or several.
   * Tools register it there (`register` of `hub-webhooks/dev`, `hub-webhooks sync`); the server itself does not.
   */
  watch?: Watch | readonly Watch[];
  /**
   * What its webhook is to be told of: `repo`, `discussion`. Default: both, or the one that `scope` leaves; it is for
   * an endpoint that says what to watch.
   */
  domains?: WebhookDomain | readonly WebhookDomain[];
}

type OneOf<Value> = Value extends readonly (infer Item)[] ? Item : Value;
type RepoTypeOf<Options> = Options extends { repo: infer Repo }
  ? OneOf<Repo> extends `${infer Type}:${string}`
    ? Type
    : string
  : string;

/** The payload type that follows from the options of an endpoint. */
export type PayloadFor<Options extends EndpointOptions> = Options extends { schema: null }
  ? null
  : Options extends { schema: infer Schema extends StandardSchemaV1 }
    ? StandardSchemaV1.InferOutput<Schema>
    : Options extends { scope: infer Scope }
      ? undefined extends Scope
        ? WebhookPayload
        : PayloadOf<Extract<OneOf<Scope>, string>, RepoTypeOf<Options>>
      : WebhookPayload;

/** A route and all that stands behind it. */
export interface Endpoint {
  readonly name: string;
  /** Warnings about its options, logged at startup. */
  readonly warnings: readonly string[];
  /** The scopes that its filter takes; empty: all of them. */
  readonly scopes: readonly string[];
  /** Its filter for repositories, as it was written; empty: every one. */
  readonly repos: readonly string[];
  /** What its webhook is to watch; empty: nobody has said. */
  readonly watch: readonly KnownWatched[];
  /** What its webhook is to be told of. */
  readonly domains: readonly WebhookDomain[];
  /** Whether the body has to be JSON. */
  readonly wantsJson: boolean;
  readonly timeoutMs: number;
  /** How its deliveries are worked on after they were answered; absent where the answer waits for the handler. */
  readonly background?: Pick<QueueOptions, "concurrency" | "policy" | "retentionMs">;
  /**
   * Checks a body that was read, `undefined` where no JSON is wanted, and applies the filter.
   *
   * @throws `PAYLOAD_INVALID` (422).
   */
  readonly admit: (body: unknown) => Admission | Promise<Admission>;
  readonly handler: Handler<unknown>;
  /** What came since the process started. */
  readonly activity: EndpointActivity;
}

/** What an endpoint makes of a body. */
export interface Admission {
  /** What the handler gets. */
  readonly payload: unknown;
  /** The payload of the Hub, where it was checked as one. */
  readonly hubPayload?: WebhookPayload;
  /** Why the filter does not want it. */
  readonly ignored?: string | undefined;
}

const hubPatienceMs = 30_000;
/** The Hub gives up after 30 seconds; this leaves it five to hear the answer. */
const defaultTimeout: Duration = "25s";
const defaultBackgroundTimeout: Duration = "10m";
const defaultConcurrency = 4;

/**
 * Builds an endpoint.
 *
 * @throws `ENDPOINT_NAME_MISSING`, `ENDPOINT_NAME_INVALID`, `OPTION_INVALID`.
 */
export function createEndpoint(declaration: {
  name: string | undefined;
  options: EndpointOptions;
  handler: Handler<never>;
}): Endpoint {
  const { name, options, handler } = declaration;
  checkOptions(options);
  const filter = createFilter(options);
  const { schema } = options;
  if (schema === null && filter) {
    throw optionError(
      `Endpoint "${name}" has "schema: null" and a filter: a filter reads a payload, which such an endpoint does not have. Leave one of the two out.`,
    );
  }
  const scopes = listOf(options.scope);
  const timeoutMs = toMilliseconds(
    options.timeout ?? (options.background ? defaultBackgroundTimeout : defaultTimeout),
    "timeout",
  );
  return {
    name: checkedName(name),
    warnings: [...lintFilter(options), ...timeoutWarnings({ background: options.background, timeoutMs })],
    scopes,
    repos: listOf(options.repo),
    watch: readWatch(options.watch),
    domains: readDomains(options.domains, { scopes }),
    wantsJson: schema !== null,
    timeoutMs,
    ...backgroundOf(options),
    admit:
      schema === undefined ? admitHubPayload(filter) : schema === null ? admitAnything : admitSchema(schema, filter),
    // The payload that `admit` returns is the one that the handler's type was derived from.
    handler: handler as Handler<unknown>,
    activity: new EndpointActivity(),
  };
}

/** A job may take its time; whoever answers the Hub may not. */
function timeoutWarnings({ background, timeoutMs }: { background: boolean | undefined; timeoutMs: number }): string[] {
  if (background || timeoutMs <= hubPatienceMs) return [];
  return [
    `Option "timeout" is ${timeoutMs / 1000} seconds, but the Hub gives up after 30, and counts that as a failure: add background: true, or leave the option out. Only in a job it is of use as it is.`,
  ];
}

function listOf(value: string | readonly string[] | undefined): readonly string[] {
  return typeof value === "string" ? [value] : (value ?? []);
}

const backgroundOptions = ["attempts", "backoff", "concurrency", "retention"] as const;
const otherOptions = ["background", "timeout", "schema", "scope", "action", "repo", "ref", "watch", "domains"] as const;
const knownOptions: ReadonlySet<string> = new Set([...backgroundOptions, ...otherOptions]);

/** TypeScript says it before; whoever writes JavaScript would wait in vain for what a misspelt option was to do. */
function checkOptions(options: EndpointOptions): void {
  const unknown = Object.keys(options).find((name) => !knownOptions.has(name));
  if (unknown !== undefined) {
    throw optionError(
      `Option ${JSON.stringify(unknown)} is none that an endpoint has; it has: ${[...knownOptions].join(", ")}.`,
    );
  }
  const { background } = options;
  if (background === undefined || typeof background === "boolean") return;
  throw optionError(
    'Option "background" is true or false, and the others stand beside it, as in { background: true, attempts: 2 }.',
  );
}

function backgroundOf(options: EndpointOptions): Pick<Endpoint, "background"> {
  if (!options.background) {
    const useless = backgroundOptions.find((name) => options[name] !== undefined);
    if (useless === undefined) return {};
    throw optionError(`Option "${useless}" is for a background endpoint: add background: true, or leave it out.`);
  }
  const { concurrency = defaultConcurrency, retention = defaultRetentionMs } = options;
  checkCount(concurrency, "concurrency");
  const retentionMs = toMilliseconds(retention, "retention");
  return { background: { concurrency, policy: createRetryPolicy(options), retentionMs } };
}

function admitHubPayload(filter: Filter | undefined): Endpoint["admit"] {
  return (body) => {
    const payload = parsePayload(body);
    return { payload, hubPayload: payload, ignored: filter?.(payload) };
  };
}

const admitAnything: Endpoint["admit"] = () => ({ payload: null });

function admitSchema(schema: StandardSchemaV1, filter: Filter | undefined): Endpoint["admit"] {
  return async (body) => {
    const hubPayload = filter && parsePayload(body);
    const ignored = hubPayload && filter(hubPayload);
    if (ignored !== undefined) return { payload: body, hubPayload, ignored };
    const result = await schema["~standard"].validate(body);
    if (result.issues) throw payloadInvalid(result.issues);
    return hubPayload ? { payload: result.value, hubPayload } : { payload: result.value };
  };
}

/** Unreserved characters of a URL only, so that a path is compared as it comes and never decoded. */
const namePattern = /^[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;

/** Without the slashes at both ends, as the Python SDK names an endpoint: a path such as `/retrain` works as it is. */
function checkedName(given: string | undefined): string {
  if (!given) {
    throw new WebhookError(
      'An endpoint needs a name: pass a named function, or give the name as in webhook("retrain", handler).',
      { code: "ENDPOINT_NAME_MISSING" },
    );
  }
  const name = given.replace(/^\/+|\/+$/g, "");
  // "." and ".." vanish from a URL before it is sent.
  if (!namePattern.test(name) || name.split("/").some((part) => part === "." || part === "..")) {
    throw new WebhookError(
      `Endpoint name ${JSON.stringify(given)} cannot be part of a URL as it is: use letters, digits, ".", "_", "-" and slashes between them, as in webhook("acme/retrain", handler).`,
      { code: "ENDPOINT_NAME_INVALID" },
    );
  }
  return name;
}
