import { describeIssue } from "../core/describe-issue.ts";
import { WebhookError } from "../core/errors.ts";
import { readOwnField } from "../core/read-field.ts";
import { schemaOf, type WebhookPayload } from "./schema.ts";

/** The maximum number of problems in an error message. The limit keeps responses short. */
const maxListedProblems = 3;

/** A validation issue in the format of Standard Schema, which zod also uses. */
export interface Issue {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
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
  assertPayload(value);
  return value;
}

function assertPayload(value: unknown): asserts value is WebhookPayload {
  const { scope, type } = scopeAndType(value);
  const result = schemaOf(scope, type).safeParse(value, { error: describeIssue });
  if (!result.success) throw payloadInvalid(result.error.issues);
}

/** Reads the two fields that determine the schema. */
function scopeAndType(value: unknown): { scope: unknown; type: unknown } {
  return {
    scope: readOwnField(readOwnField(value, "event"), "scope"),
    type: readOwnField(readOwnField(value, "repo"), "type"),
  };
}

const issuesOfErrors = new WeakMap<WebhookError, readonly Issue[]>();

/** Returns the issues behind an error of {@link payloadInvalid}, or `undefined` for other errors. */
export function issuesOf(error: WebhookError): readonly Issue[] | undefined {
  return issuesOfErrors.get(error);
}

/** Creates the error for an invalid payload. The message lists the first problems. */
export function payloadInvalid(problems: readonly Issue[]): WebhookError {
  const named = problems
    .slice(0, maxListedProblems)
    .map((problem) => `${pathOf(problem) || "payload"}: ${problem.message.slice(0, 120)}`);
  const more = problems.length > maxListedProblems ? ` (and ${problems.length - maxListedProblems} more)` : "";
  const error = new WebhookError(`Invalid payload: ${named.join("; ")}${more}.`, {
    code: "PAYLOAD_INVALID",
    status: 422,
  });
  issuesOfErrors.set(error, problems);
  return error;
}

function pathOf(problem: Issue): string {
  return (problem.path ?? []).map((part) => String(typeof part === "object" ? part.key : part).slice(0, 60)).join(".");
}
