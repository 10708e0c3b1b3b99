import { html } from "hono/html";
import { breakable } from "../../console/breakable.ts";
import { copyButton } from "../../console/copy-button.ts";
import { timeAgo } from "../../console/elapsed.ts";
import type { Markup } from "../../console/markup.ts";
import { shorten } from "../../core/shorten.ts";
import { enableCommand, eventCommand } from "./commands.ts";
import { deliveryRow } from "./delivery-row.ts";
import type { HubPageWebhook } from "./info.ts";

/** What a card is made from. */
export interface WebhookCardOptions {
  webhook: HubPageWebhook;
  hubUrl: string;
  now: Date;
  /** Entries of its log that are shown. */
  mostRows: number;
  /** Characters of a body that are shown. */
  longestBody: number;
}

const mostWatched = 20;
const longestTarget = 400;

/** A webhook: where it delivers, what it watches, how it fares, and what it delivered lately. */
export function webhookCard(options: WebhookCardOptions): Markup {
  const { webhook, now } = options;
  const { id, state, lastTriggerAt } = webhook;
  return html`<li class="card webhook" id="webhook-${id}">
      <div class="webhook-head">
        <h3>${target(webhook)}</h3>
        <p class="state ${state}">${state}</p>
      </div>
      <div class="webhook-line">
        <p>${lastTriggerAt ? html`triggered ${timeAgo(lastTriggerAt, now)}` : "never triggered"}</p>
        <p>
          <span class="unseen">Id</span> <code id="id-${id}">${id}</code> ${copyButton(`id-${id}`, "the id of this webhook")}
        </p>
      </div>
      ${facts(webhook)}
      ${state !== "enabled" && stopped(options)}
      ${activity(options)}
    </li>`;
}

function target({ target }: HubPageWebhook): Markup {
  switch (target.kind) {
    case "url":
      return html`<code>${breakable(shorten(target.url, longestTarget))}</code>`;
    case "job":
      return html`<span class="kind">Job</span> <code>${breakable(shorten(target.description, longestTarget))}</code>`;
    case "jobSource":
      return html`<span class="kind">Job like</span> <code>${breakable(shorten(target.id, longestTarget))}</code>`;
  }
}

function facts({ owner, watched, domains, secretIsSet }: HubPageWebhook): Markup {
  const unlisted = watched.length - mostWatched;
  return html`<dl class="webhook-facts">
      <div>
        <dt>Watches</dt>
        <dd>
          <ul class="chips">
            ${watched
              .slice(0, mostWatched)
              .map(
                ({ type, name }) => html`<li><span class="muted">${type}</span> <bdi>${shorten(name, 200)}</bdi></li>`,
              )}
            ${unlisted > 0 && html`<li>${unlisted.toLocaleString("en")} more</li>`}
          </ul>
        </dd>
      </div>
      <div>
        <dt>Domains</dt>
        <dd><ul class="chips">${domains.map((domain) => html`<li>${domain}</li>`)}</ul></dd>
      </div>
      <div><dt>Secret</dt><dd>${secretIsSet ? "set" : "not set"}</dd></div>
      <div><dt>Owner</dt><dd><bdi>${owner}</bdi></dd></div>
    </dl>`;
}

/** Says why nothing is delivered, and how to change that. */
function stopped({ webhook: { id, owner, state }, hubUrl }: WebhookCardOptions): Markup {
  return html`<div class="notice stopped ${state === "suspended" && "warning"}" id="stopped-${id}">
      <p>
        ${
          state === "suspended"
            ? html`<b>Suspended</b>, because too many deliveries in a row have failed. Once its target answers again, bring
              the webhook back:`
            : html`<b>Disabled</b>: events do not fire it. To bring it back:`
        }
      </p>
      <div class="copyable">
        <pre><code id="enable-${id}">${enableCommand({ hubUrl, id, owner })}</code></pre>
        ${copyButton(`enable-${id}`, "the command that enables this webhook")}
      </div>
    </div>`;
}

function activity(options: WebhookCardOptions): Markup {
  const { webhook, now, mostRows, longestBody } = options;
  const { id, log } = webhook;
  if (log.length === 0) return noActivity(options);
  return html`<div class="activity" id="activity-${id}">
      <div class="activity-head">
        <h4>Activity</h4>
        <a href="_local/webhooks/${encodeURIComponent(id)}/deliveries">The log as JSON</a>
      </div>
      <ol class="log" id="entries-${id}">
        ${log.slice(0, mostRows).map((entry) => deliveryRow({ webhookId: id, entry, now, longestBody }))}
      </ol>
      ${log.length >= mostRows && html`<p class="note" id="older-${id}">Older entries, if any, are in the log as JSON.</p>`}
    </div>`;
}

function noActivity({ webhook, hubUrl }: WebhookCardOptions): Markup {
  const { id, state } = webhook;
  return html`<div class="activity" id="quiet-${id}">
      <div class="activity-head"><h4>Activity</h4></div>
      <p class="muted line">
        Nothing delivered yet. ${state === "enabled" ? "Let something happen:" : "Once it is enabled, let something happen:"}
      </p>
      <div class="copyable">
        <pre><code id="event-${id}">${eventCommand({ hubUrl, webhook })}</code></pre>
        ${copyButton(`event-${id}`, "the command that lets something happen")}
      </div>
    </div>`;
}
