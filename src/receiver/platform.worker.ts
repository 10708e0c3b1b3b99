/*
 * Replaces `platform.node.ts` in bundles for edge workers and browsers (see the "browser" field of package.json). With the original
 * file, a bundle would import `node:` modules and fail to load, or be several times as large. Also replaces `payload/object-schema.ts`
 * and `registration/reconcile.ts`, with `objectSchema` and `registerServer`.
 */
import { type $constructor, $ZodObject } from "zod/v4/core";
import { inlinePageHeaders } from "../console/pages/document.ts";
import type { ErrorPage, ErrorPageContent } from "../console/pages/error-page.ts";
import { WebhookError } from "../core/errors.ts";
import { optionError } from "../core/options.ts";
import { escapeHidden, escapeHtml } from "../core/text.ts";
import { webhookSettingsUrl } from "../core/urls.ts";
import type { DeliveryHistory as FullHistory } from "./history.ts";
import type { LandingInfo } from "./options.ts";

export const loadErrorPage = () => ({ renderErrorPage });
export const loadLandingPage = () => ({ landingPage, landingAsset });

/** Keeps the logger that writes to the console. */
export const loadNodeLogger = undefined;

/** The built-in inbox requires a disk and a long-running process, which edge workers do not have. */
export const loadInbox = undefined;

/** @throws `LISTEN_FAILED`, always. */
export function loadStart(): never {
  throw new WebhookError(
    "This runtime cannot listen. Export the fetch function: `export default { fetch: server.fetch }`.",
    { code: "LISTEN_FAILED" },
  );
}

/** @throws `OPTION_INVALID`, always. */
export function loadCatchUp(): never {
  throw optionError("Catch-up requires Node. Remove the `catchUp` option.");
}

/** @throws `OPTION_INVALID`, always. The Hub client would double the size of a bundle, also for handlers that do not use it. */
export function loadHubClient(): never {
  throw optionError(
    'This bundle contains no Hub client. Pass one: new WebhooksServer({ hub: new HubClient({ token }) }), with HubClient from "hub-webhooks/client".',
  );
}

/** @throws `OPTION_INVALID`, always. */
export function loadMetrics(): never {
  throw optionError("Metrics require Node and prom-client. Remove the `metrics` option and METRICS.");
}

/** Records nothing. */
export class DeliveryHistory
  implements Pick<FullHistory, "changed" | "refuse" | "startStored" | "headersToStore" | "start" | "end">
{
  changed(): void {}
  refuse(): void {}
  startStored(): undefined {}
  headersToStore(): undefined {}
  start(): undefined {}
  end(): void {}
}

/** Adds no routes, so that the path of the console answers 404. */
export class ReceiverConsole {
  mount(): void {}
  close(): undefined {}
}

/** The base of the payload schemas. Workers cannot compile code, and the compiler would add 1 kB to a compressed bundle. */
export const objectSchema: $constructor<$ZodObject> = $ZodObject;

/** Workers have no file system for the state file. @throws `STATE_UNUSABLE`, always. */
export function registerServer(): never {
  throw new WebhookError(
    "register() requires a file system for its state file, which this runtime does not have. Call register() on Node, Bun, or Deno, or run hub-webhooks sync.",
    { code: "STATE_UNUSABLE" },
  );
}

/*
 * The pages of a worker. The full pages would add 13 kB to a compressed bundle. Their activity would also be misleading, because each
 * isolate of an edge worker only counts its own deliveries.
 */

/** Limits the size of the public page. */
const maxListed = 200;

/** Markup in which every value is escaped. */
class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Replaces `html` of Hono, which also supports promises and callbacks, and would add 1 kB. */
function html(
  strings: TemplateStringsArray,
  ...values: readonly (string | number | Markup | readonly Markup[])[]
): Markup {
  const escaped = values.map((value) => {
    if (value instanceof Markup) return value.text;
    if (typeof value === "object") return value.map(({ text }) => text).join("");
    return escapeHtml(String(value));
  });
  return new Markup(String.raw({ raw: strings }, ...escaped));
}

const styles = `
:root{color-scheme:light dark}
body{margin:0 auto;max-width:56rem;padding:2rem 1rem;background:light-dark(#fcfbf8,#131210);color:light-dark(#1d1b16,#f4f0e8);font:1rem/1.6 system-ui,sans-serif;overflow-wrap:anywhere}
code{font-size:.875em}
a{color:inherit}
:focus-visible{outline:3px solid light-dark(#8a6a00,#ffd21e);outline-offset:3px}
`;

/** Renders the endpoints with their URLs, and a warning if no secret is set. */
function landingPage({ endpoints, secretIsSet }: LandingInfo): Response {
  const count = `${endpoints.length} ${endpoints.length === 1 ? "endpoint" : "endpoints"}`;
  const unlisted = endpoints.length - maxListed;
  const page = renderPage(
    count,
    html`<h1>${count}</h1>
      <p>This server receives webhooks of the Hugging Face Hub.</p>
      ${
        secretIsSet
          ? ""
          : html`<p><strong>No secret is set.</strong> Anyone can send deliveries to this server. Set <code>WEBHOOK_SECRET</code>.</p>`
      }
      <ul>
        ${endpoints
          .slice(0, maxListed)
          .map(
            ({ name, url, scopes }) =>
              html`<li><b>${name}</b> <code>POST ${url}</code> (${scopes.length === 0 ? "every scope" : scopes.join(", ")})</li>`,
          )}
      </ul>
      ${unlisted > 0 ? html`<p>${unlisted} more endpoints are not listed.</p>` : ""}
      <p>
        <a href="${webhookSettingsUrl}" target="_blank" rel="noopener">Register a URL in the webhook settings of the Hub</a>
      </p>`,
  );
  return new Response(page.html, { headers: page.headers });
}

/** Returns no assets, because the styles of these pages are inline. */
function landingAsset(): undefined {}

function renderErrorPage({ status, code, message, home }: ErrorPageContent): ErrorPage {
  return renderPage(
    `Error ${status}`,
    html`<h1>Error ${status}</h1>
      <p>${message}</p>
      <p><code>${code}</code></p>
      ${home === undefined ? "" : html`<p><a href="${home}">Go to the start page</a></p>`}`,
  );
}

function renderPage(title: string, main: Markup): ErrorPage {
  const nonce = crypto.randomUUID();
  const page = html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title} · hub-webhooks</title>
    <link rel="icon" href="data:,">
    <style nonce="${nonce}">${styles}</style>
  </head>
  <body>
    <main>
      ${main}
    </main>
  </body>
</html>
`;
  return {
    // Escapes the whole page, so that no value is missed. The markup itself does not contain these characters.
    html: escapeHidden(page.text),
    headers: inlinePageHeaders(nonce),
  };
}
