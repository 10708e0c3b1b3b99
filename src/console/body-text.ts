import { indentJson } from "../core/indent-json.ts";
import { cutAt } from "../core/shorten.ts";

/** A body as the page shows it. */
export interface BodyText {
  text: string;
  /** Where it is cut: how long the body is in all, in characters. */
  cutFrom?: number;
}

/**
 * A body of at most `most` characters: JSON over several lines, anything else as it is. What a JSON says is not touched:
 * numbers keep their digits and repeated keys stay.
 */
export function bodyText(body: string, { most }: { most: number }): BodyText {
  const text = isJsonContainer(body) ? indentUpTo(cutAt(body, most), most) : body;
  const shown = cutAt(text, most);
  return shown.length < text.length || body.length > most ? { text: shown, cutFrom: body.length } : { text: shown };
}

function isJsonContainer(body: string): boolean {
  if (!/^\s*[{[]/.test(body)) return false;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

/** Stops soon after `most` characters: a stranger chose how deep it nests. */
function indentUpTo(json: string, most: number): string {
  let text = "";
  for (const part of indentJson(json)) {
    text += part;
    if (text.length > most) break;
  }
  return text;
}
