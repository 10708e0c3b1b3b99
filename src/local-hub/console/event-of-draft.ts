import { parseSentPayload } from "../../console/server/sent-payload.ts";
import { WebhookError } from "../../core/errors.ts";
import type { WebhookPayload } from "../../payload/schema.ts";
import { describedEdits } from "../events/described-edits.ts";
import { type ParsedEvent, parseEvent } from "../events/event-request.ts";

/**
 * Returns the event of a draft with its edits, or `undefined` if the edits do not only describe the change of the event, such as
 * another comment. The local Hub makes this change, and sends its payload. Otherwise, the payload is sent as it is, because no
 * change has this payload.
 *
 * @param draft the payload before the edits, as JSON text.
 */
export function eventOfDraft(draft: string, edited: WebhookPayload): ParsedEvent | undefined {
  const parsed = parseSentPayload(draft);
  if (!("payload" in parsed)) return undefined;
  const { event, repo } = parsed.payload;
  const { scope, action } = event;
  const fields = describedEdits(parsed.payload, { edited, scope, action });
  if (!fields) return undefined;
  const isMove = scope === "repo" && action === "move";
  try {
    return parseEvent({
      repo: { type: repo.type, name: repo.name },
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
