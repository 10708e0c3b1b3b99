import { html } from "hono/html";
import { copyButton } from "../../console/copy-button.ts";
import { pageDocument } from "../../console/document.ts";
import { timeAgo } from "../../console/elapsed.ts";
import type { Markup } from "../../console/markup.ts";
import { createCommand } from "./commands.ts";
import type { HubPageInfo } from "./info.ts";
import { webhookCard } from "./webhook-card.ts";

/** A local Hub may hold thousands of webhooks, with long logs of long bodies: the page must stay usable. */
const limits = { webhooks: 50, rows: 600, rowsEach: 30, body: 20_000, bodies: 4_000_000 };

/** The whole page as HTML; `assets` are the addresses of its style sheet and its script. */
export function renderDocument(info: HubPageInfo, now: Date, assets: { styles: string; script: string }): string {
  return pageDocument({
    ...assets,
    title: `${countWebhooks(info)} · local Hub · hub-webhooks`,
    theme: info.theme,
    brand: "hub-webhooks · local Hub",
    links: [
      { to: "#webhooks", text: "Webhooks" },
      { to: "_local/jobs", text: "Jobs" },
      { to: "openapi.json", text: "API" },
    ],
    main: html`<h1>${state(info)}</h1>
      <p class="lead">A Hub of your own: it keeps webhooks and delivers events, with no account.</p>
      ${facts(info, now)}
      <p class="notice warning" id="connection" hidden>
        <span class="warning-sign" aria-hidden="true">!</span>The local Hub does not answer. What you see is the last that it
        said; this page goes on asking.
      </p>
      <section aria-labelledby="webhooks" id="webhooks-section">
        <div class="section-head">
          <h2 id="webhooks">Webhooks</h2>
          <button class="live" type="button" id="live">Pause updates</button>
        </div>
        ${webhookList(info, now)}
      </section>`,
  });
}

function state(info: HubPageInfo): Markup {
  if (info.webhooks.length === 0) return html`<mark>Ready</mark> for a first webhook`;
  return html`${countWebhooks(info)}, <mark>ready</mark>`;
}

function countWebhooks({ webhooks: { length } }: HubPageInfo): string {
  return `${length.toLocaleString("en")} ${length === 1 ? "webhook" : "webhooks"}`;
}

function facts({ webhooks, runJobs, allowRemote, startedAt }: HubPageInfo, now: Date): Markup {
  const logged = webhooks.reduce((total, { log }) => total + log.length, 0);
  const isMore = webhooks.some(({ log }) => log.length >= limits.rowsEach);
  const suspended = webhooks.filter((webhook) => webhook.state === "suspended").length;
  return html`<dl class="facts">
      <div><dt>Started</dt><dd>${timeAgo(startedAt, now)}</dd></div>
      <div><dt>Attempts logged</dt><dd>${logged.toLocaleString("en")}${isMore && " or more"}</dd></div>
      <div>
        <dt>Suspended</dt>
        <dd>${suspended > 0 && html`<span class="dot failed"></span>`}${suspended === 0 ? "none" : suspended.toLocaleString("en")}</dd>
      </div>
      <div><dt>Jobs</dt><dd>${runJobs ? "run here" : "only recorded"}</dd></div>
      <div><dt>Delivers to</dt><dd>${allowRemote ? "any address" : "this machine only"}</dd></div>
    </dl>`;
}

function webhookList(info: HubPageInfo, now: Date): Markup {
  const { webhooks, hubUrl } = info;
  if (webhooks.length === 0) return emptyState(info);
  const listed = webhooks.slice(0, limits.webhooks);
  const unlisted = webhooks.length - listed.length;
  const mostRows = Math.min(limits.rowsEach, Math.floor(limits.rows / listed.length));
  const rows = listed.reduce((total, { log }) => total + Math.min(log.length, mostRows), 0);
  const longestBody = Math.min(limits.body, Math.floor(limits.bodies / (2 * Math.max(rows, 1))));
  return html`<ul class="webhooks" id="webhook-list">
      ${listed.map((webhook) => webhookCard({ webhook, hubUrl, now, mostRows, longestBody }))}
    </ul>
    ${
      unlisted > 0 &&
      html`<p class="muted unlisted" id="unlisted">
        ${unlisted.toLocaleString("en")} more are kept, but not shown here: <code>hub-webhooks list</code> lists all.
      </p>`
    }`;
}

function emptyState(info: HubPageInfo): Markup {
  return html`<div class="card empty" id="no-webhook">
      <p class="empty-title">No webhook yet</p>
      <p class="muted">Make one that delivers to your receiver. It appears here by itself.</p>
      <div class="copyable">
        <pre><code id="create">${createCommand(info)}</code></pre>
        ${copyButton("create", "the command that makes a webhook")}
      </div>
    </div>`;
}
