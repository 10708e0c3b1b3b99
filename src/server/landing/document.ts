import { html } from "hono/html";
import { timeAgo } from "./elapsed.ts";
import { endpointList } from "./endpoint-list.ts";
import type { LandingInfo } from "./info.ts";
import { favicon, mark } from "./mark.ts";
import type { Markup } from "./markup.ts";
import { nextSteps } from "./next-steps.ts";
import { freeSpaceNote, openServerWarning } from "./notices.ts";

/** The whole page as HTML; `assets` are the addresses of its style sheet and its script. */
export function renderDocument(info: LandingInfo, now: Date, assets: { styles: string; script: string }): string {
  const page = html`<!doctype html>
<html lang="en" ${info.theme && html`data-theme="${info.theme}"`}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="${info.theme ?? "light dark"}">
    <meta name="robots" content="noindex">
    <title>${countEndpoints(info)} · hub-webhooks</title>
    <link rel="icon" href="${favicon}">
    <link rel="stylesheet" href="${assets.styles}">
    <script type="module" src="${assets.script}"></script>
  </head>
  <body>
    <header class="top">
      <p class="brand">${mark()}hub-webhooks</p>
      <nav aria-label="On this page">
        <a href="#endpoints">Endpoints</a>
        <a href="#next">Next steps</a>
        <a href="health">Health</a>
      </nav>
    </header>
    <main>
      <h1>${state(info)}</h1>
      <p class="lead">This server receives webhooks of the Hugging Face Hub.</p>
      ${facts(info, now)}
      ${!info.secretIsSet && openServerWarning(info.space)}
      <section aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        ${endpointList(info, now)}
      </section>
      <section aria-labelledby="next">
        <h2 id="next">What to do next</h2>
        ${nextSteps(info)}
      </section>
      ${info.space && freeSpaceNote()}
    </main>
    <p class="unseen" id="announcer" role="status" aria-live="polite"></p>
  </body>
</html>
`;
  // No value above is a promise, so the template is text at once.
  return String(page);
}

function state(info: LandingInfo): Markup {
  if (info.endpoints.length === 0) return html`<mark>Ready</mark> for a first endpoint`;
  return html`${countEndpoints(info)}, <mark>ready</mark>`;
}

function countEndpoints({ endpoints: { length } }: LandingInfo): string {
  return `${length.toLocaleString("en")} ${length === 1 ? "endpoint" : "endpoints"}`;
}

function facts({ endpoints, secretIsSet, startedAt, space }: LandingInfo, now: Date): Markup {
  const deliveries = endpoints.reduce((total, endpoint) => total + endpoint.deliveries, 0);
  return html`<dl class="facts">
      <div>
        <dt>Secret</dt>
        <dd>${secretIsSet ? html`<span class="dot succeeded"></span>set` : html`<span class="dot open"></span>not set`}</dd>
      </div>
      <div><dt>Started</dt><dd>${timeAgo(startedAt, now)}</dd></div>
      <div><dt>Deliveries since then</dt><dd>${deliveries.toLocaleString("en")}</dd></div>
      ${space && html`<div><dt>Space</dt><dd>${space.id}</dd></div>`}
    </dl>`;
}
