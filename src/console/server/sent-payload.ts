import { WebhookError } from "../../core/errors.ts";
import { parseJson } from "../../http/json.ts";
import { findPayloadProblems, parsePayload } from "../../payload/parse.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import type { FieldProblem } from "../protocol/session.ts";

/** A payload that the user has edited, or its invalid fields. */
export type SentPayload = { payload: WebhookPayload } | { problems: readonly FieldProblem[] };

/** Parses and validates the text of a payload. The field `webhook` is replaced, because each recipient gets its own value. */
export function parseSentPayload(text: string): SentPayload {
  const parsed = parseText(text);
  if ("problem" in parsed) return { problems: [{ path: [], problem: parsed.problem }] };
  const value = withWebhook(parsed.value);
  const problems = findPayloadProblems(value);
  return problems.length > 0 ? { problems } : { payload: parsePayload(value) };
}

function parseText(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (WebhookError.isInstance(error)) return { problem: error.message };
    throw error;
  }
}

function withWebhook(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return { ...value, webhook: { id: "", version: 3 } };
}
