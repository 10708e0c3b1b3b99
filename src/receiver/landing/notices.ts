import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";
import { externalLink } from "./external-link.ts";
import type { LandingInfo } from "./info.ts";

/** Renders a warning with instructions if the server accepts deliveries without a secret. */
export function openServerWarning(space: LandingInfo["space"]): Markup {
  return html`<aside class="notice warning" aria-labelledby="open-server">
      <h2 id="open-server"><span class="warning-sign" aria-hidden="true">!</span>No secret is set</h2>
      <p>
        Anyone who knows a URL of this server can send it deliveries.
        ${
          space
            ? html`Add <code>WEBHOOK_SECRET</code> under <b>Variables and secrets</b> in
              ${externalLink(`https://huggingface.co/spaces/${space.id}/settings`, "the settings of this Space")};
              the Space then restarts by itself.`
            : html`Set the environment variable <code>WEBHOOK_SECRET</code> and restart.`
        }
        Give the webhook the same secret on the Hub.
      </p>
    </aside>`;
}

/** Renders a notice that describes how the free hardware of Spaces affects the server. */
export function freeSpaceNote(): Markup {
  return html`<aside class="notice" aria-labelledby="free-space">
      <h2 id="free-space">On free hardware</h2>
      <p>
        A free <code>cpu-basic</code> Space sleeps after 48 hours without a request, and loses its disk at every restart.
        What must last belongs in a mounted bucket, or in a database elsewhere.
      </p>
    </aside>`;
}
