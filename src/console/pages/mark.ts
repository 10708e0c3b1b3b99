import { html } from "hono/html";
import type { Markup } from "./markup.ts";

/** A hook with an arrow. */
const hook = {
  line: "M20.5 11.5v6.75a5.75 5.75 0 0 1-11.5 0V16",
  arrow: "M5.75 18.75 9 15.5l3.25 3.25",
};

/** Renders the logo. It is hidden from screen readers, because the product's name is next to it. */
export function mark(): Markup {
  return html`<svg class="mark" viewBox="0 0 32 32" width="36" height="36" aria-hidden="true">
      <rect class="mark-ground" width="32" height="32" rx="9" />
      <circle class="mark-dot" cx="20.5" cy="8.5" r="2.75" />
      <path class="mark-line" d="${hook.line}" />
      <path class="mark-line" d="${hook.arrow}" />
    </svg>`;
}

/** The logo as a `data:` URL, for the browser's tab. */
export const favicon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#ffd21e"/>` +
    `<circle cx="20.5" cy="8.5" r="2.75" fill="#1d1b16"/><path d="${hook.line}${hook.arrow}" fill="none" ` +
    `stroke="#1d1b16" stroke-width="2.75" stroke-linecap="round" stroke-linejoin="round"/></svg>`,
)}`;
