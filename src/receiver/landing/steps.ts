import { html } from "hono/html";
import { copyButton } from "../../console/pages/copy-button.ts";
import type { Markup } from "../../console/pages/document.ts";
import { breakable } from "../../console/pages/document.ts";
import { quoteShellWord } from "../../core/text.ts";
import { consolePath, webhookSettingsUrl } from "../../core/urls.ts";
import { isKnownScope } from "../../payload/names.ts";
import { webhookPayload } from "../../payload/samples.ts";
import type { LandingEndpoint, LandingInfo } from "../options.ts";

/** The maximum number of times that the Hub triggers a webhook in 24 hours. */
export const hubDailyLimit = 1_000;

/** Whether an endpoint with this number of deliveries in 24 hours is near the Hub's limit. */
export function isNearDailyLimit(lastDay: number): boolean {
  return lastDay >= 0.8 * hubDailyLimit;
}

/** Formats a count for display. */
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

/** Renders a link to the console, in a new tab: a Space displays this page in a frame, but the console refuses frames. */
export function consoleLink(info: LandingInfo, text: string): Markup {
  return html`<a href="${consoleAddress(info)}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a>`;
}

/**
 * Renders a link to the Hub. The link opens in a new tab, because the Hub's settings cannot be displayed in a Space's frame.
 */
function externalLink(url: string, text: string): Markup {
  return html`<a href="${url}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a>`;
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

/** A step that the server's state requires. */
type NextStep =
  | { id: "secret" }
  | { id: "endpoint" }
  /** The Hub cannot connect to a URL on this machine. */
  | { id: "public-url" }
  /** `missing` contains the endpoints without a webhook, and is empty if it is unknown whether webhooks exist. */
  | { id: "register"; missing: readonly LandingEndpoint[] }
  | { id: "first-delivery" }
  | { id: "inbox" }
  | { id: "dead"; count: number }
  /** The latest delivery of each of these inline endpoints failed. */
  | { id: "failed"; endpoints: readonly LandingEndpoint[] }
  | { id: "daily-limit"; endpoints: readonly LandingEndpoint[] };

/** Derives the next steps from the state of the server, in the order in which to take them. */
export function nextSteps(info: LandingInfo): readonly NextStep[] {
  const { endpoints, secretIsSet, activity } = info;
  const steps: NextStep[] = [];
  if (!secretIsSet) steps.push({ id: "secret" });
  if (endpoints.length === 0) return [...steps, { id: "endpoint" }];
  const missing = endpoints.filter(({ registration }) => registration === "missing");
  if (missing.length > 0 || !isRegistered(info)) {
    steps.push(isLocal(info) ? { id: "public-url" } : { id: "register", missing });
  }
  if (!hasDeliveries(info)) steps.push({ id: "first-delivery" });
  const { queue } = activity;
  if (queue === "unknown") steps.push({ id: "inbox" });
  else if (queue && queue.dead > 0) steps.push({ id: "dead", count: queue.dead });
  const failed = endpoints.filter(({ background, last }) => !background && last?.outcome === "failed");
  if (failed.length > 0) steps.push({ id: "failed", endpoints: failed });
  const near = endpoints.filter(({ lastDay }) => isNearDailyLimit(lastDay));
  if (near.length > 0) {
    steps.push({ id: "daily-limit", endpoints: near.toSorted((one, other) => other.lastDay - one.lastDay) });
  }
  return steps;
}

/** Returns the steps of the setup that are done, as short texts. */
export function doneSteps(info: LandingInfo): readonly string[] {
  return [
    ...(info.secretIsSet ? ["secret set"] : []),
    ...(info.endpoints.length > 0 ? ["endpoint added"] : []),
    ...(isRegistered(info) ? ["webhook registered"] : []),
    ...(hasDeliveries(info) ? ["first delivery received"] : []),
  ];
}

function isRegistered({ endpoints }: LandingInfo): boolean {
  return endpoints.some(({ registration }) => registration === "registered");
}

/** Whether deliveries have arrived. The inbox can contain deliveries from before the process started. */
function hasDeliveries({ endpoints, activity: { queue } }: LandingInfo): boolean {
  if (endpoints.some(({ deliveries }) => deliveries > 0)) return true;
  return queue !== undefined && queue !== "unknown" && queue.queued + queue.running + queue.dead > 0;
}

/** Does not use `isLoopbackHost`, because it needs `node:net`. */
function isLocal({ baseUrl }: LandingInfo): boolean {
  return URL.canParse(baseUrl) && /^(localhost|.+\.localhost|127\..+|\[::1\])$/.test(new URL(baseUrl).hostname);
}

/** Limits the size of the page if a step concerns thousands of endpoints. */
const maxNamed = 5;

/** Renders the title and the instructions of a step. */
function stepContents(step: NextStep, info: LandingInfo): { title: string; content: Markup } {
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

/** Renders the open steps as an ordered list and the completed steps in one line. */
export function nextStepsSection(info: LandingInfo): Markup {
  const steps = nextSteps(info);
  const done = doneSteps(info);
  return html`<section class="next" aria-labelledby="next">
      <h2 id="next">Next steps</h2>
      ${steps.length === 0 && html`<p class="fine"><span class="dot succeeded"></span>None. The server is set up, and no delivery needs your attention.</p>`}
      ${
        steps.length > 0 &&
        html`<ol class="steps">
          ${steps.map((step) => {
            const { title, content } = stepContents(step, info);
            return html`<li class="step-${step.id}">
              <h3>${title}</h3>
              ${content}
            </li>`;
          })}
        </ol>`
      }
      ${steps.length > 0 && done.length > 0 && html`<p class="done"><span class="dot succeeded"></span>Done: ${done.join(", ")}.</p>`}
    </section>`;
}
