import { html } from "hono/html";
import { bodyText } from "../../console/body-text.ts";
import { breakable } from "../../console/breakable.ts";
import { copyButton } from "../../console/copy-button.ts";
import { summarizeEvent } from "../../console/event-summary.ts";
import type { Markup } from "../../console/markup.ts";
import type { StoredDelivery } from "../../inbox/inbox.ts";
import { bodyAddress, listAddress } from "./address.ts";
import { attemptList } from "./attempt-list.ts";
import { madeAt } from "./made-at.ts";
import { lasting, moment, timeUntil } from "./moment.ts";

/** What the page of a delivery shows. */
export interface DeliveryView {
  delivery: StoredDelivery;
  /** Whether an endpoint of this server works on it. */
  isWorkedOn: boolean;
  now: Date;
}

/** In characters; a payload may list ten thousand files. */
const longestBody = 100_000;

/** Names the delivery, for the browser's tab. */
export function deliveryTitle({ delivery: { status, endpoint } }: DeliveryView): string {
  return `${status} · ${endpoint}`;
}

/** A delivery: how it fares, what was tried, and what it says. */
export function deliveryMain(view: DeliveryView): Markup {
  const { delivery, isWorkedOn, now } = view;
  const { id, endpoint } = delivery;
  const event = summarizeEvent(delivery.body);
  return html`<div data-live id="overview">
        <h1>${headline(delivery)}</h1>
        <p class="lead about">
          ${event ? html`<b><bdi>${event.what}</bdi></b> <bdi>${breakable(event.repo)}</bdi>` : "A payload without an event"}
        </p>
        ${facts(view)}
      </div>
      ${
        !isWorkedOn &&
        html`<p class="notice warning">
          <span class="warning-sign" aria-hidden="true">!</span>This server has no background endpoint of that name: nobody
          works on it here.
        </p>`
      }
      ${actions(delivery)}
      <section aria-labelledby="attempts">
        <div class="section-head">
          <h2 id="attempts">Attempts</h2>
          <button class="live" type="button" id="live">Pause updates</button>
        </div>
        ${madeAt(now)}
        ${attemptList(delivery, now)}
      </section>
      <section aria-labelledby="payload-title">
        <div class="section-head">
          <h2 id="payload-title">Payload</h2>
          ${delivery.body && copyButton("payload", "the payload")}
        </div>
        ${payload(delivery)}
      </section>
      <section aria-labelledby="delivery-id-title">
        <h2 id="delivery-id-title">Delivery id</h2>
        <div class="copyable"><code id="delivery-id">${id}</code>${copyButton("delivery-id", "the delivery id")}</div>
        <p class="note">
          What the Hub sends again comes with the same id.
          <a href="${listAddress({ endpoint })}">All deliveries of this endpoint</a>
        </p>
      </section>`;
}

function headline({ status, attempts: { length } }: StoredDelivery): Markup {
  switch (status) {
    case "dead":
      return html`<mark>Dead</mark> after ${length === 1 ? "one attempt" : `${length.toLocaleString("en")} attempts`}`;
    case "succeeded":
      return html`<mark>Succeeded</mark> at attempt ${length.toLocaleString("en")}`;
    case "running":
      return html`<mark>Running</mark>, attempt ${(length + 1).toLocaleString("en")}`;
    case "queued":
      return length === 0 ? html`<mark>Queued</mark>` : html`<mark>Queued</mark> for attempt ${length + 1}`;
  }
}

function facts({ delivery, now }: DeliveryView): Markup {
  const { endpoint, receivedAt, dueAt, finishedAt, attempts } = delivery;
  const first = attempts[0];
  const between = (from: Date, to: Date) => lasting(to.getTime() - from.getTime());
  return html`<dl class="facts">
      <div><dt>Endpoint</dt><dd><bdi>${breakable(endpoint)}</bdi></dd></div>
      <div><dt>Received</dt><dd>${moment(receivedAt)}</dd></div>
      ${first?.startedAt && html`<div><dt>Waited before the first attempt</dt><dd>${between(receivedAt, first.startedAt)}</dd></div>`}
      ${finishedAt && html`<div><dt>From arrival to end</dt><dd>${between(receivedAt, finishedAt)}</dd></div>`}
      ${dueAt && html`<div><dt>Next attempt</dt><dd>${timeUntil(dueAt, now)}</dd></div>`}
    </dl>`;
}

function actions({ id, endpoint, body }: StoredDelivery): Markup {
  if (body === undefined) return html`<p class="note">Its body is not kept any more, so it cannot be replayed.</p>`;
  return html`<div class="actions">
      <button class="act" type="button" data-replay="${id}" data-endpoint="${endpoint}">
        <span data-label>Replay</span><span class="unseen"> this delivery</span>
      </button>
      <p class="act-outcome muted" data-outcome>Runs the handler on it again, whatever became of it.</p>
    </div>`;
}

function payload(delivery: StoredDelivery): Markup {
  const { body } = delivery;
  if (body === undefined) return html`<p class="note">Not kept any more.</p>`;
  if (body === "") return html`<p class="note">Empty.</p>`;
  const { text, cutFrom } = bodyText(body, { most: longestBody });
  const isLong = text.length > 2_000 || text.split("\n").length > 30;
  // What scrolls can be focused, so that the keyboard scrolls it too.
  return html`${
    isLong
      ? html`<pre class="payload long" tabindex="0" role="group" aria-label="Payload"><code id="payload">${text}</code></pre>`
      : html`<pre class="payload"><code id="payload">${text}</code></pre>`
  }
      <p class="note">
        ${cutFrom !== undefined && `Cut here: the whole has ${cutFrom.toLocaleString("en")} characters.`}
        <a href="${bodyAddress(delivery)}">The body as it arrived, as plain text</a>
      </p>`;
}
