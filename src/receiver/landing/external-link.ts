import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";

/**
 * Renders a link to the Hub. The link opens in a new tab, because the Hub's settings cannot be displayed in a Space's frame.
 */
export function externalLink(url: string, text: string): Markup {
  return html`<a href="${url}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a>`;
}
