import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";
import { activityChart } from "./activity-chart.ts";
import { consoleLink } from "./console-link.ts";
import { countOutcome, formatCount } from "./counts.ts";
import type { LandingInfo } from "./info.ts";

/** Renders the finished deliveries per hour, without details of payloads or repositories. */
export function activitySection(info: LandingInfo): Markup {
  const { hours } = info.activity;
  const retrying = countOutcome(hours, "retrying");
  const isEmpty = hours.every((hour) => hour.succeeded + hour.ignored + hour.failed === 0);
  return html`<section class="activity" aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      ${isEmpty ? html`<p class="muted">No delivery has finished since the server started.</p>` : activityChart(hours)}
      <p class="muted">
        ${retrying > 0 && html`Failed attempts with a retry in 24 h: <b>${formatCount(retrying)}</b>. `}See each delivery in
        ${consoleLink(info, "the console")}.
      </p>
    </section>`;
}
