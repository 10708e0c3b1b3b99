import { html } from "hono/html";
import { favicon, mark } from "./mark.ts";
import type { Markup } from "./markup.ts";

/** What a built-in page is made from. */
export interface PageDocument {
  title: string;
  /** Absent: the reader's system decides. */
  theme: "light" | "dark" | undefined;
  /** Beside the mark. */
  brand: string;
  /** Further links of the header. */
  links: readonly { to: string; text: string }[];
  /** The address of the style sheet. */
  styles: string;
  /** The address of the script. */
  script: string;
  main: Markup;
}

/** A whole page as HTML, with the header that all have and a live region for what the script has to say. */
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
        ${links.map(({ to, text }) => html`<a href="${to}">${text}</a> `)}
      </nav>
    </header>
    <main>
      ${main}
    </main>
    <p class="unseen" id="announcer" role="status" aria-live="polite"></p>
  </body>
</html>
`;
  // No value above is a promise, so the template is text at once.
  return String(page);
}
