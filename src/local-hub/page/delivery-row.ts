import { html } from "hono/html";
import { bodyText } from "../../console/body-text.ts";
import { breakable } from "../../console/breakable.ts";
import { copyButton } from "../../console/copy-button.ts";
import { timeAgo } from "../../console/elapsed.ts";
import { type EventSummary, summarizeEvent } from "../../console/event-summary.ts";
import type { Markup } from "../../console/markup.ts";
import { shorten } from "../../core/shorten.ts";
import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";

/** What a row is made from. */
export interface DeliveryRowOptions {
  webhookId: string;
  entry: HubDeliveryAttempt;
  now: Date;
  /** Characters of a body that are shown. */
  longestBody: number;
}

/** One attempt at a delivery: a line, which opens to all that was sent and all that came back. */
export function deliveryRow(options: DeliveryRowOptions): Markup {
  const { webhookId, entry, now } = options;
  const event = summarizeEvent(entry.request.body);
  const id = `log-${webhookId}-${entry.logId}`;
  return html`<li id="${id}">
      <details class="delivery">
        <summary>
          <span class="status"><span class="dot ${isSuccess(entry) ? "succeeded" : "failed"}"></span>${statusOf(entry)}</span>
          ${about(event)}
          <span class="attempt">${entry.attempt > 1 && html`attempt ${entry.attempt}`}</span>
          <span class="when">${timeAgo(entry.at, now)}</span>
          <span class="duration">${inWords(entry.durationMs)}</span>
        </summary>
        <div class="delivery-inside">
          ${entry.error !== null && html`<p class="failure">${shorten(entry.error, 1000)}</p>`}
          ${actions(options)}
          ${request(options, id)}
          ${answer(options, id)}
          ${ids(entry, id)}
        </div>
      </details>
    </li>`;
}

function about(event: EventSummary | undefined): Markup {
  if (!event) return html`<span class="event muted">a payload without an event</span>`;
  return html`<span class="event">
      <bdi>${event.what}</bdi>
      <bdi class="muted">${breakable(event.repo)}</bdi>
    </span>`;
}

function actions({ webhookId, entry }: DeliveryRowOptions): Markup {
  const path = `_local/webhooks/${encodeURIComponent(webhookId)}/replay/${encodeURIComponent(entry.logId)}`;
  return html`<div class="actions">
      <button class="replay" type="button" data-replay="${path}">
        <span data-label>Replay</span><span class="unseen"> this delivery</span>
      </button>
      <p class="replay-outcome muted" data-outcome>Sends the payload again, to where the webhook points now.</p>
    </div>`;
}

function request({ entry, longestBody }: DeliveryRowOptions, id: string): Markup {
  return html`<section class="part">
      <h4>Request</h4>
      <p class="line">to <code>${breakable(shorten(entry.url, 1000))}</code></p>
      ${block({ id: `${id}-payload`, title: "Payload", what: "the payload", body: entry.request.body, longestBody })}
      ${headers({ id: `${id}-sent`, what: "the headers of the request", headers: entry.request.headers, longestBody })}
    </section>`;
}

function answer({ entry, longestBody }: DeliveryRowOptions, id: string): Markup {
  const { response } = entry;
  return html`<section class="part">
      <h4>Answer</h4>
      <p class="line"><span class="dot ${isSuccess(entry) ? "succeeded" : "failed"}"></span>${statusOf(entry)}</p>
      ${
        response &&
        html`${block({ id: `${id}-answer`, title: "Body", what: "the body of the answer", body: response.body, longestBody })}
        ${response.truncated && html`<p class="note">The answer went on: no more of it was read.</p>`}
        ${headers({ id: `${id}-received`, what: "the headers of the answer", headers: response.headers, longestBody })}`
      }
    </section>`;
}

function headers(options: { id: string; what: string; headers: Record<string, string>; longestBody: number }): Markup {
  const { id, what, longestBody } = options;
  const lines = Object.entries(options.headers).map(([name, value]) => `${name}: ${value}`);
  return block({ id, title: "Headers", what, body: lines.join("\n"), longestBody });
}

/** Text of any length, to read and to copy. What scrolls can be focused, so that the keyboard scrolls it too. */
function block(options: { id: string; title: string; what: string; body: string; longestBody: number }): Markup {
  const { id, title, what, body, longestBody } = options;
  if (body === "") return html`<p class="line muted">${title}: empty</p>`;
  const { text, cutFrom } = bodyText(body, { most: longestBody });
  const isLong = text.length > 1200 || text.split("\n").length > 16;
  return html`<div class="block">
      <div class="block-head"><h5>${title}</h5>${copyButton(id, what)}</div>
      ${
        isLong
          ? html`<pre class="long" tabindex="0" role="group" aria-label="${title}"><code id="${id}">${text}</code></pre>`
          : html`<pre><code id="${id}">${text}</code></pre>`
      }
      ${
        cutFrom !== undefined &&
        html`<p class="note">
          Cut here: the whole has ${cutFrom.toLocaleString("en")} characters. The log as JSON holds all of it.
        </p>`
      }
    </div>`;
}

function ids({ deliveryId, logId, at }: HubDeliveryAttempt, id: string): Markup {
  return html`<dl class="ids">
      <div>
        <dt>Delivery id</dt>
        <dd><code id="${id}-delivery">${deliveryId}</code> ${copyButton(`${id}-delivery`, "the delivery id")}</dd>
      </div>
      <div>
        <dt>Log id</dt>
        <dd><code id="${id}-log">${logId}</code> ${copyButton(`${id}-log`, "the log id")}</dd>
      </div>
      <div><dt>Sent at</dt><dd><code>${at}</code></dd></div>
    </dl>`;
}

function isSuccess({ status, error }: HubDeliveryAttempt): boolean {
  return error === null && status !== null && status >= 200 && status < 300;
}

function statusOf({ status }: HubDeliveryAttempt): string {
  return status === null ? "no answer" : String(status);
}

function inWords(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
