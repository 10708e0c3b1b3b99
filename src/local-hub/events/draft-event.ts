import type { SendDraft } from "../../console/protocol/send.ts";
import { type ParsedEvent, parseEvent } from "./event-request.ts";

/**
 * Returns the event that a user has chosen in the console. A move gets a new name.
 *
 * @throws `ARGUMENT_INVALID` with the invalid fields.
 */
export function parseDraft({ scope, action, repository }: SendDraft): ParsedEvent {
  const colon = repository.indexOf(":");
  const [type, name] = [repository.slice(0, colon), repository.slice(colon + 1)];
  const isMove = scope === "repo" && action === "move";
  return parseEvent({
    repo: { type, name },
    event: { scope, action },
    ...(isMove && { movedTo: { name: `${name}-moved` } }),
  });
}
