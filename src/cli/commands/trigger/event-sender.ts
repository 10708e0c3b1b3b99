import type { HubDelivery } from "../../../local-hub/delivery/hub-delivery.ts";
import type { UnfiredWebhook } from "../../../local-hub/events/trigger.ts";

/** A delivery that was sent; the IDs of a Hub are absent if it was sent directly. */
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

/** What an event would send. */
export interface TriggerPreview {
  payload: unknown;
  receivers: readonly { url: string; webhookId?: string }[];
  notFired: readonly UnfiredWebhook[];
}

/** Sends events to the webhooks of a local Hub, or to a URL. */
export interface EventSender {
  /**
   * Sends the event once, and waits for its effects.
   *
   * @throws `HUB_UNREACHABLE`, `HUB_RESPONSE_INVALID`, `ARGUMENT_INVALID`; any error once the signal is aborted.
   */
  trigger(signal: AbortSignal): Promise<TriggerOutcome>;
  /** Determines what would be sent, without sending it. */
  preview(): Promise<TriggerPreview>;
  /** Explains why nothing was sent, and what to do; one string per line. */
  explainNothingSent(notFired: readonly UnfiredWebhook[]): readonly string[];
  /** What to do about failed deliveries and webhooks that did not fire; one string per line. */
  advise(outcome: TriggerOutcome): readonly string[];
  close(): void;
}
