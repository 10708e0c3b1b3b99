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
