import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";
import { countOutcome, formatCount } from "./counts.ts";
import type { LandingHour } from "./info.ts";

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
export function activityChart(hours: readonly LandingHour[]): Markup {
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
  const total = totalOf(hour);
  if (total === 0) return html``;
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
