import { html } from "hono/html";
import { escapeHidden } from "../core/escape.ts";
import { favicon, mark } from "./mark.ts";
import { hubFrames } from "./response.ts";

/** What an error page shows. */
export interface ErrorPageContent {
  status: number;
  /** Such as `NOT_FOUND`; programs get the same one as JSON. */
  code: string;
  /** What happened, and what to do. */
  message: string;
  /** Default: a title for the status. */
  title?: string;
  /** Lines of source or of a stack, shown as they are. */
  details?: readonly string[];
  /** Address of a page to continue with. */
  home?: string | undefined;
}

/** A page, ready to be sent. */
export interface ErrorPage {
  html: string;
  headers: Readonly<Record<string, string>>;
}

const titles: Readonly<Record<number, string>> = {
  400: "This request is not valid",
  401: "Sign in to see this page",
  403: "You cannot see this page",
  404: "There is nothing here",
  405: "This address takes deliveries only",
  429: "Too many attempts",
  503: "The server is not ready",
};

const styles = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#fcfbf8, #131210);
  --inset: light-dark(#f6f3ec, #24221e);
  --line: light-dark(#e7e2d6, #322f29);
  --ink: light-dark(#1d1b16, #f4f0e8);
  --quiet: light-dark(#645e52, #aaa396);
  --accent: #ffd21e;
  --focus: light-dark(#8a6a00, #ffd21e);
}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 44rem;
  padding: clamp(2rem, 12vh, 7rem) clamp(1rem, 5vw, 2.5rem) 3rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, p, pre { margin: 0; }
.mark-ground { fill: var(--accent); }
.mark-dot { fill: #1d1b16; }
.mark-line { fill: none; stroke: #1d1b16; stroke-width: 2.75; stroke-linecap: round; stroke-linejoin: round; }
h1 { margin-top: 1.5rem; font-size: clamp(1.5rem, 5vw, 2rem); line-height: 1.2; text-wrap: balance; }
.message { margin-top: 0.75rem; }
.code { margin-top: 1.25rem; color: var(--quiet); font-size: 0.875rem; }
code, pre { font-family: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre {
  margin-top: 1.25rem;
  padding: 1rem;
  overflow-x: auto;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--inset);
  font-size: 0.8125rem;
  white-space: pre;
}
a { color: inherit; text-decoration-color: var(--accent); text-decoration-thickness: 2px; text-underline-offset: 0.25em; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; border-radius: 0.25rem; }
.onward { margin-top: 1.75rem; }
`;

/**
 * Renders an error as a page of its own, without scripts and without a second request, so that it also works where
 * nothing else does. Every value is escaped.
 */
export function renderErrorPage({ status, code, message, title, details = [], home }: ErrorPageContent): ErrorPage {
  const nonce = crypto.randomUUID();
  const heading = title ?? titles[status] ?? "Something went wrong";
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${heading} · hub-webhooks</title>
    <link rel="icon" href="${favicon}">
    <style nonce="${nonce}">${styles}</style>
  </head>
  <body>
    <main>
      ${mark()}
      <h1>${heading}</h1>
      <p class="message">${message}</p>
      ${details.length > 0 ? html`<pre tabindex="0" aria-label="Stack">${details.join("\n")}</pre>` : ""}
      <p class="code">${status} <code>${code}</code></p>
      ${home === undefined ? "" : html`<p class="onward"><a href="${home}">Go to the start page</a></p>`}
    </main>
  </body>
</html>
`;
  return {
    // Over the whole page, so that no value can be forgotten: the markup itself has none of these characters.
    html: escapeHidden(String(page)),
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors ${hubFrames}`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
      vary: "accept",
    },
  };
}
