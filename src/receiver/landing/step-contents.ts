import { html } from "hono/html";
import { breakable } from "../../console/pages/breakable.ts";
import { copyButton } from "../../console/pages/copy-button.ts";
import type { Markup } from "../../console/pages/markup.ts";
import { webhookSettingsUrl } from "../../core/paths.ts";
import { consoleLink } from "./console-link.ts";
import { formatCount, hubDailyLimit } from "./counts.ts";
import { externalLink } from "./external-link.ts";
import { firstDeliveryCommand } from "./first-delivery.ts";
import type { LandingEndpoint, LandingInfo } from "./info.ts";
import type { NextStep } from "./next-steps.ts";

/** Limits the size of the page if a step concerns thousands of endpoints. */
const maxNamed = 5;

/** Renders the title and the instructions of a step. */
export function stepContents(step: NextStep, info: LandingInfo): { title: string; content: Markup } {
  switch (step.id) {
    case "secret":
      return { title: "Set a webhook secret", content: secretStep(info) };
    case "endpoint":
      return { title: "Add an endpoint", content: endpointStep() };
    case "public-url":
      return { title: "Connect the server to a Hub", content: publicUrlStep() };
    case "register":
      return { title: "Register a webhook on the Hub", content: registerStep(step.missing, info) };
    case "first-delivery":
      return { title: "Send a test delivery", content: firstDeliveryStep(info) };
    case "inbox":
      return { title: "Check the inbox", content: inboxStep() };
    case "dead":
      return { title: "Replay the dead deliveries", content: deadStep(step.count, info) };
    case "failed":
      return { title: "Check the failed deliveries", content: failedStep(step.endpoints, info) };
    case "daily-limit":
      return { title: "Reduce the number of deliveries", content: dailyLimitStep(step.endpoints) };
  }
}

function secretStep({ space }: LandingInfo): Markup {
  const sameValue = html`Enter the same value as the secret of your webhook on the Hub.`;
  if (space) {
    return html`<p>
        Anyone can send deliveries to this server. Generate a value, and add it as the secret <code>WEBHOOK_SECRET</code> in
        ${externalLink(`https://huggingface.co/spaces/${space.id}/settings`, "the settings of this Space")}. The Space then
        restarts. ${sameValue}
      </p>
      ${command("secret-command", "openssl rand -hex 32")}`;
  }
  return html`<p>
      Anyone can send deliveries to this server. Set the environment variable <code>WEBHOOK_SECRET</code>, and restart the
      server. ${sameValue}
    </p>
    ${command("secret-command", `export WEBHOOK_SECRET="$(openssl rand -hex 32)"`)}`;
}

function endpointStep(): Markup {
  return html`<p>Register a handler in your server file, and restart the server.</p>
    ${command("first-endpoint", firstEndpoint, "the code")}`;
}

function publicUrlStep(): Markup {
  return html`<p>
      The Hub cannot connect to this machine. For development, run the server with a local Hub. To receive events of the real
      Hub, deploy the server, or set <code>TUNNEL=1</code>.
    </p>
    ${command("dev-command", "npx hub-webhooks dev")}`;
}

function registerStep(missing: readonly LandingEndpoint[], { secretIsSet }: LandingInfo): Markup {
  return html`<p>
      ${
        missing.length > 0
          ? html`No webhook delivers to ${namesOf(missing)}.`
          : html`The server has not received a delivery from the Hub since it started.`
      }
      Add a webhook in ${externalLink(webhookSettingsUrl, "the webhook settings of the Hub")} with the URL of an
      endpoint${secretIsSet && html` and the value of <code>WEBHOOK_SECRET</code> as the secret`}.
    </p>`;
}

function firstDeliveryStep(info: LandingInfo): Markup {
  return html`<p>
      Send sample data to the first
      endpoint${info.secretIsSet && html`, from a shell in which <code>WEBHOOK_SECRET</code> is set`}. The handler runs. If the
      filter of the endpoint does not match the sample, the response is <code>ignored</code>.
    </p>
    <div class="copyable">
      <details>
        <summary>Show the command</summary>
        <pre><code id="first-delivery">${firstDeliveryCommand(info)}</code></pre>
      </details>
      ${copyButton("first-delivery", "the command")}
    </div>`;
}

function inboxStep(): Markup {
  return html`<p>
      The inbox did not respond in time, so deliveries of background endpoints may be refused. See the log of the server.
    </p>`;
}

function deadStep(count: number, info: LandingInfo): Markup {
  return html`<p>
      ${formatCount(count)} ${count === 1 ? "delivery" : "deliveries"} failed and will not be retried. Fix the cause, then replay
      ${count === 1 ? "it" : "them"} in ${consoleLink(info, "the console")}.
    </p>`;
}

function failedStep(endpoints: readonly LandingEndpoint[], info: LandingInfo): Markup {
  return html`<p>
      The latest delivery to ${namesOf(endpoints)} failed. See the error in ${consoleLink(info, "the console")}.
    </p>`;
}

function dailyLimitStep(endpoints: readonly LandingEndpoint[]): Markup {
  return html`<p>
      The Hub triggers a webhook at most ${formatCount(hubDailyLimit)} times in 24 hours. ${namesOf(endpoints)}
      ${endpoints.length === 1 ? "is" : "are"} near this limit. Watch fewer repositories, or use several webhooks.
    </p>`;
}

function namesOf(endpoints: readonly LandingEndpoint[]): Markup {
  const unnamed = endpoints.length - maxNamed;
  const names = endpoints.slice(0, maxNamed).map(({ name }, index) => {
    return html`${index > 0 && ", "}<b>${breakable(name)}</b>`;
  });
  return html`${names}${unnamed > 0 && ` and ${formatCount(unnamed)} more`}`;
}

/** Renders a command or code with a copy button. */
function command(id: string, text: string, what = "the command"): Markup {
  return html`<div class="copyable">
      <pre><code id="${id}">${text}</code></pre>
      ${copyButton(id, what)}
    </div>`;
}

const firstEndpoint = `import { WebhooksServer } from "hub-webhooks";

const server = new WebhooksServer();

server.webhook("on-update", async (payload) => {
  console.log(payload.event.scope, payload.repo.name);
});

await server.launch();`;
