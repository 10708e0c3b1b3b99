import * as z from "zod";
import { type EventFields, maxFilteredBytes, toEventFields } from "./delivery-filter.ts";

const eventSchema = z.object({
  repo: z.object({ type: z.unknown().optional(), name: z.unknown().optional() }).optional().catch(undefined),
  event: z.object({ scope: z.unknown().optional(), action: z.unknown().optional() }).optional().catch(undefined),
});

/** Reads the fields of an event from a body. */
export function readEventFields(body: string | undefined): EventFields {
  // A UTF-16 code unit has up to 3 bytes in UTF-8.
  if (body === undefined || (body.length * 3 > maxFilteredBytes && Buffer.byteLength(body) > maxFilteredBytes))
    return {};
  try {
    const { repo, event } = eventSchema.parse(JSON.parse(body));
    return toEventFields([repo?.type, repo?.name, event?.scope, event?.action]);
  } catch {
    return {};
  }
}
