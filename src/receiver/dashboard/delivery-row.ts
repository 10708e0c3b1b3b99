import { html } from "hono/html";
import { breakable } from "../../console/breakable.ts";
import { timeAgo } from "../../console/elapsed.ts";
import { summarizeEvent } from "../../console/event-summary.ts";
import type { Markup } from "../../console/markup.ts";
import { shorten } from "../../core/shorten.ts";
import type { StoredDelivery } from "../../inbox/inbox.ts";
import { deliveryAddress } from "./address.ts";
import { timeUntil } from "./moment.ts";
import { dots, statusWord } from "./status.ts";

const longestError = 160;

/** One delivery in the list: a link to all that is known of it. */
export function deliveryRow(delivery: StoredDelivery, now: Date): Markup {
  const { id, endpoint, status, receivedAt, dueAt, attempts } = delivery;
  const error = status === "succeeded" ? undefined : attempts.at(-1)?.error;
  return html`<li>
      <a class="row" href="${deliveryAddress({ endpoint, id })}">
        <span class="status"><span class="dot ${dots[status]}"></span>${statusWord(delivery)}</span>
        ${about(delivery)}
        <span class="attempt">${attemptCount(delivery)}</span>
        <span class="when">${timeAgo(receivedAt.toISOString(), now)}</span>
        <span class="origin">
          <bdi>${breakable(endpoint)}</bdi>
          <code class="muted">${shorten(id, 60)}</code>
          ${dueAt && attempts.length > 0 && html`<span class="muted">next attempt ${timeUntil(dueAt, now)}</span>`}
        </span>
        ${error && html`<span class="error"><b>${error.code}</b> ${shorten(error.message, longestError)}</span>`}
      </a>
    </li>`;
}

function about({ body }: StoredDelivery): Markup {
  const event = summarizeEvent(body);
  if (!event) return html`<span class="event muted">a payload without an event</span>`;
  return html`<span class="event"><bdi>${event.what}</bdi> <bdi class="muted">${breakable(event.repo)}</bdi></span>`;
}

function attemptCount({ attempts: { length } }: StoredDelivery): string {
  if (length === 0) return "";
  return length === 1 ? "1 attempt" : `${length.toLocaleString("en")} attempts`;
}
