import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";
import { activityChart } from "./activity-chart.ts";
import { pageAddress } from "./address.ts";
import { dailyLimitWarning, dayFact } from "./daily-limit.ts";
import type { LandingActivity, LandingInfo } from "./info.ts";

/** Renders the activity since the server started, without details of payloads or repositories. */
export function activitySection(info: LandingInfo): Markup {
  const { activity, endpoints } = info;
  const { hours, handlerTime, queue } = activity;
  const isEmpty = endpoints.every(({ deliveries, last }) => deliveries === 0 && !last);
  return html`<section aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      ${dailyLimitWarning(endpoints)}
      ${
        (queue || !isEmpty) &&
        html`<dl class="facts">
          ${dayFact(endpoints)}
          ${handlerTime && html`<div><dt>Handler time, p50 and p95</dt><dd>${span(handlerTime.p50)}, ${span(handlerTime.p95)}</dd></div>`}
          ${queue && html`<div><dt>In the inbox</dt><dd>${queueText(queue)}</dd></div>`}
        </dl>`
      }
      ${endpoints.some(({ background }) => background) && dashboardLink(info)}
      ${isEmpty ? emptyState() : activityChart(hours)}
    </section>`;
}

function queueText(queue: NonNullable<LandingActivity["queue"]>): Markup {
  if (queue === "unknown") return html`<span class="dot open"></span>unknown`;
  return html`${queue.queued.toLocaleString("en")} queued, ${queue.running.toLocaleString("en")} running`;
}

/**
 * Opens the dashboard in a new tab: a Space displays this page in a frame, but the dashboard cannot be displayed in a frame.
 */
function dashboardLink(info: LandingInfo): Markup {
  return html`<p class="dashboard-link">
      Each delivery of the background endpoints, with its payload and its attempts, is in
      <a href="${pageAddress(info, "_deliveries")}" target="_blank" rel="noopener">the owner's dashboard<span class="unseen"> (opens a new tab)</span></a>.
    </p>`;
}

function emptyState(): Markup {
  return html`<div class="card empty">
      <p class="empty-title">No delivery yet</p>
      <p class="muted">From the first one on, this shows how deliveries ended, hour by hour. It begins anew with the process.</p>
    </div>`;
}

/** Formats a duration for display with two or three digits. */
function span(milliseconds: number): string {
  if (milliseconds < 1) return "under 1 ms";
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const minutes = seconds / 60;
  return minutes < 100 ? `${minutes.toFixed(1)} min` : `${(minutes / 60).toFixed(1)} h`;
}
