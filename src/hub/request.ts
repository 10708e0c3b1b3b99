import * as z from "zod";
import { argumentInvalid, checkArgument, fieldProblems } from "./arguments.ts";
import { acceptUnknown } from "./lenient.ts";
import type { Operation } from "./operation.ts";
import { createRedact, type Redact, secretsIn } from "./redaction.ts";
import { findUnknownParts, type UnknownPart } from "./unknown-parts.ts";

/** A request that is ready to be sent, any number of times. */
export interface HubRequest {
  /** Its name for programs, such as `createWebhook`. */
  operation: string;
  /** What it does, as it follows "Could not". */
  action: string;
  url: string;
  init: { method: string; headers: Record<string, string>; body?: string };
  redact: Redact;
  /** What the caller gave and this release does not list. */
  newer: readonly UnknownPart[];
}

/** An input whose types nobody has to believe. */
export interface OperationInput {
  params?: unknown;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

/** What {@link prepareRequest} makes a request from. */
export interface PrepareOptions {
  /** The Hub's base address, without a trailing slash. */
  endpoint: string;
  input: OperationInput;
  /** Whether the body is made of what the Hub itself has said, which is not for us to judge. */
  bodyIsChecked: boolean;
  /** A whole query that the Hub itself has named, in place of the one of the input. */
  query: URLSearchParams | undefined;
  readToken: () => Promise<string>;
}

/**
 * Checks what an operation is given and makes its request.
 *
 * @throws `ARGUMENT_INVALID`; what `readToken` throws.
 */
export async function prepareRequest(route: Operation, options: PrepareOptions): Promise<HubRequest> {
  const { endpoint, input, bodyIsChecked, readToken } = options;
  const path = pathOf(route, input.params);
  const query = options.query ?? queryOf(route, input.query);
  const body = bodyIsChecked ? input.body : bodyOf(route, input.body);
  const newer = options.query || !route.request?.query ? [] : findUnknownParts(route.request.query, input.query);
  const token = await readToken();
  return {
    operation: route.operationId,
    action: actionOf(route),
    url: `${endpoint}${path}${query.size > 0 ? `?${query}` : ""}`,
    init: {
      method: route.method.toUpperCase(),
      headers: {
        accept: "application/json",
        authorization: `Bearer ${token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    },
    redact: createRedact([token, ...secretsIn(body)]),
    newer: bodyIsChecked ? newer : [...newer, ...unknownBodyParts(route, input.body)],
  };
}

/** What an operation does, as it follows "Could not": `list your webhooks`. */
export function actionOf({ summary }: Operation): string {
  return `${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`;
}

/** Puts the parts into the path: each stays one part of it, whatever its characters. */
function pathOf({ path, request }: Operation, value: unknown): string {
  if (!request?.params) return path;
  const params = checkArgument(request.params, { name: "params", value });
  const unusable = Object.entries(params).filter(
    // URL parsers take the dots for a step up the path.
    ([, part]) => part === "" || part === "." || part === ".." || !part.isWellFormed(),
  );
  if (unusable.length > 0) {
    throw argumentInvalid(
      unusable.map(([field]) => ({ field, problem: "expected an id or a name, as the Hub gives it" })),
    );
  }
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** The query as texts. What is left out stays out: its default is the Hub's to fill in. */
function queryOf({ request }: Operation, value: Record<string, unknown> | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (!request?.query || value === undefined) return query;
  const { data, error } = z.safeEncode(acceptUnknown(request.query.partial()), value);
  if (error) throw argumentInvalid(fieldProblems(error, { name: "search" }));
  for (const [name, part] of Object.entries(data)) {
    // A parameter that this release does not list has no codec that would have written it as a string.
    if (["string", "number", "boolean"].includes(typeof part)) query.set(name, String(part));
  }
  return query;
}

function unknownBodyParts({ request }: Operation, value: unknown): UnknownPart[] {
  return request?.body ? findUnknownParts(request.body.content["application/json"].schema, value) : [];
}

function bodyOf({ request }: Operation, value: unknown): unknown {
  if (!request?.body || (value === undefined && !request.body.required)) return undefined;
  return checkArgument(request.body.content["application/json"].schema, { name: "request", value });
}
