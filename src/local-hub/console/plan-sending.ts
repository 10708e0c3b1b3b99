import type { SendRequest } from "../../console/protocol/send.ts";
import type { FieldProblem } from "../../console/protocol/session.ts";
import { WebhookError } from "../../core/errors.ts";
import { parseJson } from "../../http/parse-json.ts";
import { findPayloadProblems } from "../../payload/find-problems.ts";
import { parsePayload } from "../../payload/parse.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import { describedEdits } from "../events/described-edits.ts";
import { type ParsedEvent, parseEvent } from "../events/event-request.ts";

/** The effect of sending a payload. */
export type SendPlan =
  /** The payload is invalid, so that nothing is sent. */
  | { problems: readonly FieldProblem[] }
  | {
      problems: [];
      payload: WebhookPayload;
      /** The event whose change is made. Missing if the payload is sent as it is. */
      event?: ParsedEvent;
    };

/**
 * Validates a payload and decides how it is sent. If the user started from the payload of an event, and the edits only describe
 * the change of the event, such as another comment, then the change is made and the payload of this change is sent. Otherwise, the
 * payload is sent as it is, because no change has this payload.
 */
export function planSending({ body, draft }: SendRequest): SendPlan {
  const parsed = parseText(body);
  if ("problem" in parsed) return { problems: [{ path: [], problem: parsed.problem }] };
  const value = withWebhook(parsed.value);
  const problems = findPayloadProblems(value);
  if (problems.length > 0) return { problems };
  const payload = parsePayload(value);
  const event = draft === undefined ? undefined : eventOfDraft(draft, payload);
  return { problems: [], payload, ...(event && { event }) };
}

function parseText(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: parseJson(text) };
  } catch (error) {
    if (WebhookError.isInstance(error)) return { problem: error.message };
    throw error;
  }
}

/** Adds the field that each webhook sets, because its value in the editor has no effect. */
function withWebhook(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return { ...value, webhook: { id: "", version: 3 } };
}

/** Returns the event of a draft with its edits, or `undefined` if the edits do not only describe the event. */
function eventOfDraft(draftText: string, edited: WebhookPayload): ParsedEvent | undefined {
  const parsed = parseText(draftText);
  const value = "value" in parsed ? withWebhook(parsed.value) : undefined;
  if (findPayloadProblems(value).length > 0) return undefined;
  const draft = parsePayload(value);
  const { scope, action } = draft.event;
  const fields = describedEdits(draft, { edited, scope, action });
  if (!fields) return undefined;
  const isMove = scope === "repo" && action === "move";
  try {
    return parseEvent({
      repo: { type: draft.repo.type, name: draft.repo.name },
      event: { scope, action },
      ...(isMove && { movedTo: { name: edited.movedTo?.name } }),
      ...fields,
    });
  } catch (error) {
    // Such as a new name that no repository can have.
    if (WebhookError.isInstance(error) && error.code === "ARGUMENT_INVALID") return undefined;
    throw error;
  }
}
