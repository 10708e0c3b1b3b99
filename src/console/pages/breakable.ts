import { html } from "hono/html";
import type { Markup } from "./markup.ts";

/** Adds line break opportunities to a long name or URL after its punctuation. */
export function breakable(text: string): Markup {
  return html`${text.split(/(?<=[/_-])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))}`;
}
