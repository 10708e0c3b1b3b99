import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";

/** A connection to the Hub to register webhooks on, such as a `HubClient`. */
export interface HubConnection {
  /** The URL of the Hub. The state file uses it to identify the Hub. */
  readonly hubUrl: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}
