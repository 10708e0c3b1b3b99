import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";
import { countDeliveries, countOutcome, formatCount } from "./counts.ts";
import type { LandingActivity, LandingInfo } from "./info.ts";

/** Renders the state of the server as named values. Each number counts one thing: deliveries or handler runs. */
export function facts(info: LandingInfo): Markup {
  const { secretIsSet, endpoints, activity } = info;
  const { handlerTime, hours, queue } = activity;
  const failed = countOutcome(hours, "failed");
  return html`<dl class="facts">
      ${fact("Secret", secretIsSet ? html`<span class="dot succeeded"></span>set` : html`<span class="dot failed"></span>not set`)}
      ${
        endpoints.length > 0 &&
        html`${fact("Deliveries in 24 h", formatCount(countDeliveries(info)))}
      ${fact("Failed deliveries in 24 h", failed > 0 ? html`<span class="dot failed"></span>${formatCount(failed)}` : "0")}`
      }
      ${handlerTime && fact("Handler time p50 / p95", `${span(handlerTime.p50)} / ${span(handlerTime.p95)}`)}
      ${queue && queueFacts(queue)}
    </dl>`;
}

function queueFacts(queue: NonNullable<LandingActivity["queue"]>): Markup {
  if (queue === "unknown") return fact("Inbox", html`<span class="dot failed"></span>not responding`);
  const { queued, running, dead } = queue;
  return html`${fact("Queued", formatCount(queued))}
      ${fact("Running", formatCount(running))}
      ${fact("Dead", dead > 0 ? html`<span class="dot failed"></span>${formatCount(dead)}` : "0")}`;
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
