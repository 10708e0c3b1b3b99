import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";
import { shorten } from "../../core/shorten.ts";
import type { DeliveryAttempt, StoredDelivery } from "../../inbox/inbox.ts";
import { lasting, moment, timeUntil } from "./moment.ts";

/** What is replayed again and again has many. */
const mostListed = 50;
const longestMessage = 10_000;
const dotOf = { succeeded: "succeeded", failed: "failed", abandoned: "open" } as const;

/** What was tried, newest first: the last failure is what the reader came for. */
export function attemptList({ attempts, status, dueAt, startedAt }: StoredDelivery, now: Date): Markup {
  const listed = attempts.slice(-mostListed).toReversed();
  const unlisted = attempts.length - listed.length;
  return html`<div data-live id="attempt-list">
      ${status === "queued" && dueAt && html`<p class="line">Attempt ${attempts.length + 1} is due ${timeUntil(dueAt, now)}.</p>`}
      ${
        status === "running" &&
        html`<p class="line">Attempt ${attempts.length + 1} is running${startedAt && html` since ${moment(startedAt)}`}.</p>`
      }
      ${attempts.length > 0 && html`<ol class="attempts" reversed>${listed.map(attemptItem)}</ol>`}
      ${unlisted > 0 && html`<p class="note">${unlisted.toLocaleString("en")} earlier ones are not shown.</p>`}
    </div>`;
}

function attemptItem({ number, startedAt, durationMs, outcome, error }: DeliveryAttempt): Markup {
  return html`<li>
      <p class="attempt-head">
        <b>Attempt ${number}</b>
        <span><span class="dot ${dotOf[outcome]}"></span>${outcome}</span>
        <span class="muted">${startedAt ? moment(startedAt) : "start unknown"}</span>
        ${durationMs !== undefined && html`<span class="muted">${lasting(durationMs)}</span>`}
      </p>
      ${error && failure(error, number)}
    </li>`;
}

function failure({ code, message }: { code: string; message: string }, number: number): Markup {
  const text = shorten(message, longestMessage);
  const isLong = text.length > 800 || text.split("\n").length > 12;
  return html`<div class="failure">
      <p><code>${code}</code></p>
      ${
        isLong
          ? html`<pre class="long" tabindex="0" role="group" aria-label="Error of attempt ${number}">${text}</pre>`
          : html`<pre>${text}</pre>`
      }
    </div>`;
}
