import type { Hono } from "hono";
import type { ActivityOutcome, EndpointRegistration, HandlerTime } from "../counts.ts";

/** The outcomes on the landing page, where `failed` includes dead background deliveries. */
type LandingOutcome = Exclude<ActivityOutcome, "dead">;

/** An endpoint on the landing page. The page is public, so no value comes from a payload. */
export interface LandingEndpoint {
  /** The part of the path after `/webhooks/`. */
  name: string;
  /** The full public URL to register on the Hub. Escape it: its host can come from the client's `Host` header. */
  url: string;
  /** Always `POST`, the only method that the Hub uses. */
  method: "POST";
  /** Whether deliveries are stored and the handler runs in the background. */
  background: boolean;
  /** The scopes that match the filter of the endpoint. Empty: every scope. */
  scopes: readonly string[];
  /**
   * Whether a webhook on the Hub is known to deliver to the endpoint, without a request to the Hub. `registered`: a delivery
   * with a `Webhook-Id` has arrived since the process started, or `register()` found or created the webhook. `missing`:
   * `register()` did not create the webhook. Otherwise `unknown`.
   */
  registration?: EndpointRegistration;
  /** The number of new deliveries since the process started, without refused and duplicate deliveries. */
  deliveries: number;
  /**
   * The number of new deliveries in the current clock hour and the 23 before it. The Hub triggers a webhook at most 1,000
   * times in 24 hours.
   */
  lastDay: number;
  /** The outcome of the latest delivery or background attempt, and its time (ISO 8601). Absent before the first. */
  last?: { outcome: LandingOutcome; at: string };
}

/**
 * The counts of one clock hour. `succeeded`, `ignored`, and `failed` count finished deliveries, where `failed` includes dead
 * background deliveries. A replayed delivery counts again. `retrying` does not count deliveries, but failed background attempts
 * with a retry left.
 */
export interface LandingHour extends Readonly<Record<LandingOutcome, number>> {
  /** The start of the hour (ISO 8601). */
  startedAt: string;
}

/** The activity of all endpoints since the process started. It is kept in memory, so a restart clears it. */
export interface LandingActivity {
  /** The current clock hour and up to 23 before it, oldest first, without hours before the start. */
  hours: readonly LandingHour[];
  /** The duration of the latest handler runs (at most 1,024), in milliseconds. Absent before the first run. */
  handlerTime?: HandlerTime;
  /**
   * The number of queued, running, and dead deliveries in the inbox; `unknown` if the inbox does not respond. Absent without
   * a background endpoint, and before the inbox is open.
   */
  queue?: { queued: number; running: number; dead: number } | "unknown";
}

/**
 * The data of the landing page. The built-in page renders it, and a function set as `landingPage` receives it.
 *
 * @example
 * ```ts
 * import { html } from "hono/html"; // escapes interpolated values
 *
 * new WebhooksServer({ landingPage: (info) => html`<ul>${info.endpoints.map(({ url }) => html`<li>${url}</li>`)}</ul>` });
 * ```
 */
export interface LandingInfo {
  endpoints: readonly LandingEndpoint[];
  /** Whether deliveries must contain a secret. The secret itself is not included. */
  secretIsSet: boolean;
  /** The public URL of the server, without a trailing slash. Escape it, like the endpoint URLs that start with it. */
  baseUrl: string;
  /**
   * The path prefix of the server as the client sees it, such as `/hub`, without a trailing slash. Empty at the root, and
   * if a proxy removes a prefix that neither `basePath` nor `X-Forwarded-Prefix` contains.
   */
  basePath: string;
  /** When the process started (ISO 8601). */
  startedAt: string;
  activity: LandingActivity;
  /** The Space that runs the server (`SPACE_ID`, such as `acme/bot`). Absent outside a Space. */
  space?: { id: string };
  /** The theme from the query `?__theme=`. Absent: use the theme of the user's system. */
  theme?: "light" | "dark";
}

/** The landing page at `GET /`: HTML, a Hono app, a function that returns HTML or a response, or `false` for none. */
export type LandingPage =
  | string
  | Hono
  | ((info: LandingInfo) => string | Response | Promise<string | Response>)
  | false;
