import { copyStart, cutAt } from "../../core/text.ts";

/** A delivery that an event caused, with the result of its latest attempt. */
export interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** The ID of the latest attempt. Before the first attempt, the ID that the first attempt will have. */
  logId: string;
  /** The target URL with masked secrets. For a job, the URL at which the local Hub lists the job. */
  url: string;
  /** The number of attempts so far. */
  attempts: number;
  /** The HTTP status of the latest attempt, or `null` if there was no response. */
  status: number | null;
  /** The duration of the latest attempt in milliseconds, or `null` before the first attempt. */
  durationMs: number | null;
  /** The first 2,000 characters of the response body, or `null` if there was no response. */
  answer: string | null;
  /** A readable reason why the latest attempt failed or why the delivery was canceled. Otherwise `null`. */
  error: string | null;
}

/** One attempt to send a delivery. The Hub calls the ID of an attempt `logId`. */
export interface HubDeliveryAttempt {
  logId: string;
  /** The `Webhook-Id` header: the same on retries and replays. */
  deliveryId: string;
  /** The number of the attempt, starting at 1. Replays count as attempts. */
  attempt: number;
  /** The start time of the attempt, in ISO 8601 format. */
  at: string;
  durationMs: number;
  /** The target URL with masked secrets. */
  url: string;
  /** The HTTP status of the response, or `null` if there was no response. */
  status: number | null;
  /** The request. The value of the secret header is masked as `***`. */
  request: { headers: Record<string, string>; body: string };
  /** The response, with up to 64 KiB of the body. */
  response: { headers: Record<string, string>; body: string; truncated: boolean } | null;
  /** A readable reason why the attempt failed, or `null` if the attempt succeeded. */
  error: string | null;
}

const maxAnswerCharacters = 2_000;

export function describePending(
  delivery: Pick<HubDelivery, "webhookId" | "deliveryId" | "logId" | "url">,
): HubDelivery {
  const { webhookId, deliveryId, logId, url } = delivery;
  return { webhookId, deliveryId, logId, url, attempts: 0, status: null, durationMs: null, answer: null, error: null };
}

export function describeAttempted(webhookId: string, latest: HubDeliveryAttempt): HubDelivery {
  const { deliveryId, logId, url, attempt, status, durationMs, response, error } = latest;
  const answer = response && copyStart(cutAt(response.body, maxAnswerCharacters), maxAnswerCharacters);
  return { webhookId, deliveryId, logId, url, attempts: attempt, status, durationMs, answer, error };
}

export function describeCanceled(delivery: HubDelivery): HubDelivery {
  return { ...delivery, error: "canceled: the webhook was disabled or deleted, or the local Hub closed" };
}
