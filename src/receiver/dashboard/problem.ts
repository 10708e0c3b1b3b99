import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";
import type { WebhookError } from "../../core/errors.ts";
import { listAddress } from "./address.ts";

/** Names what is wrong, for the browser's tab. */
export function problemTitle({ status }: WebhookError): string {
  if (status === 404) return "No such delivery";
  return status === 400 ? "No such page" : "The inbox does not answer";
}

/** What there is instead of the page that was asked for, and where to go from here. */
export function problemMain(error: WebhookError): Markup {
  const isDown = error.status !== 404 && error.status !== 400;
  return html`<h1>${problemTitle(error)}</h1>
      <p class="lead">${error.message}</p>
      <p class="onward">
        ${
          isDown
            ? html`Deliveries that cannot be kept are answered with 503, and the Hub sends them again.
              <a href="">Try once more</a>`
            : html`<a href="${listAddress({})}">All deliveries</a>`
        }
      </p>`;
}
