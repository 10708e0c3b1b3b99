/** One endpoint, as the landing page shows it. Nothing in here comes from a payload: the page is public. */
export interface LandingEndpoint {
  /** The endpoint's name: what follows `/webhooks/` in its path. */
  name: string;
  /** The full public URL to register on the Hub. Escape it: its host may be the `Host` header of a stranger. */
  url: string;
  /** Always `POST`: the Hub sends nothing else. */
  method: "POST";
  /** The scopes that its filter lets through; empty where it takes every scope. */
  scopes: readonly string[];
  /** How many deliveries reached it since the process started. */
  deliveries: number;
  /** How the last of them ended, and when (ISO 8601); absent before the first. */
  last?: { outcome: "succeeded" | "ignored" | "failed"; at: string };
}

/**
 * What a landing page is told: given to the built-in page and to a function passed as `landingPage`.
 *
 * @example
 * ```ts
 * import { html } from "hono/html"; // escapes what is put into it
 *
 * new WebhooksServer({ landingPage: (info) => html`<ul>${info.endpoints.map(({ url }) => html`<li>${url}</li>`)}</ul>` });
 * ```
 */
export interface LandingInfo {
  endpoints: readonly LandingEndpoint[];
  /** Whether a secret is asked for. The secret itself is nowhere in here. */
  secretIsSet: boolean;
  /** Public address of this server, without a trailing slash. Escape it, like the URLs that begin with it. */
  baseUrl: string;
  /** When the process started (ISO 8601). */
  startedAt: string;
  /** The Space this runs in (`SPACE_ID`, such as `acme/bot`), where it does. */
  space?: { id: string };
  /** The theme asked for by `?__theme=`; absent: the reader's system decides. */
  theme?: "light" | "dark";
}
