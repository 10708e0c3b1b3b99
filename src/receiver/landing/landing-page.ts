import { html } from "hono/html";
import { copyScript, hashAssets } from "../../console/pages/assets.ts";
import type { Markup } from "../../console/pages/document.ts";
import { breakable, copyButton, pageDocument, pageResponse, timeAgo } from "../../console/pages/document.ts";
import { hubDailyLimit, isNearDailyLimit } from "../counts.ts";
import type { LandingEndpoint, LandingHour, LandingInfo } from "../options.ts";
import { consoleAddress, consoleLink, formatCount, nextStepsSection, pageAddress } from "./steps.ts";
import { styles } from "./styles.ts";

/** Renders the state of the server as named values. Each number counts one thing: deliveries or handler runs. */
function facts({ secretIsSet, endpoints, activity: { handlerTime, hours, queue } }: LandingInfo): Markup {
  const received = endpoints.reduce((total, { lastDay }) => total + lastDay, 0);
  return html`<dl class="facts">
      ${fact("Secret", secretIsSet ? withDot("succeeded", "set") : withDot("failed", "not set"))}
      ${
        endpoints.length > 0 &&
        html`${fact("Deliveries in 24 h", formatCount(received))}
      ${fact("Failed deliveries in 24 h", failures(countOutcome(hours, "failed")))}`
      }
      ${handlerTime && fact("Handler time p50 / p95", `${span(handlerTime.p50)} / ${span(handlerTime.p95)}`)}
      ${queue === "unknown" && fact("Inbox", withDot("failed", "not responding"))}
      ${
        typeof queue === "object" &&
        html`${fact("Queued", formatCount(queue.queued))}
      ${fact("Running", formatCount(queue.running))}
      ${fact("Dead", failures(queue.dead))}`
      }
    </dl>`;
}

function failures(count: number): Markup | string {
  return count > 0 ? withDot("failed", formatCount(count)) : "0";
}

function withDot(kind: string, text: Markup | string): Markup {
  return html`<span class="dot ${kind}"></span>${text}`;
}

