import type { HubDelivery } from "../../../local-hub/delivery/hub-delivery.ts";
import type { UnfiredWebhook } from "../../../local-hub/events/publish-change.ts";

/** A delivery that was sent. A delivery that was sent without a Hub has no webhook ID and no log ID. */
export type TriggeredDelivery = Omit<HubDelivery, "webhookId" | "logId"> &
  Partial<Pick<HubDelivery, "webhookId" | "logId">>;

/** The effects of a sent event. */
export interface TriggerOutcome {
  deliveries: readonly TriggeredDelivery[];
  /** Webhooks that watch the repository but did not fire. */
  notFired: readonly UnfiredWebhook[];
  /** The names of users who received a notification on the local Hub. */
  notified: readonly string[];
}

/** Whether an event caused no delivery and no notification. */
export function isWithoutEffect({ deliveries, notified }: TriggerOutcome): boolean {
  return deliveries.length === 0 && notified.length === 0;
}

/** The payload that an event would send, and its destinations. */
export interface TriggerPreview {
  payload: unknown;
  receivers: readonly { url: string; webhookId?: string }[];
  notFired: readonly UnfiredWebhook[];
}

/** Sends events to the webhooks of a local Hub, or to a URL. */
export interface EventSender {
  /**
   * Sends the event once, then waits until its deliveries are finished.
   *
   * @throws `HUB_UNREACHABLE`, `HUB_RESPONSE_INVALID`, `ARGUMENT_INVALID`; any error after the signal is aborted.
   */
  trigger(signal: AbortSignal): Promise<TriggerOutcome>;
  /** Returns the payload and its destinations, without sending anything. */
  preview(): Promise<TriggerPreview>;
  /** Returns one-line texts with the reasons why no delivery was sent, and the remedies. */
  explainNothingSent(notFired: readonly UnfiredWebhook[]): readonly string[];
  /** Returns one-line remedies for failed deliveries and for webhooks that did not fire. */
  advise(outcome: TriggerOutcome): readonly string[];
  close(): void;
}
