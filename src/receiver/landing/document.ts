import { html } from "hono/html";
import { pageDocument } from "../../console/pages/document.ts";
import { timeAgo } from "../../console/pages/elapsed.ts";
import type { Markup } from "../../console/pages/markup.ts";
import { activitySection } from "./activity-section.ts";
import { pageAddress } from "./address.ts";
import { consoleAddress } from "./console-link.ts";
import { formatCount } from "./counts.ts";
import { endpointTable } from "./endpoint-table.ts";
import { facts } from "./facts.ts";
import { freeSpaceNote } from "./free-space-note.ts";
import type { LandingInfo } from "./info.ts";
import { nextStepsSection } from "./next-steps-section.ts";

/** Renders the whole page as HTML. `assets` contains the URLs of the style sheet and script. */
export function renderDocument(info: LandingInfo, now: Date, assets: { styles: string; script: string }): string {
  const hasEndpoints = info.endpoints.length > 0;
  return pageDocument({
    ...assets,
    title: `${countEndpoints(info)} · hub-webhooks`,
    theme: info.theme,
    brand: "hub-webhooks",
    links: [
      ...(hasEndpoints
        ? [
            { to: "#endpoints", text: "Endpoints" },
            { to: "#activity", text: "Activity" },
          ]
        : []),
      { to: pageAddress(info, "health"), text: "Health" },
      { to: consoleAddress(info), text: "Console", newTab: true },
    ],
    main: html`<div class="state">
        <h1>${state(info)}</h1>
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
      ${info.space && freeSpaceNote()}`,
  });
}

function state(info: LandingInfo): Markup {
  if (info.endpoints.length === 0) return html`<mark>Ready</mark> for a first endpoint`;
  return html`${countEndpoints(info)}, <mark>ready</mark>`;
}

function countEndpoints({ endpoints: { length } }: LandingInfo): string {
  return `${formatCount(length)} ${length === 1 ? "endpoint" : "endpoints"}`;
}