function fact(name: string, value: Markup | string): Markup {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** Formats a duration with two or three digits. */
function span(milliseconds: number): string {
  if (milliseconds < 1) return "under 1 ms";
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1_000;
  if (seconds < 100) return `${seconds.toFixed(1)} s`;
  const minutes = seconds / 60;
  return minutes < 100 ? `${minutes.toFixed(1)} min` : `${(minutes / 60).toFixed(1)} h`;
}

/** Limits the size of the public page, because a server may have thousands of endpoints. */
const maxListed = 200;

const columns = ["Endpoint", "URL", "Deliveries in 24 h", "Latest outcome"] as const;

/**
 * Renders the endpoints with their URLs to copy. The roles keep the table accessible where narrow screens display its rows as
 * blocks.
 */
function endpointTable({ endpoints, baseUrl }: LandingInfo, now: Date): Markup {
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
  return withDot("retrying", html`<b>${formatCount(lastDay)}</b> of ${formatCount(hubDailyLimit)}`);
}

function lastOutcome({ last }: LandingEndpoint, now: Date): Markup {
  return last ? withDot(last.outcome, html`${last.outcome} ${timeAgo(last.at, now)}`) : withDot("none", "none yet");
}

/** Mutes the common prefix of the URLs, so that the different parts stand out. */
function splitUrl(url: string, baseUrl: string): Markup {
  const common = `${baseUrl}/webhooks/`;
  if (!url.startsWith(common)) return breakable(url);
  return html`<span class="muted">${breakable(common)}</span>${breakable(url.slice(common.length))}`;
}

/** The outcomes of a finished delivery, in the order in which a bar stacks them, from bottom to top. */
const outcomes = ["succeeded", "ignored", "failed"] as const;
type FinishedOutcome = (typeof outcomes)[number];

/**
 * The dimensions of the chart, which is stretched to the width of the page and therefore contains no text. Each part of a
 * bar has a minimum height, so that one failed delivery among thousands stays visible.
 */
const shape = { hours: 24, hourWidth: 40, barWidth: 30, height: 180, leastPart: 4, gap: 1.5 };

const width = shape.hours * shape.hourWidth;

/** Renders finished deliveries per hour as stacked bars with a legend, and as a table. */
function activityChart(hours: readonly LandingHour[]): Markup {
  const tallest = Math.max(1, ...hours.map(totalOf));
  const before = (shape.hours - hours.length) * shape.hourWidth;
  return html`<figure class="chart" aria-labelledby="chart-title">
      <figcaption>
        <h3 id="chart-title">Finished deliveries per hour</h3>
        <ul class="legend">
          ${outcomes.map((outcome) => legendEntry(outcome, hours))}
        </ul>
      </figcaption>
      <p class="scale">${formatCount(tallest)}</p>
      <svg class="bars" viewBox="0 0 ${width} ${shape.height}" preserveAspectRatio="none" role="img" aria-label="Finished deliveries per hour, at most ${formatCount(tallest)}. The table below contains the numbers.">
        <defs>
          <pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse">
            <rect class="ignored" width="6" height="3.5" />
          </pattern>
        </defs>
        ${before > 0 && html`<rect class="before" width="${before}" height="${shape.height}"><title>Before the start</title></rect>`}
        ${hours.map((hour, index) => bar(hour, shape.hours - hours.length + index, tallest))}
      </svg>
      <p class="axis">
        <span>23 hours ago</span>
        <span>this hour</span>
      </p>
      <details>
        <summary>Show as a table</summary>
        ${table(hours)}
      </details>
    </figure>`;
}

function legendEntry(outcome: FinishedOutcome, hours: readonly LandingHour[]): Markup {
  return html`<li>
      <svg class="key" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">${part(outcome, { x: 0, y: 0, width: 12, height: 12 })}</svg>
      ${outcome} <b>${formatCount(countOutcome(hours, outcome))}</b>
    </li>`;
}

function bar(hour: LandingHour, place: number, tallest: number): Markup {
  if (totalOf(hour) === 0) return html``;
  const shown = outcomes.filter((outcome) => hour[outcome] > 0);
  const x = place * shape.hourWidth + (shape.hourWidth - shape.barWidth) / 2;
  const heights = shown.map((outcome) => Math.max(shape.leastPart, (hour[outcome] / tallest) * shape.height));
  // Minimum heights must not make a bar taller than the chart, so the largest part shrinks by the excess.
  const excess = heights.reduce((sum, height) => sum + height, 0) - shape.height;
  if (excess > 0) heights[heights.indexOf(Math.max(...heights))] = Math.max(...heights) - excess;
  let y = shape.height;
  const parts = shown.map((outcome, index) => {
    const height = heights[index] ?? 0;
    y -= height;
    const gap = index === 0 ? 0 : shape.gap;
    return part(outcome, { x, y: round(y), width: shape.barWidth, height: round(height - gap) });
  });
  const counts = shown.map((outcome) => `${formatCount(hour[outcome])} ${outcome}`).join(", ");
  return html`<g><title>${clock(hour)} UTC: ${counts}</title>${parts}</g>`;
}

function part(
  outcome: FinishedOutcome,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
): Markup {
  const fill = outcome === "ignored" ? html`fill="url(#stripes)"` : html`class="${outcome}"`;
  return html`<rect ${fill} x="${x}" y="${y}" width="${width}" height="${height}" />`;
}

function table(hours: readonly LandingHour[]): Markup {
  return html`<table>
      <caption>Finished deliveries per hour in UTC, latest hour first</caption>
      <thead>
        <tr><th scope="col">Hour</th>${outcomes.map((outcome) => html`<th scope="col">${outcome}</th>`)}</tr>
      </thead>
      <tbody>
        ${hours.toReversed().map(
          (hour) => html`<tr>
          <th scope="row"><time datetime="${hour.startedAt}">${clock(hour)}</time></th>
          ${outcomes.map((outcome) => html`<td>${formatCount(hour[outcome])}</td>`)}
        </tr>`,
        )}
      </tbody>
    </table>`;
}

function countOutcome(hours: readonly LandingHour[], outcome: FinishedOutcome | "retrying"): number {
  return hours.reduce((total, hour) => total + hour[outcome], 0);
}

function totalOf(hour: LandingHour): number {
  return outcomes.reduce((total, outcome) => total + hour[outcome], 0);
}

/** Formats the clock hour of an ISO 8601 time, such as `09:00`. */
function clock({ startedAt }: LandingHour): string {
  return startedAt.slice(11, 16);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function activitySection(info: LandingInfo): Markup {
  const { hours } = info.activity;
  const retrying = countOutcome(hours, "retrying");
  const isEmpty = hours.every((hour) => totalOf(hour) === 0);
  return html`<section class="activity" aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      ${isEmpty ? html`<p class="muted">No delivery has finished since the server started.</p>` : activityChart(hours)}
      <p class="muted">
        ${retrying > 0 && html`Failed attempts with a retry in 24 h: <b>${formatCount(retrying)}</b>. `}See each delivery in
        ${consoleLink(info)}.
      </p>
    </section>`;
}

const freeSpaceNote = html`<aside class="notice" aria-labelledby="free-space">
      <h2 id="free-space">Free hardware</h2>
      <p>
        A free <code>cpu-basic</code> Space sleeps after 48 hours without a request, and loses its disk at every restart. Store
        data in a bucket or an external database.
      </p>
    </aside>`;

function renderDocument(info: LandingInfo, now: Date): string {
  const hasEndpoints = info.endpoints.length > 0;
  return pageDocument({
    styles: pageAddress(info, `_landing/${assets.nameOf("styles.css")}`),
    script: pageAddress(info, `_landing/${assets.nameOf("copy.js")}`),
    title: `${countEndpoints(info)} · hub-webhooks`,
    theme: info.theme,
    brand: "hub-webhooks",
    links: [
      ...(hasEndpoints ? [{ to: "#endpoints", text: "Endpoints" }] : []),
      ...(hasEndpoints ? [{ to: "#activity", text: "Activity" }] : []),
      { to: pageAddress(info, "health"), text: "Health" },
      { to: consoleAddress(info), text: "Console", newTab: true },
    ],
    main: html`<div class="state">
        <h1>${hasEndpoints ? html`${countEndpoints(info)}, <mark>ready</mark>` : html`<mark>Ready</mark> for a first endpoint`}</h1>
        <p class="lead">
          Receives webhooks of the Hugging Face Hub${info.space && html` in the Space ${info.space.id}`}. Started
          ${timeAgo(info.startedAt, now)}. A restart resets the counts.
        </p>
      </div>
      ${facts(info)}
      <div class="columns">
        ${nextStepsSection(info)}
        ${
          hasEndpoints &&
          html`<section class="endpoints" aria-labelledby="endpoints">
          <h2 id="endpoints">Endpoints</h2>
          ${endpointTable(info, now)}
        </section>
        ${activitySection(info)}`
        }
      </div>
      ${info.space && freeSpaceNote}`,
  });
}

function countEndpoints({ endpoints: { length } }: LandingInfo): string {
  return `${formatCount(length)} ${length === 1 ? "endpoint" : "endpoints"}`;
}

const assets = hashAssets({ "styles.css": styles, "copy.js": copyScript });

let rendered = { state: "", html: "" };

/**
 * Renders the built-in landing page. Caches it, because it is public: it is rendered again when its content changes, and at most once a
 * second otherwise. `now`: the time for relative times such as "2 minutes ago".
 */
export function landingPage(info: LandingInfo, now: Date = new Date()): Response {
  const second = Math.floor(now.getTime() / 1_000);
  const state = JSON.stringify([second, info]);
  if (rendered.state !== state) rendered = { state, html: renderDocument(info, now) };
  return pageResponse(rendered.html);
}

/**
 * Returns the style sheet or script with this file name, or `undefined` for an unknown name. The name contains a hash of the
 * content, so browsers may cache the file without a limit.
 */
export function landingAsset(name: string): Response | undefined {
  return assets.answer(name);
}
