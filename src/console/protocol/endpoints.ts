import * as z from "zod/mini";

/** The body of `POST /api/endpoints/pause` and `/resume`. */
export const endpointRequest = z.strictObject({ endpoint: z.string().check(z.maxLength(1_000)) });

/** The windows of an endpoint's activity. */
export const activityWindows = ["15m", "1h", "24h"] as const;
export type ActivityWindow = (typeof activityWindows)[number];

/** One bar of a window: counts in a part of it. */
export interface ActivityBar {
  /** New deliveries. */
  deliveries: number;
  /** Deliveries that failed for good: failed inline, or dead. */
  failures: number;
  /** Runs of the handler. */
  attempts: number;
  failedAttempts: number;
}

/** The webhook of an endpoint on the Hub. */
export interface RegistrationInfo {
  /**
   * `unknown`: the request to the Hub failed (see `message`). `missing`: no webhook points at this endpoint.
   * `url-differs`: a webhook of another host has the path of this endpoint.
   */
  state: "enabled" | "disabled" | "suspended" | "url-differs" | "missing" | "unknown";
  webhookId?: string;
  /** The URL of the webhook, without secrets. */
  url?: string;
  /** The settings page of the webhook on the Hub. */
  settingsUrl?: string;
  /** What to do next. */
  message?: string;
}

/** An endpoint of the server. */
export interface EndpointInfo {
  name: string;
  url: string;
  /** Whether deliveries are stored and run in the background. */
  background: boolean;
  /** The filter in words: scopes, repositories, and watched items. Empty lists accept everything. */
  scopes: readonly string[];
  repos: readonly string[];
  watch: readonly string[];
  secret: "set" | "missing";
  registration?: RegistrationInfo;
  isPaused: boolean;
  /** 15 bars of 1 minute, 12 of 5 minutes, and 24 of 1 hour, oldest first. Counted since `startedAt` of the list. */
  activity: Readonly<Record<ActivityWindow, readonly ActivityBar[]>>;
  /** Durations of the latest handler runs, in milliseconds. */
  handlerTime?: { p50: number; p95: number; runs: number };
  /** The deliveries in the inbox. Missing for inline endpoints. */
  queue?: { queued: number; running: number; dead: number };
  /** Deliveries in the last 24 hours, against the Hub's limit of 1,000 triggers per webhook. */
  today: { deliveries: number; limit: number };
  last?: { status: string; at: number };
}

/** The answer of `GET /api/endpoints`. */
export interface EndpointList {
  endpoints: readonly EndpointInfo[];
  /** The start of the server, or of the `dev` session. Earlier activity is not counted. */
  startedAt: number;
}
