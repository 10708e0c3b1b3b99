import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";

/** The Hub on which webhooks are registered, such as a `HubClient`. */
export interface HubConnection {
  /** The URL of the Hub. The state file uses it to identify the Hub. */
  readonly hubUrl: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}
