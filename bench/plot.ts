import type { Bar, Chart } from "./report.ts";

const width = 760;
const labelWidth = 190;
const valueWidth = 120;
const rowHeight = 26;
const headingHeight = 46;
const gap = 26;

/** Draws the charts as one SVG for light and dark pages. Each bar has its value and the range of its rounds. */
export function plot(charts: readonly Chart[]): string {
  let top = 16;
  const drawn = charts.map((chart) => {
    const group = `<g transform="translate(20 ${top})">${drawChart(chart)}</g>`;
    top += headingHeight + chart.bars.length * rowHeight + gap;
    return group;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" role="img" aria-label="Ratios of the benchmark">`,
    "<style>",
    "  text { font: 13px system-ui, sans-serif; fill: #1c1b19 } .title { font-weight: 600; font-size: 15px } .quiet { fill: #5e5a52 }",
    "  .paper { fill: #fdfcf9 } .bar { fill: #968f7f } .ours { fill: #b88700 } .value { paint-order: stroke; stroke: #fdfcf9; stroke-width: 4px } .range { stroke: #1c1b19; stroke-width: 1.5 } .one { stroke: #5e5a52; stroke-dasharray: 3 3 }",
    "  @media (prefers-color-scheme: dark) { text { fill: #f3f0e8 } .quiet { fill: #b5afa2 } .paper { fill: #1c1b19 } .bar { fill: #7d7668 } .ours { fill: #ffd21e } .value { stroke: #1c1b19 } .range { stroke: #f3f0e8 } .one { stroke: #b5afa2 } }",
    "</style>",
    `<rect class="paper" width="${width}" height="${top}" />`,
    ...drawn,
    "</svg>",
    "",
  ].join("\n");
}

function drawChart({ title, better, bars }: Chart): string {
  const space = width - 40 - labelWidth - valueWidth;
  const most = Math.max(1, ...bars.map(({ high }) => high));
  const x = (ratio: number) => (labelWidth + (ratio / most) * space).toFixed(1);
  const bottom = headingHeight + bars.length * rowHeight;
  return [
    `<text class="title" y="14">${escapeText(title)}</text>`,
    `<text class="quiet" y="32">Median of all rounds, and the range between them; ${better} is better.</text>`,
    `<line class="one" x1="${x(1)}" x2="${x(1)}" y1="${headingHeight - 4}" y2="${bottom}" />`,
    ...bars.map((bar, index) => drawBar(bar, { x, y: headingHeight + index * rowHeight })),
  ].join("\n");
}

function drawBar({ name, ratio, low, high }: Bar, { x, y }: { x: (ratio: number) => string; y: number }): string {
  const isOurs = /^(?:hub-webhooks|accepted)/.test(name);
  const middle = y + 9;
  return [
    `<text x="${labelWidth - 10}" y="${y + 14}" text-anchor="end">${escapeText(name)}</text>`,
    `<rect class="${isOurs ? "ours" : "bar"}" x="${labelWidth}" y="${y}" height="18" width="${(Number(x(ratio)) - labelWidth).toFixed(1)}" />`,
    `<line class="range" x1="${x(low)}" x2="${x(high)}" y1="${middle}" y2="${middle}" />`,
    `<text class="value" x="${Number(x(high)) + 8}" y="${y + 14}">${ratio.toFixed(2)}</text>`,
  ].join("");
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
