/** The fields of a payload that describe the change of an event, by `scope action`. */
const describingFields: Readonly<Record<string, readonly string[]>> = {
  "repo move": ["movedTo.name"],
  "repo.config update": ["updatedConfig.private"],
  "discussion create": ["discussion.title", "discussion.isPullRequest", "comment.content"],
  "discussion update": ["discussion.title", "discussion.status", "discussion.pinned"],
  "discussion.comment create": ["comment.content"],
  "discussion.comment update": ["comment.content", "comment.hidden"],
};

/** A field that an edit has set, removed, or replaced. */
interface EditedField {
  keys: readonly string[];
  /** `undefined` if the field was removed. */
  value: unknown;
}

/**
 * Returns the fields of an event that the edits of a payload describe, or `undefined` if an edit changes anything else. Edits that
 * only describe the event, such as another comment, can be made as a change. Other edits, such as another author of a commit or an
 * unknown field, exist only in the payload.
 *
 * @param draft the payload before the edits.
 */
export function describedEdits(
  draft: object,
  { edited, scope, action }: { edited: object; scope: string; action: string },
): Record<string, unknown> | undefined {
  const allowed = describingFields[`${scope} ${action}`] ?? [];
  const fields: Record<string, Record<string, unknown>> = {};
  for (const { keys, value } of editedFields(draft, edited)) {
    const [outer = "", inner = ""] = keys;
    if (value === undefined || !allowed.includes(keys.join("."))) return undefined;
    fields[outer] = { ...fields[outer], [inner]: value };
  }
  return fields;
}

/** Lists the fields that differ. Lists are compared as a whole. The field `webhook` is ignored, because each webhook has its own. */
function editedFields(draft: object, edited: object): EditedField[] {
  return compare(draft, edited, []).filter(({ keys }) => keys[0] !== "webhook");
}

function compare(before: unknown, after: unknown, keys: readonly string[]): EditedField[] {
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => compare(own(before, name), own(after, name), [...keys, name]));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ keys, value: after }];
}

function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
