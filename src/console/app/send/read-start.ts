import { indentJson } from "../../../core/text.ts";
import type { DeliveryDetails } from "../../protocol/deliveries.ts";
import type { AttemptDetails } from "../../protocol/hub.ts";
import { getJson } from "../api/client.ts";

/** The first content of the editor: the payload of an event, or of a past delivery. */
export interface Start {
  text: string;
  /** Whether the payload is that of an event that has not happened. Sending it then makes the change of the event. */
  isDraft: boolean;
  /** Why the payload is not complete. */
  note?: string;
}

/** The event of a draft. */
export interface Draft {
  scope: string;
  action: string;
  /** As `type:name`. */
  repository: string;
}

/** The past delivery of a route, of an endpoint or of a webhook. */
export type Past = { endpoint: string; id: string } | { webhook: string; log: string };

/** Reads the past delivery of a route, if there is one. */
export function readPast(query: Readonly<Record<string, string>>): Past | undefined {
  const { "from-endpoint": endpoint, "from-id": id, "from-webhook": webhook, "from-log": log } = query;
  if (endpoint !== undefined && id !== undefined) return { endpoint, id };
  return webhook !== undefined && log !== undefined ? { webhook, log } : undefined;
}

/**
 * Loads the first content of the editor.
 *
 * @throws `ApiFailure`
 */
export async function loadStart(from: Draft | Past, signal: AbortSignal): Promise<Start> {
  if ("repository" in from) {
    const { body } = await getJson<{ body: string }>("send/payload", { query: { ...from }, signal });
    return { text: body, isDraft: true };
  }
  const { body, bodyLength } = await loadBody(from, signal);
  return {
    text: [...indentJson(body)].join(""),
    isDraft: false,
    ...(bodyLength !== undefined && { note: "The payload is cut, because it is larger than 1 MiB." }),
  };
}

async function loadBody(from: Past, signal: AbortSignal): Promise<{ body: string; bodyLength?: number }> {
  if ("endpoint" in from) return getJson<DeliveryDetails>("deliveries/one", { query: { ...from }, signal });
  const query = { id: from.webhook, logId: from.log };
  return (await getJson<AttemptDetails>("webhooks/attempt", { query, signal })).request;
}
