import { WebhookError } from "../core/errors.ts";
import { readOwnField } from "../core/read-field.ts";
import { schemaOf, type WebhookPayload } from "./schema.ts";

/** How many problems an answer names: enough to mend the sender, too few to be a burden. */
const problemsNamed = 3;

/** One thing that is wrong with a value: the shape shared by zod and every other Standard Schema. */
interface Problem {
  readonly message: string;
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined;
}

/**
 * Checks that a value is a payload of the Hub, version 3, and returns that same value: fields that no schema knows
 * stay in place.
 *
 * @throws `PAYLOAD_INVALID` (422), naming the first few paths that are wrong and never what stands there.
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
  const result = schemaOf(scope, type).safeParse(value);
  if (!result.success) throw payloadInvalid(result.error.issues);
}

/** Reads the two fields that decide which schema counts, out of a value that may be anything. */
function scopeAndType(value: unknown): { scope: unknown; type: unknown } {
  return {
    scope: readOwnField(readOwnField(value, "event"), "scope"),
    type: readOwnField(readOwnField(value, "repo"), "type"),
  };
}

/** The refusal of a payload, with the first few of its problems. */
export function payloadInvalid(problems: readonly Problem[]): WebhookError {
  const named = problems
    .slice(0, problemsNamed)
    .map((problem) => `${pathOf(problem) || "payload"}: ${problem.message.slice(0, 120)}`);
  const more = problems.length > problemsNamed ? ` (and ${problems.length - problemsNamed} more)` : "";
  return new WebhookError(`Invalid payload: ${named.join("; ")}${more}.`, { code: "PAYLOAD_INVALID", status: 422 });
}

function pathOf(problem: Problem): string {
  return (problem.path ?? []).map((part) => String(typeof part === "object" ? part.key : part).slice(0, 60)).join(".");
}
