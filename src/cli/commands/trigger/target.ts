import type { HubDelivery } from "../../../local-hub/delivery/hub-delivery.ts";
import type { SkippedWebhook } from "../../../local-hub/events/trigger.ts";

/** A delivery that was sent; what only a Hub knows of it is there where it went through one. */
export type TriggeredDelivery = Omit<HubDelivery, "webhookId" | "logId"> &
  Partial<Pick<HubDelivery, "webhookId" | "logId">>;

/** What came of an event. */
export interface TriggerOutcome {
  deliveries: readonly TriggeredDelivery[];
  /** Webhooks that watch the repository and were silent all the same. */
  notFired: readonly SkippedWebhook[];
  /** The names of the users whom a notification of the local Hub tells of it. */
  notified: readonly string[];
}

/** Whether an event has led to nothing at all. */
export function isWithoutEffect({ deliveries, notified }: TriggerOutcome): boolean {
  return deliveries.length === 0 && notified.length === 0;
}

/** What would come of an event. */
export interface TriggerPreview {
  payload: unknown;
  /** Who would get it. */
  receivers: readonly { url: string; webhookId?: string }[];
  notFired: readonly SkippedWebhook[];
}

/** Where `trigger` sends: to the webhooks of a local Hub, or straight to a URL. */
export interface TriggerTarget {
  /**
   * Lets the event happen once, and waits for what comes of it.
   *
   * @throws `HUB_UNREACHABLE`, `HUB_RESPONSE_INVALID`, `ARGUMENT_INVALID`; anything once the signal is aborted.
   */
  trigger(signal: AbortSignal): Promise<TriggerOutcome>;
  /** Works out what would be sent, and sends nothing. */
  preview(): Promise<TriggerPreview>;
  /** Why nothing at all was sent, and what to do about it; each a line. */
  explainSilence(notFired: readonly SkippedWebhook[]): readonly string[];
  /** What to do about deliveries that failed, and about webhooks that were silent beside them; each a line. */
  advise(outcome: TriggerOutcome): readonly string[];
  close(): void;
}
