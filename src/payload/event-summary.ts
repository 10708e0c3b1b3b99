import { readOwnField } from "../core/read-field.ts";
import { shorten } from "../core/shorten.ts";

/** What a payload is about, in the words of the payload: any text, of any meaning. */
export interface EventSummary {
  /** Such as `repo.content · update`. */
  what: string;
  /** Such as `dataset me/data`. */
  repo: string;
  /** The same, in parts. */
  parts: {
    scope: string | undefined;
    action: string | undefined;
    repoType: string | undefined;
    repoName: string | undefined;
  };
}

const longestName = 120;

/** Longer than this, in characters, a body is not parsed: a page of them would take seconds. */
const longestParsed = 1_000_000;

/** Reads what a payload is about; `undefined` where it does not say. Bodies may be anything, JSON or not. */
export function summarizeEvent(body: string | undefined): EventSummary | undefined {
  if (body === undefined || body.length > longestParsed) return undefined;
  const payload = parse(body);
  const event = readOwnField(payload, "event");
  const repo = readOwnField(payload, "repo");
  const [scope, action] = [textIn(event, "scope"), textIn(event, "action")];
  const [repoType, repoName] = [textIn(repo, "type"), textIn(repo, "name")];
  const what = joined(" · ", [scope, action]);
  if (what === "") return undefined;
  return { what, repo: joined(" ", [repoType, repoName]), parts: { scope, action, repoType, repoName } };
}

function joined(separator: string, texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(separator);
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
  return typeof text === "string" && text !== "" ? shorten(text, longestName) : undefined;
}
