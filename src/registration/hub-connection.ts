import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";

/** The Hub on which webhooks are registered: a `HubClient`. */
export interface HubConnection {
  /** Its address, by which what is noted of it is found again. */
  readonly endpoint: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}
