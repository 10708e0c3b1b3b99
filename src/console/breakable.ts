import { html } from "hono/html";
import type { Markup } from "./markup.ts";

/** Lets a long name or URL break after its punctuation rather than inside a word. */
export function breakable(text: string): Markup {
  return html`${text.split(/(?<=[/_-])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))}`;
}
