import { type EventFields, maxFilteredBytes, toEventFields } from "../delivery-filter.ts";

/** An SQL expression for the fields of an event, as JSON text. NULL if the body is missing, too large, or not JSON. */
export const eventFieldsSql = `
  CASE WHEN octet_length(body) <= ${maxFilteredBytes} AND json_valid(body)
    THEN json_extract(body, '$.repo.type', '$.repo.name', '$.event.scope', '$.event.action')
  END AS event
`;

/** Reads the fields of an event from a row with the column of {@link eventFieldsSql}. */
export function eventFieldsOf({ event }: Record<string, unknown>): EventFields {
  if (typeof event !== "string") return {};
  const values: unknown = JSON.parse(event);
  return Array.isArray(values) ? toEventFields(values) : {};
}

/** Returns the newest errors of a delivery's attempts. Parameters: the sequence and the maximum number of errors. */
export const searchedErrorsSql =
  "SELECT code, message FROM attempts WHERE delivery = ? AND code IS NOT NULL ORDER BY number DESC LIMIT ?";

/** Returns the sequence of the newest delivery, even if it was deleted. */
export const lastSequenceSql = "SELECT seq AS last FROM sqlite_sequence WHERE name = 'deliveries'";
