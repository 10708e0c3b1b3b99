import { html } from "hono/html";
import { breakable } from "../../console/pages/breakable.ts";
import { copyButton } from "../../console/pages/copy-button.ts";
import { timeAgo } from "../../console/pages/elapsed.ts";
import type { Markup } from "../../console/pages/markup.ts";
import { formatCount, hubDailyLimit, isNearDailyLimit } from "./counts.ts";
import type { LandingEndpoint, LandingInfo } from "./info.ts";

/** Limits the size of the public page, because a server may have thousands of endpoints. */
const maxListed = 200;

const columns = ["Endpoint", "URL", "Deliveries in 24 h", "Latest outcome"] as const;

/**
 * Renders the endpoints with their URLs to copy. The roles keep the table accessible where narrow screens display its rows as
 * blocks.
 */
export function endpointTable({ endpoints, baseUrl }: LandingInfo, now: Date): Markup {
  const unlisted = endpoints.length - maxListed;
  return html`<table role="table" aria-labelledby="endpoints">
      <thead role="rowgroup">
        <tr role="row">
          ${columns.map((name) => html`<th role="columnheader" scope="col"${name === "URL" && html` class="url-column"`}>${name}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${endpoints.slice(0, maxListed).map((endpoint, index) => endpointRow(endpoint, `url-${index}`, { baseUrl, now }))}
      </tbody>
    </table>
    ${unlisted > 0 && html`<p class="muted">${formatCount(unlisted)} more endpoints are not listed.</p>`}`;
}

function endpointRow(
  endpoint: LandingEndpoint,
  urlId: string,
  { baseUrl, now }: { baseUrl: string; now: Date },
): Markup {
  const { name, url, scopes } = endpoint;
  return html`<tr role="row">
      <th role="rowheader" scope="row">
        <span class="name">${breakable(name)}</span>
        <span class="scopes">${scopes.length === 0 ? "every scope" : breakable(scopes.join(", "))}</span>
      </th>
      <td role="cell">
        <div class="copyable">
          <code id="${urlId}">${splitUrl(url, baseUrl)}</code>
          ${copyButton(urlId, `the URL of ${name}`)}
        </div>
      </td>
      <td role="cell">${narrowLabel("Deliveries in 24 h")}${deliveries(endpoint)}</td>
      <td role="cell" class="outcome">${narrowLabel("Latest outcome")}${lastOutcome(endpoint, now)}</td>
    </tr>`;
}

/** Renders the name of a column inside a cell, for narrow screens, which do not display the header of the table. */
function narrowLabel(name: (typeof columns)[number]): Markup {
  return html`<span class="narrow-label" aria-hidden="true">${name}: </span>`;
}

/** Renders the limit only if the endpoint is near it, because the Hub counts the deliveries of each webhook separately. */
function deliveries({ lastDay }: LandingEndpoint): Markup {
  if (!isNearDailyLimit(lastDay)) return html`<b>${formatCount(lastDay)}</b>`;
  return html`<span class="dot retrying"></span><b>${formatCount(lastDay)}</b> of ${formatCount(hubDailyLimit)}`;
}

function lastOutcome({ last }: LandingEndpoint, now: Date): Markup {
  if (!last) return html`<span class="dot none"></span>none yet`;
  return html`<span class="dot ${last.outcome}"></span>${last.outcome} ${timeAgo(last.at, now)}`;
}

/** Mutes the common prefix of the URLs, so that the different parts stand out. */
function splitUrl(url: string, baseUrl: string): Markup {
  const common = `${baseUrl}/webhooks/`;
  if (!url.startsWith(common)) return breakable(url);
  return html`<span class="muted">${breakable(common)}</span>${breakable(url.slice(common.length))}`;
}
