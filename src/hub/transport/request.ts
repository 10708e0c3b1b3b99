import * as z from "zod/mini";
import { describeIssue } from "../../core/describe.ts";
import type { Operation } from "../operation.ts";
import { argumentInvalid, checkArgument } from "../validation/arguments.ts";
import { fieldProblems } from "../validation/field-problems.ts";
import { acceptUnknown } from "../validation/lenient.ts";
import { findUnknownParts, type UnknownPart } from "../validation/unknown-parts.ts";
import { createRedact, type Redact, secretsIn } from "./request-secrets.ts";

/** A request that can be sent any number of times. */
export interface HubRequest {
  /** The operation ID, such as `createWebhook`, for logs. */
  operationId: string;
  /** The action, such as `create a webhook`. Error messages contain the action after "Could not". */
  action: string;
  url: string;
  init: { method: string; headers: Record<string, string>; body?: string };
  redact: Redact;
  /** The fields and values of the arguments that are unknown to this release. */
  unknownParts: readonly UnknownPart[];
}

/** A request body in another format than JSON. */
export interface EncodedBody {
  /** The media type, such as `application/x-ndjson`. */
  type: string;
  text: string;
}

/** The arguments of an operation, before validation. */
export interface OperationInput {
  params?: unknown;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

export interface PrepareOptions {
  /** The Hub's base URL, without a trailing slash. */
  hubUrl: string;
  input: OperationInput;
  /** Whether to skip the validation of the body. Use this option for values that the Hub returned. */
  skipBodyValidation: boolean;
  /** A body in another format than JSON, which replaces the body of the input. */
  encodedBody: EncodedBody | undefined;
  /** A query from the Hub, such as the query of the next page. This query replaces the query of the input. */
  query: URLSearchParams | undefined;
  readToken: () => Promise<string>;
}

/**
 * Validates the arguments of an operation and creates the request.
 *
 * @throws `ARGUMENT_INVALID`, and errors from `readToken`.
 */
export async function prepareRequest(operation: Operation, options: PrepareOptions): Promise<HubRequest> {
  const { hubUrl, input, skipBodyValidation, encodedBody, readToken } = options;
  const path = pathOf(operation, input.params);
  const query = options.query ?? queryOf(operation, input.query);
  const body = skipBodyValidation || encodedBody ? input.body : bodyOf(operation, input.body);
  const encoded =
    encodedBody ?? (body === undefined ? undefined : { type: "application/json", text: JSON.stringify(body) });
  const unknownQuery =
    options.query || !operation.request?.query ? [] : findUnknownParts(operation.request.query, input.query);
  const token = await readToken();
  return {
    operationId: operation.operationId,
    action: actionOf(operation),
    url: `${hubUrl}${path}${query.size > 0 ? `?${query}` : ""}`,
    init: {
      method: operation.method.toUpperCase(),
      headers: {
        accept: "application/json",
        authorization: `Bearer ${token}`,
        ...(encoded && { "content-type": encoded.type }),
      },
      ...(encoded && { body: encoded.text }),
    },
    redact: createRedact([token, ...secretsIn(body)]),
    unknownParts: skipBodyValidation ? unknownQuery : [...unknownQuery, ...unknownBodyParts(operation, input.body)],
  };
}

/** Returns the action of an operation, such as `list your webhooks`. Error messages contain the action after "Could not". */
export function actionOf({ summary }: Operation): string {
  return `${summary.slice(0, 1).toLowerCase()}${summary.slice(1)}`;
}

/**
 * Inserts the parameters into the path. Each value remains a single path segment, regardless of the characters in the value. Only the
 * parameter `path`, the path of a file, can have several segments, or none for the root folder.
 */
function pathOf({ path, request }: Operation, value: unknown): string {
  if (!request?.params) return path;
  const params = checkArgument(request.params, { name: "params", value });
  const unusable = Object.entries(params).filter(
    // URL parsers resolve dot segments.
    ([name, value]) => segmentsOf(name, value).some((part) => /^\.{0,2}$/.test(part) || !part.isWellFormed()),
  );
  if (unusable.length > 0) {
    throw argumentInvalid(unusable.map(([field]) => ({ field, problem: "expected an ID or a name from the Hub" })));
  }
  return path.replace(/\/\{(\w+)\}/g, (_, name: string) =>
    segmentsOf(name, params[name] ?? "")
      .map((segment) => `/${encodeURIComponent(segment)}`)
      .join(""),
  );
}

function segmentsOf(name: string, value: string): string[] {
  if (name !== "path") return [value];
  return value === "" ? [] : value.split("/");
}

/** Encodes the query. Omitted parameters are not sent, because the Hub applies the defaults. */
function queryOf({ request }: Operation, value: Record<string, unknown> | undefined): URLSearchParams {
  const query = new URLSearchParams();
  if (!request?.query || value === undefined) return query;
  const parts = Object.entries(request.query.shape).map(([name, part]) => [name, z.optional(part)]);
  const { data, error } = z.safeEncode(acceptUnknown(z.object(Object.fromEntries(parts))), value, {
    error: describeIssue,
  });
  if (error) throw argumentInvalid(fieldProblems(error, { name: "search" }));
  for (const [name, part] of Object.entries(data)) {
    // The schema has no codec for unknown parameters.
    for (const value of [part].flat()) {
      if (["string", "number", "boolean"].includes(typeof value)) query.append(name, String(value));
    }
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
