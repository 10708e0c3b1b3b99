import { cutAt } from "./shorten.ts";

/** A body as the page shows it. */
export interface BodyText {
  text: string;
  /** Where it is cut: how long the body is in all, in characters. */
  cutFrom?: number;
}

const token = /"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\],:]|[^\s{}[\],:"]+/gs;

/**
 * A body of at most `most` characters: JSON over several lines, anything else as it is. What a JSON says is not touched:
 * numbers keep their digits and repeated keys stay.
 */
export function bodyText(body: string, { most }: { most: number }): BodyText {
  const text = isJsonContainer(body) ? indentJson(cutAt(body, most), most) : body;
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

/** Works on the text, token by token, and stops soon after `most` characters: a stranger chose how deep it nests. */
function indentJson(json: string, most: number): string {
  let text = "";
  let depth = 0;
  let previous = "";
  for (const [part] of json.matchAll(token)) {
    const closes = part === "}" || part === "]";
    const opened = previous === "{" || previous === "[";
    if (closes) depth -= 1;
    if (opened !== closes || previous === ",") text += `\n${"  ".repeat(depth)}`;
    text += part === ":" ? ": " : part;
    if (part === "{" || part === "[") depth += 1;
    if (text.length > most) break;
    previous = part;
  }
  return text;
}
