import { html } from "hono/html";

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

/** A part of a page in which every interpolated value is escaped. */
export type Markup = ReturnType<typeof html>;

/** Adds line break opportunities to a long name or URL after its punctuation. */
export function breakable(text: string): Markup {
  return html`${text.split(/(?<=[/_-])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`))}`;
}

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
