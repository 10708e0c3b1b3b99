import type { LogEntry } from "../log-entry.ts";

/** What the page of a local Hub shows. */
export interface HubPageInfo {
  /** Its address, without a trailing slash. */
  baseUrl: string;
  runsJobs: boolean;
  allowsRemote: boolean;
  /** ISO 8601. */
  startedAt: string;
  theme?: "light" | "dark";
  webhooks: readonly HubPageWebhook[];
}

/** A webhook, as the page shows it. */
export interface HubPageWebhook {
  id: string;
  /** Name of the user. */
  owner: string;
  target: { kind: "url"; url: string } | { kind: "job"; description: string } | { kind: "jobSource"; id: string };
  state: "enabled" | "disabled" | "suspended";
  watched: readonly { type: string; name: string }[];
  domains: readonly string[];
  secretIsSet: boolean;
  /** ISO 8601. */
  lastTriggerAt?: string;
  /** Newest first. */
  log: readonly LogEntry[];
}
