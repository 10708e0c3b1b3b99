import { html, raw } from "hono/html";
import { escapeHidden } from "../../core/text.ts";
import { tokens } from "../design/tokens.ts";
import { favicon, inlinePageHeaders, mark } from "./document.ts";

export interface ErrorPageContent {
  status: number;
  /** The code of the error, such as `NOT_FOUND`, which other clients receive as JSON. */
  code: string;
  /** What happened and how to fix it. */
  message: string;
  /** Default: a title for the status. */
  title?: string;
  /** Lines of source code or of a stack, shown unchanged. */
  details?: readonly string[];
  home?: string | undefined;
}

export interface ErrorPage {
  html: string;
  headers: Readonly<Record<string, string>>;
}

const titles: Readonly<Record<number, string>> = {
  400: "This request is not valid",
  401: "Sign in to see this page",
  403: "You cannot see this page",
  404: "Page not found",
  405: "This URL only accepts deliveries",
  429: "Too many attempts",
  503: "The server is not ready",
};

const styles = `${tokens}
*, *::before, *::after { box-sizing: border-box; }
body {
  margin: 0 auto;
  max-width: 44rem;
  padding: clamp(2rem, 12vh, 7rem) clamp(1rem, 5vw, 2.5rem) 3rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.6 var(--sans);
  overflow-wrap: anywhere;
}
h1, p, pre { margin: 0; }
.mark-ground { fill: var(--accent); }
.mark-dot { fill: var(--on-accent); }
.mark-line { fill: none; stroke: var(--on-accent); stroke-width: 2.75; stroke-linecap: round; stroke-linejoin: round; }
h1 { margin-top: 1.5rem; font-size: clamp(1.5rem, 5vw, 2rem); line-height: 1.2; text-wrap: balance; }
.message { margin-top: 0.75rem; }
.code { margin-top: 1.25rem; color: var(--quiet); font-size: 0.875rem; }
code, pre { font-family: var(--mono); }
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
 * Renders an error as a self-contained page, without scripts and other requests, so that the page also works while the server
 * cannot serve its assets. Every value is escaped.
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
    <style nonce="${nonce}">${raw(styles)}</style>
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
    // Escapes the whole page, so that no value is missed. The markup itself does not contain these characters.
    html: escapeHidden(String(page)),
    headers: inlinePageHeaders(nonce),
  };
}
