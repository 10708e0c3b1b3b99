import type { HubDelivery } from "../../../local-hub/delivery/hub-delivery.ts";
import type { UnfiredWebhook } from "../../../local-hub/events/trigger.ts";

/** A delivery that was sent; the IDs of a Hub are absent if the delivery was sent directly. */
export type TriggeredDelivery = Omit<HubDelivery, "webhookId" | "logId"> &
  Partial<Pick<HubDelivery, "webhookId" | "logId">>;

/** The effects of a sent event. */
export interface TriggerOutcome {
  deliveries: readonly TriggeredDelivery[];
  /** Webhooks that watch the repository but did not fire. */
  notFired: readonly UnfiredWebhook[];
  /** Names of the users who received a notification on the local Hub. */
  notified: readonly string[];
}

/** Whether an event had no effect. */
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
   * Sends the event once, and waits until its deliveries are done.
   *
   * @throws `HUB_UNREACHABLE`, `HUB_RESPONSE_INVALID`, `ARGUMENT_INVALID`; any error once the signal is aborted.
   */
  trigger(signal: AbortSignal): Promise<TriggerOutcome>;
  /** Returns the payload and its destinations, without sending anything. */
  preview(): Promise<TriggerPreview>;
  /** Returns the reasons why nothing was sent, and the remedies. Each string is one line. */
  explainNothingSent(notFired: readonly UnfiredWebhook[]): readonly string[];
  /** Returns remedies for failed deliveries and for webhooks that did not fire. Each string is one line. */
  advise(outcome: TriggerOutcome): readonly string[];
  close(): void;
}
