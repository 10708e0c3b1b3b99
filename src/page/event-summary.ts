import { ownField } from "../own-field.ts";
import { shorten } from "./shorten.ts";

/** What a payload is about, in the words of the payload: any text, of any meaning. */
export interface EventSummary {
  /** Such as `repo.content · update`. */
  what: string;
  /** Such as `dataset me/data`. */
  repo: string;
}

const longestName = 120;

/** Longer than this, in characters, a body is not parsed: a page of them would take seconds. */
const longestParsed = 1_000_000;

/** Reads what a payload is about; `undefined` where it does not say. Bodies may be anything, JSON or not. */
export function summarizeEvent(body: string | undefined): EventSummary | undefined {
  if (body === undefined || body.length > longestParsed) return undefined;
  const payload = parse(body);
  const event = ownField(payload, "event");
  const repo = ownField(payload, "repo");
  const what = named(event, ["scope", "action"]).join(" · ");
  return what === "" ? undefined : { what, repo: named(repo, ["type", "name"]).join(" ") };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function named(value: unknown, names: readonly string[]): string[] {
  const texts = names.map((name) => ownField(value, name)).filter((text) => typeof text === "string");
  return texts.filter((text) => text !== "").map((text) => shorten(text, longestName));
}
