import { html } from "hono/html";

interface PageDocument {
  title: string;
  /** `undefined`: the theme of the user's system. */
  theme: "light" | "dark" | undefined;
  /** The text next to the mark. */
  brand: string;
  /** The links in the header. `newTab` opens a page that cannot be displayed in a frame. */
  links: readonly { to: string; text: string; newTab?: boolean }[];
  styles: string;
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

/**
 * Renders a button that copies the text of another element. The button is hidden until the script runs.
 *
 * @param sourceId the ID of the element whose text is copied.
 * @param what names the text for screen readers, such as "the URL of retrain".
 */
export function copyButton(sourceId: string, what: string): Markup {
  return html`<button class="copy" type="button" data-copy="${sourceId}" data-what="${what}">
      <span data-label>Copy</span><span class="unseen"> ${what}</span>
    </button>`;
}

const units = [
  { unit: "day", seconds: 86_400 },
  { unit: "hour", seconds: 3_600 },
  { unit: "minute", seconds: 60 },
] as const;

/**
 * Renders a time relative to `now`, in a `<time>` element with the exact time.
 *
 * @param at ISO 8601.
 * @example
 * ```ts
 * timeAgo("2026-09-01T10:00:00Z", new Date("2026-09-01T10:03:20Z")); // <time …>3 minutes ago</time>
 * ```
 */
export function timeAgo(at: string, now: Date): Markup {
  return html`<time datetime="${at}" title="${at}">${inWords(at, now)}</time>`;
}

function inWords(at: string, now: Date): string {
  const elapsed = (now.getTime() - Date.parse(at)) / 1000;
  const largest = units.find(({ seconds }) => elapsed >= seconds);
  if (!largest) return "just now";
  // Not Intl.RelativeTimeFormat, which reads 4.5 MB of language data into memory.
  const count = Math.floor(elapsed / largest.seconds);
  return `${count} ${largest.unit}${count === 1 ? "" : "s"} ago`;
}

/** The sites that may display a page in a frame: the server itself and the Hub, which embeds every Space. */
export const hubFrames = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space";

/** Returns the headers of a page whose only style sheet is inline. */
export function inlinePageHeaders(nonce: string): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors ${hubFrames}`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    vary: "accept",
  };
}

/**
 * Creates a response that is not cached, with the minimum permissions. Inline scripts and styles are forbidden, so that text
 * from clients cannot run even if it is not escaped.
 */
export function pageResponse(html: string): Response {
  const contentSecurityPolicy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${hubFrames}`,
  ].join("; ");
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    },
  });
}
