import { html } from "hono/html";
import { breakable } from "../../console/breakable.ts";
import type { Markup } from "../../console/markup.ts";
import type { DeliveryCounts, DeliveryPage, DeliveryStatus } from "../../inbox/inbox.ts";
import { listAddress } from "./address.ts";
import { deliveryRow } from "./delivery-row.ts";
import { madeAt } from "./made-at.ts";
import { deadEndpoints } from "./replay-dead.ts";
import { dots, statuses } from "./status.ts";

/** What the list shows. */
export interface ListView extends DeliveryPage {
  /** Those that were chosen; absent: all. */
  status?: DeliveryStatus;
  endpoint?: string;
  counts: Readonly<Record<string, DeliveryCounts>>;
  /** The endpoints of this server that work in the background; the inbox may hold more. */
  endpointNames: readonly string[];
  isFirstPage: boolean;
  now: Date;
}

/** A server may have ten thousand endpoints. */
const mostEndpoints = 40;

/** Names the list, for the browser's tab. */
export function listTitle(view: ListView): string {
  const { dead } = totals(view);
  return dead === 0 ? "Deliveries" : `${counted(dead)} dead`;
}

/** The deliveries by status, newest first. */
export function listMain(view: ListView): Markup {
  const { status, endpoint, next, isFirstPage } = view;
  return html`<div data-live id="overview">
        <h1>${headline(view)}</h1>
        ${tabs(view)}
        ${endpointLinks(view)}
        ${status === "dead" && deadEndpoints(view.counts, view.endpoint)}
      </div>
      <section aria-labelledby="deliveries">
        <div class="section-head">
          <h2 id="deliveries">${heading(view)}</h2>
          <button class="live" type="button" id="live">Pause updates</button>
        </div>
        ${madeAt(view.now)}
        ${rows(view)}
        ${
          (next !== undefined || !isFirstPage) &&
          html`<nav class="pages" aria-label="Pages">
            ${!isFirstPage && html`<a href="${listAddress({ status, endpoint })}">Newest deliveries</a>`}
            ${next !== undefined && html`<a href="${listAddress({ status, endpoint, cursor: next })}">Older deliveries</a>`}
          </nav>`
        }
      </section>`;
}

function headline(view: ListView): Markup {
  const { queued, running, succeeded, dead } = totals(view);
  const onTheirWay = queued + running;
  if (dead > 0) return html`<mark>${counted(dead)} dead</mark> ${dead === 1 ? "delivery" : "deliveries"}`;
  if (onTheirWay > 0) return html`<mark>${counted(onTheirWay)}</mark> on ${onTheirWay === 1 ? "its" : "their"} way`;
  return succeeded > 0 ? html`All <mark>done</mark>` : html`<mark>Ready</mark> for a first delivery`;
}

function heading({ status, endpoint }: ListView): Markup | string {
  const which = status === undefined ? "All deliveries" : `${status.charAt(0).toUpperCase()}${status.slice(1)}`;
  return endpoint === undefined ? which : html`${which} of <bdi>${breakable(endpoint)}</bdi>`;
}

function tabs(view: ListView): Markup {
  const total = totals(view);
  const all = statuses.reduce((sum, status) => sum + total[status], 0);
  const tab = (status: DeliveryStatus | undefined, count: number) =>
    html`<a href="${listAddress({ status, endpoint: view.endpoint })}" ${status === view.status && html`aria-current="page"`}>
        <span>${status !== undefined && html`<span class="dot ${dots[status]}"></span>`}${status ?? "all"}</span>
        <b>${counted(count)}</b>
      </a>`;
  return html`<nav class="tabs" aria-label="Status">
      ${tab(undefined, all)}
      ${statuses.map((status) => tab(status, total[status]))}
    </nav>`;
}

function endpointLinks({ status, endpoint: chosen, counts, endpointNames }: ListView): Markup {
  const names = [...new Set([...endpointNames, ...Object.keys(counts)])].toSorted();
  if (names.length < 2 && chosen === undefined) return html``;
  const listed = names.slice(0, mostEndpoints);
  const link = (endpoint: string | undefined, text: Markup | string) =>
    html`<li><a href="${listAddress({ status, endpoint })}" ${endpoint === chosen && html`aria-current="page"`}>${text}</a></li>`;
  return html`<nav class="endpoint-links" aria-label="Endpoint">
      <ul class="chips">
        ${link(undefined, "every endpoint")}
        ${listed.map((name) => link(name, breakable(name)))}
        ${names.length > listed.length && html`<li class="muted">${counted(names.length - listed.length)} more</li>`}
      </ul>
    </nav>`;
}

function rows(view: ListView): Markup {
  const { deliveries, now, status, isFirstPage } = view;
  if (deliveries.length > 0) {
    return html`<ol class="rows" data-live id="rows">${deliveries.map((delivery) => deliveryRow(delivery, now))}</ol>`;
  }
  return html`<div class="card empty" data-live id="rows">
      <p class="empty-title">${isFirstPage && status !== undefined ? `Nothing is ${status}` : "Nothing here"}</p>
      <p class="muted">
        ${
          status === "dead"
            ? "What fails at all its attempts is kept here, to be replayed."
            : "What a background endpoint is sent appears here, as long as its retention lasts."
        }
      </p>
    </div>`;
}

function totals({ counts, endpoint }: ListView): Record<DeliveryStatus, number> {
  const chosen = Object.entries(counts).filter(([name]) => endpoint === undefined || name === endpoint);
  const sum = (status: DeliveryStatus) => chosen.reduce((total, [, count]) => total + count[status], 0);
  return { queued: sum("queued"), running: sum("running"), succeeded: sum("succeeded"), dead: sum("dead") };
}

function counted(count: number): string {
  return count.toLocaleString("en");
}
