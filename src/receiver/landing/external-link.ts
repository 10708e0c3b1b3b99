import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";

/** A link to the Hub. It opens a tab of its own, because the Hub's settings refuse to open inside a Space's frame. */
export function externalLink(url: string, text: string): Markup {
  return html`<a href="${url}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a>`;
}
