import { cutAt } from "../../core/shorten.ts";

/** A delivery that an event caused, with the result of its latest attempt. */
export interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** Id of the latest attempt; before the first attempt, the id that it will have. */
  logId: string;
  /** Target URL with its secrets masked; for a job, the URL under which the local Hub lists it. */
  url: string;
  /** Number of attempts so far. */
  attempts: number;
  /** HTTP status of the latest attempt; `null` without a response. */
  status: number | null;
  /** Duration of the latest attempt in milliseconds; `null` before the first attempt. */
  durationMs: number | null;
  /** The first 2,000 characters of the response body; `null` without a response. */
  answer: string | null;
  /** Why the latest attempt failed, for people to read; `null` if it succeeded and before the first attempt. */
  error: string | null;
}

/** One attempt at a delivery. The Hub calls its id `logId`. */
export interface HubDeliveryAttempt {
  logId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** Number of the attempt, from 1. Replays are counted too. */
  attempt: number;
  /** When the attempt started (ISO 8601). */
  at: string;
  durationMs: number;
  /** Target URL with its secrets masked. */
  url: string;
  /** HTTP status of the response; `null` without a response. */
  status: number | null;
  /** The secret header is masked as `***`. */
  request: { headers: Record<string, string>; body: string };
  /** The response, with at most 64 KiB of its body. */
  response: { headers: Record<string, string>; body: string; truncated: boolean } | null;
  /** Why the attempt failed, for people to read; `null` if it succeeded. */
  error: string | null;
}

const maxAnswerCharacters = 2_000;

/** Describes a delivery before its first attempt. */
export function describePending(
  delivery: Pick<HubDelivery, "webhookId" | "deliveryId" | "logId" | "url">,
): HubDelivery {
  const { webhookId, deliveryId, logId, url } = delivery;
  return { webhookId, deliveryId, logId, url, attempts: 0, status: null, durationMs: null, answer: null, error: null };
}

/** Describes a delivery by its latest attempt. */
export function describeAttempted(webhookId: string, latest: HubDeliveryAttempt): HubDelivery {
  const { deliveryId, logId, url, attempt, status, durationMs, response, error } = latest;
  const answer = response === null ? null : cutAt(response.body, maxAnswerCharacters);
  return { webhookId, deliveryId, logId, url, attempts: attempt, status, durationMs, answer, error };
}

/** Describes a delivery that was canceled before its first attempt. */
export function describeCanceled(delivery: HubDelivery): HubDelivery {
  return { ...delivery, error: "canceled: the webhook was disabled or deleted, or the local Hub closed" };
}
