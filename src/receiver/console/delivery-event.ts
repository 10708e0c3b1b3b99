import type { DeliverySummary } from "../../console/protocol/deliveries.ts";
import { readOwnField } from "../../core/read-field.ts";
import { shorten } from "../../core/shorten.ts";

const maxName = 200;
/** A larger body, in characters, is not parsed: a page of them would take seconds. */
const maxParsed = 1_000_000;

/** Reads the event and the repository of a delivery for the list. The body can be anything, JSON or not. */
export function readEvent(body: string | undefined): Pick<DeliverySummary, "event" | "repository"> {
  const payload = body === undefined || body.length > maxParsed ? undefined : parse(body);
  const event = readOwnField(payload, "event");
  const repo = readOwnField(payload, "repo");
  const [scope, action] = [textIn(event, "scope"), textIn(event, "action")];
  const [type, name] = [textIn(repo, "type"), textIn(repo, "name")];
  const url = textIn(readOwnField(repo, "url"), "web");
  return {
    ...(scope !== undefined && { event: { scope, action: action ?? "" } }),
    ...(name !== undefined && { repository: { type: type ?? "", name, ...(isWebUrl(url) && { url }) } }),
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function textIn(value: unknown, name: string): string | undefined {
  const text = readOwnField(value, name);
  return typeof text === "string" && text !== "" ? shorten(text, maxName) : undefined;
}

/** Whether a link to this URL is safe: a `javascript:` URL would run in the console. */
function isWebUrl(url: string | undefined): url is string {
  return url !== undefined && /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}
