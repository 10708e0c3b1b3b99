import type { HubDeliveryAttempt } from "../delivery/hub-delivery.ts";
import type { WebhookSummary } from "../resources/webhooks.ts";

/** What the page of a local Hub shows. */
export interface HubPageInfo {
  /** Its address, without a trailing slash. */
  hubUrl: string;
  runJobs: boolean;
  allowRemote: boolean;
  /** ISO 8601. */
  startedAt: string;
  theme?: "light" | "dark";
  webhooks: readonly HubPageWebhook[];
}

/** A webhook, as the page shows it. */
export interface HubPageWebhook extends WebhookSummary {
  /** Newest first. */
  log: readonly HubDeliveryAttempt[];
}
