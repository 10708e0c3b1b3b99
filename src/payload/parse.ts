import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describeIssue, readOwnField } from "../core/describe.ts";
import { WebhookError } from "../core/errors.ts";
import { parseJson } from "../http/body.ts";
import type { Filter } from "./filter.ts";
import { schemaOf, type WebhookPayload } from "./schema.ts";

/*
 * The types of a delivery, in the order in which a server creates them:
 *
 * 1. `DeliveryRequest` is an HTTP request. `JobDelivery` replaces it in jobs, in tests, and for the console.
 * 2. `UnparsedDelivery` adds the ID, the endpoint, and the time to the body.
 * 3. `ParsedDelivery` contains the `Delivery` that the handler receives, and the result of the filter.
 * 4. If the endpoint runs in the background, the inbox stores an `IncomingDelivery`. For each attempt, it passes a
 *    `ClaimedDelivery`, which is parsed again. Lists contain a `StoredDelivery`.
 */

/** A webhook delivery to one endpoint, independent of its transport: HTTP, a job, or a test. */
export interface Delivery<Payload = WebhookPayload> {
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

/** The start of the IDs of derived deliveries. The ID of a request is not used if it starts like this. */
export const derivedIdPrefix = "catch-up-";

/** Returns whether the Hub sent a delivery, or the server derived it. */
export function originOf(id: string): Delivery["origin"] {
  return id.startsWith(derivedIdPrefix) ? "catch-up" : "webhook";
}

/** Returns a text that identifies a delivery. Its ID alone does not: two endpoints can have a delivery with the same ID. */
export function keyOf({ endpoint, id }: Pick<Delivery, "endpoint" | "id">): string {
  return `${endpoint} ${id}`;
}

/** A delivery whose body is not parsed yet. */
export type UnparsedDelivery = Omit<Delivery, "payload" | "origin">;

/** A delivery whose body was validated and filtered. If the filter ignores the delivery, the endpoint's own schema is not applied. */
export interface ParsedDelivery {
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
export type DeliveryParser = (unparsed: UnparsedDelivery) => ParsedDelivery | Promise<ParsedDelivery>;

/** The result of running a handler on a delivery. */
export type Outcome =
  /** The handler returned `result`. */
  | { readonly status: "succeeded"; readonly result: unknown }
  /** The filter did not match, or a condition of the endpoint: `paths` or `ignoreSelf`. */
  | { readonly status: "ignored"; readonly reason: string }
  /** The handler failed. `retryAt` is set if the handler requested a retry at a certain time. */
  | { readonly status: "failed"; readonly error: WebhookError; readonly retryAt?: Date };

/** Creates the parser of an endpoint. `schema`: `null` to accept any body, `undefined` for the schema of the Hub. */
export function createParser(schema: StandardSchemaV1 | null | undefined, filter: Filter | undefined): DeliveryParser {
  if (schema === null) return (unparsed) => ({ delivery: withPayload(unparsed, null) });
  if (schema === undefined) {
    return (unparsed) => {
      const payload = parsePayload(parseJson(unparsed.body));
      return { delivery: withPayload(unparsed, payload), hubPayload: payload, ignored: filter?.(payload) };
    };
  }
  return async (unparsed) => {
    const json = parseJson(unparsed.body);
    const hubPayload = filter && parsePayload(json);
    const ignored = hubPayload && filter(hubPayload);
    if (ignored !== undefined) return { delivery: withPayload(unparsed, json), hubPayload, ignored };
    const result = await schema["~standard"].validate(json);
    if (result.issues) throw payloadInvalid(result.issues);
    const delivery = withPayload(unparsed, result.value);
    return hubPayload ? { delivery, hubPayload } : { delivery };
  };
}

/** Copies each field by name, because handlers must not receive the additional fields of a delivery from the inbox. */
function withPayload(
  { id, endpoint, body, receivedAt, attempt }: UnparsedDelivery,
  payload: unknown,
): Delivery<unknown> {
  return { id, endpoint, body, payload, receivedAt, attempt, origin: originOf(id) };
}

interface PayloadProblem {
  /** The keys from the root of the payload. Empty for the payload itself. */
  path: (string | number)[];
  problem: string;
}

/** A validation issue in the format of Standard Schema, which zod also uses. */
interface Issue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

const maxProblems = 50;
/** The maximum number of problems in an error message. The limit keeps responses short. */
const maxListedProblems = 3;

const issuesOfErrors = new WeakMap<WebhookError, readonly Issue[]>();

/** Lists the invalid fields of a payload, for an editor. The list is empty if the payload is valid, and never contains values. */
export function findPayloadProblems(value: unknown): readonly PayloadProblem[] {
  return toProblems(findIssues(value) ?? []);
}

/** Returns the invalid fields behind an error of {@link payloadInvalid}, or `undefined` for other errors. */
export function problemsOf(error: WebhookError): readonly PayloadProblem[] | undefined {
  const issues = issuesOfErrors.get(error);
  return issues && toProblems(issues);
}

function toProblems(issues: readonly Issue[]): readonly PayloadProblem[] {
  return issues.slice(0, maxProblems).map((issue) => ({ path: pathOf(issue), problem: issue.message }));
}

function pathOf({ path = [] }: Issue): (string | number)[] {
  return path.map((part) => {
    const key = typeof part === "object" ? part.key : part;
    return typeof key === "number" ? key : String(key);
  });
}

/**
 * Validates a Hub payload, and returns the same value, including unknown fields. The schemas describe version 3.
 *
 * @throws `PAYLOAD_INVALID` (422). The message lists the first invalid paths, but never their values.
 * @example
 * ```ts
 * const payload = parsePayload(JSON.parse(process.env.WEBHOOK_PAYLOAD ?? ""));
 * ```
 */
export function parsePayload(value: unknown): WebhookPayload {
  const issues = findIssues(value);
  if (issues) throw payloadInvalid(issues);
  return value as WebhookPayload;
}

function findIssues(value: unknown): readonly Issue[] | undefined {
  const scope = readOwnField(readOwnField(value, "event"), "scope");
  const type = readOwnField(readOwnField(value, "repo"), "type");
  return schemaOf(scope, type).safeParse(value, { error: describeIssue }).error?.issues;
}

/** Creates the error for an invalid payload. The message lists the first problems. */
function payloadInvalid(issues: readonly Issue[]): WebhookError {
  const listed = issues.slice(0, maxListedProblems).map((issue) => {
    const keys = pathOf(issue).map((key) => String(key).slice(0, 60));
    return `${keys.join(".") || "payload"}: ${issue.message.slice(0, 120)}`;
  });
  const more = issues.length > maxListedProblems ? ` (and ${issues.length - maxListedProblems} more)` : "";
  const error = new WebhookError(`Invalid payload: ${listed.join("; ")}${more}.`, {
    code: "PAYLOAD_INVALID",
    status: 422,
  });
  issuesOfErrors.set(error, issues);
  return error;
}
