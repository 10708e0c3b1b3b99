import { readOwnField } from "../core/describe.ts";
import { shorten } from "../core/text.ts";

/** The event and the repository of a payload. A field is missing if the payload does not contain it. */
interface EventSummary {
  scope?: string | undefined;
  action?: string | undefined;
  repoType?: string | undefined;
  repoName?: string | undefined;
  /** The page of the repository. This can be any text. */
  repoUrl?: string | undefined;
}

const maxLength = 200;

/** A larger body is not parsed: a page of them would take seconds. */
const maxParsedLength = 1_000_000;

/**
 * Reads the event and the repository of a body, which can be anything, JSON or not. Shortens texts to 200 characters, and omits a longer
 * URL.
 */
export function summarizeEvent(body: string | undefined): EventSummary {
  if (body === undefined || body.length > maxParsedLength) return {};
  const payload = parse(body);
  const event = readOwnField(payload, "event");
  const repo = readOwnField(payload, "repo");
  const url = readOwnField(readOwnField(repo, "url"), "web");
  return {
    scope: readText(event, "scope"),
    action: readText(event, "action"),
    repoType: readText(repo, "type"),
    repoName: readText(repo, "name"),
    // A shortened URL would point to another page.
    repoUrl: typeof url === "string" && url !== "" && url.length <= maxLength ? url : undefined,
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function readText(value: unknown, name: string): string | undefined {
  const text = readOwnField(value, name);
  return typeof text === "string" && text !== "" ? shorten(text, maxLength) : undefined;
}
