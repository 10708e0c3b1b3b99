/** A delivery that an event has led to. */
export interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id`: kept on retries and replays. */
  deliveryId: string;
  /** The log entry of its latest attempt; where there was none yet, the one that its first will make. */
  logId: string;
  /** HTTP status of that attempt; `null` when there was no answer, or none yet. */
  status: number | null;
}
