import { html } from "hono/html";
import { breakable, copyButton, type Markup } from "../../console/pages/document.ts";
import { quoteShellWord } from "../../core/text.ts";
import { consolePath, isLoopbackHost, webhookSettingsUrl } from "../../core/urls.ts";
import { isKnownScope } from "../../payload/names.ts";
import { webhookPayload } from "../../payload/samples.ts";
import { hubDailyLimit, isNearDailyLimit } from "../counts.ts";
import type { LandingEndpoint, LandingInfo } from "../options.ts";

export function formatCount(count: number): string {
  return count.toLocaleString("en");
}

/**
 * Returns the URL of another page of the server or of an asset. The URL is relative if no prefix is known, because a proxy
 * may remove a prefix.
 */
export function pageAddress({ basePath }: Pick<LandingInfo, "basePath">, path: string): string {
  return basePath === "" ? path : `${basePath}/${path}`;
}

/** Returns the URL of the console, with the theme of the page. */
export function consoleAddress(info: Pick<LandingInfo, "basePath" | "theme">): string {
  const path = `${consolePath.slice(1)}/`;
  return pageAddress(info, info.theme ? `${path}?__theme=${info.theme}` : path);
}

/** Renders a link that opens a new tab, because neither the console nor the Hub's settings can be displayed in a Space's frame. */
function newTabLink(url: string, text: string): Markup {
  return html`<a href="${url}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a>`;
}

export function consoleLink(info: LandingInfo): Markup {
  return newTabLink(consoleAddress(info), "the console");
}

/** The maximum line length of the command in characters, so that the page displays it without line breaks. */
const longestLine = 72;

/**
 * Returns a shell command that sends a small sample delivery to the first endpoint, or `undefined` without endpoints. The
 * command reads the secret from the shell variable `WEBHOOK_SECRET`.
 */
export function firstDeliveryCommand({ endpoints, secretIsSet }: LandingInfo): string | undefined {
  const endpoint = endpoints[0];
  if (!endpoint) return undefined;
  const payload = webhookPayload(endpoint.scopes.find(isKnownScope) ?? "repo.content");
  return [
    `curl ${quoteShellWord(endpoint.url)}`,
    `--header "Content-Type: application/json"`,
    ...(secretIsSet ? [`--header "X-Webhook-Secret: $WEBHOOK_SECRET"`] : []),
    `--data ${quoteShellWord(writeJson(payload))}`,
  ].join(" \\\n  ");
}

/** Formats JSON with each value that fits on one line. */
function writeJson(value: unknown, indent = ""): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n */g, " ");
  if (typeof value !== "object" || value === null || indent.length + line.length <= longestLine) return line;
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => deeper + writeJson(item, deeper))
    : Object.entries(value).map(([key, item]) => `${deeper}"${key}": ${writeJson(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

interface NextStep {
  id: string;
  title: string;
  content: Markup;
}

/** Derives the next steps from the state of the server, in the order in which to take them. */
export function nextSteps(info: LandingInfo): readonly NextStep[] {
  const { endpoints, secretIsSet, activity } = info;
  const steps: NextStep[] = [];
  if (!secretIsSet) steps.push(secretStep(info));
  if (endpoints.length === 0) return [...steps, endpointStep()];
  const missing = endpoints.filter(({ registration }) => registration === "missing");
  if (missing.length > 0 || !isRegistered(info)) {
    steps.push(isLocal(info) ? publicUrlStep() : registerStep(missing, info));
  }
  if (!hasDeliveries(info)) steps.push(firstDeliveryStep(info));
  const { queue } = activity;
  if (queue === "unknown") steps.push(inboxStep());
  else if (queue && queue.dead > 0) steps.push(deadStep(queue.dead, info));
  const failed = endpoints.filter(({ background, last }) => !background && last?.outcome === "failed");
  if (failed.length > 0) steps.push(failedStep(failed, info));
  const near = endpoints.filter(({ lastDay }) => isNearDailyLimit(lastDay));
  if (near.length > 0) steps.push(dailyLimitStep(near));
  return steps;
}

/** Returns the steps of the setup that are done, as short texts. */
export function doneSteps(info: LandingInfo): readonly string[] {
  const steps = {
    "secret set": info.secretIsSet,
    "endpoint added": info.endpoints.length > 0,
    "webhook registered": isRegistered(info),
    "first delivery received": hasDeliveries(info),
  };
  return Object.entries(steps).flatMap(([step, isDone]) => (isDone ? step : []));
}

function isRegistered({ endpoints }: LandingInfo): boolean {
  return endpoints.some(({ registration }) => registration === "registered");
}

/** Whether deliveries have arrived. The inbox can contain deliveries from before the process started. */
function hasDeliveries({ endpoints, activity: { queue } }: LandingInfo): boolean {
  if (endpoints.some(({ deliveries }) => deliveries > 0)) return true;
  return queue !== undefined && queue !== "unknown" && queue.queued + queue.running + queue.dead > 0;
}

function isLocal({ baseUrl }: LandingInfo): boolean {
  return isLoopbackHost(URL.parse(baseUrl)?.hostname ?? "");
}

function secretStep({ space }: LandingInfo): NextStep {
  const content = html`<p>
      Anyone can send deliveries to this server. ${
        space
          ? html`Generate a value, and add it as the secret <code>WEBHOOK_SECRET</code> in
        ${newTabLink(`https://huggingface.co/spaces/${space.id}/settings`, "the settings of this Space")}. The Space then restarts.`
          : html`Set the environment variable <code>WEBHOOK_SECRET</code>, and restart the server.`
      } Enter the same value as the secret of your webhook on the Hub.
    </p>
    ${command("secret-command", space ? "openssl rand -hex 32" : `export WEBHOOK_SECRET="$(openssl rand -hex 32)"`)}`;
  return { id: "secret", title: "Set a webhook secret", content };
}

function endpointStep(): NextStep {
  const content = html`<p>Register a handler in your server file, and restart the server.</p>
    ${command("first-endpoint", firstEndpoint, "the code")}`;
  return { id: "endpoint", title: "Add an endpoint", content };
}

/** The Hub cannot connect to a URL on this machine. */
function publicUrlStep(): NextStep {
  const content = html`<p>
      The Hub cannot connect to this machine. For development, run the server with a local Hub. To receive events of the real
      Hub, deploy the server, or set <code>TUNNEL=1</code>.
    </p>
    ${command("dev-command", "npx hub-webhooks dev")}`;
  return { id: "public-url", title: "Connect the server to a Hub", content };
}

/** @param missing the endpoints without a webhook. Empty if it is unknown whether webhooks exist. */
function registerStep(missing: readonly LandingEndpoint[], { secretIsSet }: LandingInfo): NextStep {
  const content = html`<p>
      ${
        missing.length > 0
          ? html`No webhook delivers to ${namesOf(missing)}.`
          : html`The server has not received a delivery from the Hub since it started.`
      }
      Add a webhook in ${newTabLink(webhookSettingsUrl, "the webhook settings of the Hub")} with the URL of an
      endpoint${secretIsSet && html` and the value of <code>WEBHOOK_SECRET</code> as the secret`}.
    </p>`;
  return { id: "register", title: "Register a webhook on the Hub", content };
}

function firstDeliveryStep(info: LandingInfo): NextStep {
  const content = html`<p>
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
  return { id: "first-delivery", title: "Send a test delivery", content };
}

