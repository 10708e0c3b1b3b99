import type { ActivityOutcome, HandlerTime } from "../activity.ts";

/** One endpoint, as the landing page shows it. Nothing in here comes from a payload: the page is public. */
export interface LandingEndpoint {
  /** The endpoint's name: what follows `/webhooks/` in its path. */
  name: string;
  /** The full public URL to register on the Hub. Escape it: its host may be the `Host` header of a stranger. */
  url: string;
  /** Always `POST`: the Hub sends nothing else. */
  method: "POST";
  /** Whether it answers first and works later, so that its owner finds its deliveries in the dashboard. */
  background: boolean;
  /** The scopes that its filter lets through; empty where it takes every scope. */
  scopes: readonly string[];
  /** How many deliveries reached it since the process started. */
  deliveries: number;
  /**
   * How many of them in the last 24 hours of the clock: the present one and the 23 before it. The Hub triggers a
   * webhook at most 1,000 times in 24 hours.
   */
  lastDay: number;
  /** How the last of them, or the last attempt on one, ended, and when (ISO 8601); absent before the first. */
  last?: { outcome: ActivityOutcome; at: string };
}

/** What happened in one hour of the clock. */
export interface LandingHour extends Readonly<Record<ActivityOutcome, number>> {
  /** When it began (ISO 8601). */
  startedAt: string;
}

/** What came to all endpoints since the process started. It is kept in memory: a restart begins anew. */
export interface LandingActivity {
  /**
   * How deliveries ended in the last 24 hours of the clock, oldest first; none from before the start. `retrying`
   * counts the attempts in the background that are followed by another, `failed` what failed in its answer or is dead.
   */
  hours: readonly LandingHour[];
  /** How long handlers took, in milliseconds, in their latest runs (1,024 at most); absent before the first. */
  handlerTime?: HandlerTime;
  /**
   * How many deliveries wait in the inbox, and how many are worked on; `unknown` where it does not answer. Absent
   * without a background endpoint, and before the inbox is open.
   */
  queue?: { queued: number; running: number } | "unknown";
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
  /**
   * The path under which the server is mounted as the client sees it, such as `/hub`, without a trailing slash. Empty at
   * the root, and where a proxy removes a prefix that is not configured (`basePath`, `X-Forwarded-Prefix`).
   */
  basePath: string;
  /** When the process started (ISO 8601). */
  startedAt: string;
  activity: LandingActivity;
  /** The Space this runs in (`SPACE_ID`, such as `acme/bot`), where it does. */
  space?: { id: string };
  /** The theme asked for by `?__theme=`; absent: the reader's system decides. */
  theme?: "light" | "dark";
}
