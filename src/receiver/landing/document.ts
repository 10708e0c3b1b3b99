import { html } from "hono/html";
import { pageDocument } from "../../console/document.ts";
import { timeAgo } from "../../console/elapsed.ts";
import type { Markup } from "../../console/markup.ts";
import { activitySection } from "./activity-section.ts";
import { pageAddress } from "./address.ts";
import { endpointList } from "./endpoint-list.ts";
import type { LandingInfo } from "./info.ts";
import { nextSteps } from "./next-steps.ts";
import { freeSpaceNote, openServerWarning } from "./notices.ts";

/** Renders the whole page as HTML. `assets` contains the URLs of the style sheet and script. */
export function renderDocument(info: LandingInfo, now: Date, assets: { styles: string; script: string }): string {
  return pageDocument({
    ...assets,
    title: `${countEndpoints(info)} · hub-webhooks`,
    theme: info.theme,
    brand: "hub-webhooks",
    links: [
      { to: "#endpoints", text: "Endpoints" },
      ...(info.endpoints.length > 0 ? [{ to: "#activity", text: "Activity" }] : []),
      { to: "#next", text: "Next steps" },
      { to: pageAddress(info, "health"), text: "Health" },
    ],
    main: html`<h1>${state(info)}</h1>
      <p class="lead">This server receives webhooks of the Hugging Face Hub.</p>
      ${facts(info, now)}
      ${!info.secretIsSet && openServerWarning(info.space)}
      <section aria-labelledby="endpoints">
        <h2 id="endpoints">Endpoints</h2>
        ${endpointList(info, now)}
      </section>
      ${info.endpoints.length > 0 && activitySection(info)}
      <section aria-labelledby="next">
        <h2 id="next">What to do next</h2>
        ${nextSteps(info)}
      </section>
      ${info.space && freeSpaceNote()}`,
  });
}

function state(info: LandingInfo): Markup {
  if (info.endpoints.length === 0) return html`<mark>Ready</mark> for a first endpoint`;
  return html`${countEndpoints(info)}, <mark>ready</mark>`;
}

function countEndpoints({ endpoints: { length } }: LandingInfo): string {
  return `${length.toLocaleString("en")} ${length === 1 ? "endpoint" : "endpoints"}`;
}

function facts({ endpoints, secretIsSet, startedAt, space }: LandingInfo, now: Date): Markup {
  const deliveries = endpoints.reduce((total, endpoint) => total + endpoint.deliveries, 0);
  return html`<dl class="facts">
      <div>
        <dt>Secret</dt>
        <dd>${secretIsSet ? html`<span class="dot succeeded"></span>set` : html`<span class="dot open"></span>not set`}</dd>
      </div>
      <div><dt>Started</dt><dd>${timeAgo(startedAt, now)}</dd></div>
      <div><dt>Deliveries since then</dt><dd>${deliveries.toLocaleString("en")}</dd></div>
      ${space && html`<div><dt>Space</dt><dd>${space.id}</dd></div>`}
    </dl>`;
}
