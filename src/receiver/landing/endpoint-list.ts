import { html } from "hono/html";
import { breakable } from "../../console/breakable.ts";
import { copyButton } from "../../console/copy-button.ts";
import { timeAgo } from "../../console/elapsed.ts";
import type { Markup } from "../../console/markup.ts";
import type { LandingEndpoint, LandingInfo } from "./info.ts";

/** Limits the size of the public page, because a server may have thousands of endpoints. */
const mostListed = 200;

/** Renders the endpoints with their URLs to copy, or sample code if the server has no endpoints. */
export function endpointList({ endpoints, baseUrl }: LandingInfo, now: Date): Markup {
  if (endpoints.length === 0) return emptyState();
  const unlisted = endpoints.length - mostListed;
  return html`<ul class="endpoints">
      ${endpoints.slice(0, mostListed).map((endpoint, index) => endpointCard(endpoint, `url-${index}`, baseUrl, now))}
    </ul>
    ${unlisted > 0 && html`<p class="muted">${unlisted.toLocaleString("en")} more are served, but not listed here.</p>`}`;
}

function endpointCard(endpoint: LandingEndpoint, urlId: string, baseUrl: string, now: Date): Markup {
  const { name, method, url, scopes, deliveries } = endpoint;
  return html`<li class="card endpoint">
      <div class="endpoint-head">
        <span class="method">${method}</span>
        <h3>${breakable(name)}</h3>
        <p class="outcome">${lastOutcome(endpoint, now)}</p>
      </div>
      <div class="copyable">
        <code id="${urlId}">${splitUrl(url, baseUrl)}</code>
        ${copyButton(urlId, `the URL of ${name}`)}
      </div>
      <div class="endpoint-foot">
        <ul class="chips" aria-label="Scopes">
          ${scopes.length === 0 ? html`<li>every scope</li>` : scopes.map((scope) => html`<li><code>${scope}</code></li>`)}
        </ul>
        <p>${deliveries.toLocaleString("en")} ${deliveries === 1 ? "delivery" : "deliveries"}</p>
      </div>
    </li>`;
}

function lastOutcome({ last }: LandingEndpoint, now: Date): Markup {
  if (!last) return html`<span class="dot none"></span>no delivery yet`;
  return html`<span class="dot ${last.outcome}"></span>${last.outcome} ${timeAgo(last.at, now)}`;
}

/** Mutes the common prefix of the URLs, so that the different parts stand out. */
function splitUrl(url: string, baseUrl: string): Markup {
  const common = `${baseUrl}/webhooks/`;
  if (!url.startsWith(common)) return breakable(url);
  return html`<span class="muted">${breakable(common)}</span>${breakable(url.slice(common.length))}`;
}

function emptyState(): Markup {
  return html`<div class="card empty">
      <p class="empty-title">No endpoint yet</p>
      <p class="muted">A whole receiver is a few lines. After a restart its URL appears here.</p>
      <div class="copyable">
        <pre><code id="first-endpoint">${firstEndpoint}</code></pre>
        ${copyButton("first-endpoint", "the code that adds an endpoint")}
      </div>
    </div>`;
}

const firstEndpoint = `import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

server.webhook("on-update", async (payload) => {
  console.log(payload.event.scope, payload.repo.name);
});

await server.launch();`;