function inboxStep(): NextStep {
  const content = html`<p>
      The inbox did not respond in time, so deliveries of background endpoints may be refused. See the log of the server.
    </p>`;
  return { id: "inbox", title: "Check the inbox", content };
}

function deadStep(count: number, info: LandingInfo): NextStep {
  const content = html`<p>
      ${formatCount(count)} ${count === 1 ? "delivery" : "deliveries"} failed and will not be retried. Fix the cause, then replay
      ${count === 1 ? "it" : "them"} in ${consoleLink(info)}.
    </p>`;
  return { id: "dead", title: "Replay the dead deliveries", content };
}

/** @param endpoints the inline endpoints whose latest delivery failed. */
function failedStep(endpoints: readonly LandingEndpoint[], info: LandingInfo): NextStep {
  const content = html`<p>
      The latest delivery to ${namesOf(endpoints)} failed. See the error in ${consoleLink(info)}.
    </p>`;
  return { id: "failed", title: "Check the failed deliveries", content };
}

function dailyLimitStep(near: readonly LandingEndpoint[]): NextStep {
  const endpoints = near.toSorted((one, other) => other.lastDay - one.lastDay);
  const content = html`<p>
      The Hub triggers a webhook at most ${formatCount(hubDailyLimit)} times in 24 hours. ${namesOf(endpoints)}
      ${endpoints.length === 1 ? "is" : "are"} near this limit. Watch fewer repositories, or use several webhooks.
    </p>`;
  return { id: "daily-limit", title: "Reduce the number of deliveries", content };
}

/** Limits the size of the page if a step concerns thousands of endpoints. */
const maxNamed = 5;

function namesOf(endpoints: readonly LandingEndpoint[]): Markup {
  const unnamed = endpoints.length - maxNamed;
  const names = endpoints.slice(0, maxNamed).map(({ name }, index) => {
    return html`${index > 0 && ", "}<b>${breakable(name)}</b>`;
  });
  return html`${names}${unnamed > 0 && ` and ${formatCount(unnamed)} more`}`;
}

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

/** Renders the open steps as an ordered list and the completed steps in one line. */
export function nextStepsSection(info: LandingInfo): Markup {
  const steps = nextSteps(info);
  const done = doneSteps(info);
  const list = html`<ol class="steps">
          ${steps.map(
            ({ id, title, content }) => html`<li class="step-${id}">
              <h3>${title}</h3>
              ${content}
            </li>`,
          )}
        </ol>
      ${done.length > 0 && html`<p class="done"><span class="dot succeeded"></span>Done: ${done.join(", ")}.</p>`}`;
  return html`<section class="next" aria-labelledby="next">
      <h2 id="next">Next steps</h2>
      ${steps.length > 0 ? list : html`<p class="fine"><span class="dot succeeded"></span>None. The server is set up, and no delivery needs your attention.</p>`}
    </section>`;
}
