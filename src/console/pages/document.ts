import { html } from "hono/html";
import { favicon, mark } from "./mark.ts";
import type { Markup } from "./markup.ts";

/** The content of a server-rendered page. */
export interface PageDocument {
  title: string;
  /** `undefined`: the theme of the user's system. */
  theme: "light" | "dark" | undefined;
  /** The text next to the mark. */
  brand: string;
  /** The links in the header. `newTab` opens a page that cannot be displayed in a frame. */
  links: readonly { to: string; text: string; newTab?: boolean }[];
  /** The URL of the style sheet. */
  styles: string;
  /** The URL of the script. */
  script: string;
  main: Markup;
}

/** Renders a page as HTML, with the shared header and a live region for the messages of the script. */
export function pageDocument({ title, theme, brand, links, styles, script, main }: PageDocument): string {
  const page = html`<!doctype html>
<html lang="en" ${theme && html`data-theme="${theme}"`}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="${theme ?? "light dark"}">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    <link rel="icon" href="${favicon}">
    <link rel="stylesheet" href="${styles}">
    <script type="module" src="${script}"></script>
  </head>
  <body>
    <header class="top">
      <p class="brand">${mark()}${brand}</p>
      <nav aria-label="On this page">
        ${links.map(headerLink)}
      </nav>
    </header>
    <main>
      ${main}
    </main>
    <p class="unseen" id="announcer" role="status" aria-live="polite"></p>
  </body>
</html>
`;
  // No value above is a promise, so the template is synchronous.
  return String(page);
}

function headerLink({ to, text, newTab }: PageDocument["links"][number]): Markup {
  if (!newTab) return html`<a href="${to}">${text}</a> `;
  return html`<a href="${to}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a> `;
}
