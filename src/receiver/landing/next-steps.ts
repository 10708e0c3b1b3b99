import { html } from "hono/html";
import { copyButton } from "../../console/copy-button.ts";
import type { Markup } from "../../console/markup.ts";
import { webhookSettingsUrl } from "../../core/paths.ts";
import { pageAddress } from "./address.ts";
import { externalLink } from "./external-link.ts";
import { firstDeliveryCommand } from "./first-delivery.ts";
import type { LandingInfo } from "./info.ts";

/** Renders the next steps: register the webhooks on the Hub, send a first delivery, and monitor the server. */
export function nextSteps(info: LandingInfo): Markup {
  const command = firstDeliveryCommand(info);
  return html`<ol class="steps">
      <li>
        ${stepNumber()}
        <h3>Register a webhook on the Hub</h3>
        <p>
          Open ${externalLink(webhookSettingsUrl, "the webhook settings of the Hub")}, choose what
          to watch and paste the URL of an endpoint${info.secretIsSet && ", with the secret that this server asks for"}.
        </p>
      </li>
      ${command && firstDeliveryStep(command, info.secretIsSet)}
      <li>
        ${stepNumber()}
        <h3>Watch its health</h3>
        <p>Point your monitor at <a href="${pageAddress(info, "health")}">${info.basePath}/health</a>.</p>
      </li>
    </ol>`;
}

function firstDeliveryStep(command: string, secretIsSet: boolean): Markup {
  return html`<li>
      ${stepNumber()}
      <h3>Try a first delivery</h3>
      <p>
        Send the first endpoint a made-up delivery${secretIsSet && html`, from a shell that has <code>WEBHOOK_SECRET</code>`}.
        The handler runs for real, as for the Hub. The answer is <code>ignored</code> where the endpoint's filter asks for something else.
      </p>
      <div class="copyable">
        <pre><code id="first-delivery">${command}</code></pre>
        ${copyButton("first-delivery", "the command")}
      </div>
    </li>`;
}

/** Renders a decorative number, which screen readers skip because the list is already numbered. */
function stepNumber(): Markup {
  return html`<span class="step-number" aria-hidden="true"></span>`;
}
