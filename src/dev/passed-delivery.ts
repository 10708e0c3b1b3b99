/** A delivery that was answered. */
export interface PassedDelivery {
  endpoint: string;
  /** Its `Webhook-Id`; absent where the sender gave none. */
  deliveryId?: string;
  /** HTTP status of the answer. */
  status: number;
  /** From its headers to the end of the answer, in milliseconds; the wait for a server included. */
  durationMs: number;
  /** Why the server did not answer it itself, where that is so; the Hub sends such a delivery again. */
  reason?: string;
}

/** How a delivery that was sent once more was answered. */
export interface Replayed {
  endpoint: string;
  deliveryId: string;
  status: number;
}
