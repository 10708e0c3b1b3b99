import { cutAt } from "../../console/shorten.ts";

/** A delivery that an event has led to, and how its latest attempt went. */
export interface HubDelivery {
  webhookId: string;
  /** The `Webhook-Id`: kept on retries and replays. */
  deliveryId: string;
  /** The log entry of its latest attempt; where there was none yet, the one that its first will make. */
  logId: string;
  /** Where it goes, without the secret that a URL may hold; for a job, where the local Hub tells of it. */
  url: string;
  /** How often it was tried so far. */
  attempts: number;
  /** HTTP status of the latest attempt; `null` when there was no answer, or none yet. */
  status: number | null;
  /** Milliseconds that the latest attempt took; `null` before there was one. */
  durationMs: number | null;
  /** What was answered, as text, its first 2,000 characters; `null` when there was no answer. */
  answer: string | null;
  /** Why the latest attempt was no success, for a person; `null` when it was one, and before there was one. */
  error: string | null;
}

/** How much of an answer is told; the log keeps more of it. */
const longestAnswer = 2_000;

/** A delivery that was fired and not tried yet. */
export function untriedDelivery(
  fired: Pick<HubDelivery, "webhookId" | "deliveryId" | "logId"> & { url: string },
): HubDelivery {
  const { webhookId, deliveryId, logId, url } = fired;
  const nothing = { attempts: 0, status: null, durationMs: null, answer: null, error: null };
  return { webhookId, deliveryId, logId, url, ...nothing };
}

/** A delivery as an entry of the log tells it. */
export function triedDelivery(webhookId: string, entry: LogEntry): HubDelivery {
  const { deliveryId, logId, url, attempt, status, durationMs, response, error } = entry;
  const answer = response === null ? null : cutAt(response.body, longestAnswer);
  return { webhookId, deliveryId, logId, url, attempts: attempt, status, durationMs, answer, error };
}

/** A delivery that will not be tried any more, and never was. */
export function droppedDelivery(delivery: HubDelivery): HubDelivery {
  return {
    ...delivery,
    error: "it was given up: its webhook was stopped, or the local Hub closed",
  };
}

/** One attempt at a delivery, as the log of a webhook keeps it. */
export interface LogEntry {
  logId: string;
  /** The `Webhook-Id`: the same on retries and replays. */
  deliveryId: string;
  /** Number of the attempt, from 1; a replay goes on counting. */
  attempt: number;
  /** When it began (ISO 8601). */
  at: string;
  durationMs: number;
  /** Where it went, without the secret that a URL may hold. */
  url: string;
  /** HTTP status of the answer; `null` when there was none. */
  status: number | null;
  /** The header with the secret holds `***`. */
  request: { headers: Record<string, string>; body: string };
  /** What was read of the answer, at most 64 kB. */
  response: { headers: Record<string, string>; body: string; truncated: boolean } | null;
  /** Why it was no success, for a person; `null` when it was one. */
  error: string | null;
}
