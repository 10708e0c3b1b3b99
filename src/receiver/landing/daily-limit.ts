import { html } from "hono/html";
import { breakable } from "../../console/breakable.ts";
import type { Markup } from "../../console/markup.ts";
import { shorten } from "../../core/shorten.ts";
import type { LandingEndpoint } from "./info.ts";

/** The maximum number of times that the Hub triggers a webhook in 24 hours. */
const hubLimit = 1_000;

/** The number of deliveries from which the page displays a warning. */
const warnedFrom = 0.8 * hubLimit;

/** Limits the size of the page if thousands of endpoints are near the limit. */
const mostNamed = 5;

/** Renders the highest daily count of any endpoint, because the Hub counts the deliveries of each webhook separately. */
export function dayFact(endpoints: readonly LandingEndpoint[]): Markup {
  const busiest = endpoints.reduce<LandingEndpoint | undefined>(
    (most, endpoint) => (endpoint.lastDay > (most?.lastDay ?? 0) ? endpoint : most),
    undefined,
  );
  const count = busiest?.lastDay ?? 0;
  return html`<div>
      <dt>Busiest endpoint in 24 hours</dt>
      <dd>
        ${count >= warnedFrom && html`<span class="dot open"></span>`}${count.toLocaleString("en")}
        <span class="of">of the Hub’s ${hubLimit.toLocaleString("en")}</span>
        ${busiest && endpoints.length > 1 && html`<span class="busiest">${breakable(shorten(busiest.name, 40))}</span>`}
      </dd>
    </div>`;
}

/** Renders a warning if endpoints are near the Hub's daily limit, and otherwise an empty text. */
export function dailyLimitWarning(endpoints: readonly LandingEndpoint[]): Markup | undefined {
  const near = endpoints
    .filter(({ lastDay }) => lastDay >= warnedFrom)
    .sort((one, other) => other.lastDay - one.lastDay);
  if (near.length === 0) return undefined;
  const unnamed = near.length - mostNamed;
  return html`<aside class="notice warning" aria-labelledby="daily-limit">
      <h3 id="daily-limit"><span class="warning-sign" aria-hidden="true">!</span>Near the Hub’s daily limit</h3>
      <p>The Hub triggers a webhook at most ${hubLimit.toLocaleString("en")} times in 24 hours. Deliveries in the last 24:</p>
      <ul class="near">
        ${near
          .slice(0, mostNamed)
          .map(({ name, lastDay }) => html`<li><b>${lastDay.toLocaleString("en")}</b> to ${breakable(name)}</li>`)}
        ${unnamed > 0 && html`<li>and, to ${unnamed.toLocaleString("en")} more, no fewer than ${warnedFrom.toLocaleString("en")}</li>`}
      </ul>
      <p>Let the webhook watch fewer repositories, or share them out among several: each has a count of its own.</p>
    </aside>`;
}
