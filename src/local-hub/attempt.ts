import { maskUrl, secretsInUrl } from "../url-secrets.ts";
import type { JobRunner } from "./job-runner.ts";
import type { LogEntry } from "./log-entry.ts";
import type { Poster } from "./post.ts";
import type { PendingDelivery } from "./store/delivery-store.ts";
import type { StoredWebhook } from "./store/webhook-store.ts";

/** What an attempt needs of the local Hub. */
export interface AttemptContext {
  poster: Poster;
  jobs: JobRunner;
  timeoutMs: number;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  signal: AbortSignal;
}

/** One attempt at a delivery. */
export interface AttemptOptions {
  webhook: StoredWebhook;
  delivery: Pick<PendingDelivery, "deliveryId" | "logId" | "attempt" | "body">;
}

/** What an attempt came to. `error` of its entry is `null` when it succeeded. */
export interface Attempted {
  entry: LogEntry;
  /** Whether another attempt could end differently. */
  retryable: boolean;
}

type Sent = Pick<LogEntry, "url" | "status" | "response" | "error"> & {
  headers: Record<string, string>;
  retryable: boolean;
};

/** Sends a delivery once, to the webhook's URL or to a job, and tells how that went. Never throws. */
export async function attemptDelivery(context: AttemptContext, options: AttemptOptions): Promise<Attempted> {
  const startedAt = context.now();
  const { url } = options.webhook.definition;
  const sent = url === undefined ? startJob(context, options) : await post(context, { ...options, url });
  const { deliveryId, logId, attempt, body } = options.delivery;
  return {
    retryable: sent.retryable,
    entry: {
      logId,
      deliveryId,
      attempt,
      at: new Date(startedAt).toISOString(),
      durationMs: context.now() - startedAt,
      url: sent.url,
      status: sent.status,
      request: { headers: sent.headers, body },
      response: sent.response,
      error: sent.error,
    },
  };
}

async function post(
  context: AttemptContext,
  { webhook, delivery, url }: AttemptOptions & { url: string },
): Promise<Sent> {
  const { secret } = webhook.definition;
  const headers = {
    "content-type": "application/json",
    "user-agent": "hub-webhooks local Hub",
    "webhook-id": delivery.deliveryId,
  };
  const told = {
    url: maskUrl(url),
    headers: secret === undefined ? headers : { ...headers, "x-webhook-secret": "***" },
  };
  // An HTTP header holds no 0x7F, and white space at its edges is cut off: another secret would arrive.
  if (secret !== undefined && (secret.includes("\x7f") || secret.trim() !== secret)) {
    const error =
      "the secret holds a character that no HTTP header can carry, or white space at its edges: choose another";
    return { ...told, status: null, response: null, error, retryable: false };
  }
  const { poster, timeoutMs, signal } = context;
  const carried = secret === undefined ? headers : { ...headers, "x-webhook-secret": secret };
  const result = await poster.post({ url, headers: carried, body: delivery.body, timeoutMs, signal });
  if ("failure" in result) {
    return { ...told, status: null, response: null, error: result.failure, retryable: true };
  }
  const { status, truncated } = result.answer;
  const secrets = [...secretsInUrl(url), ...(secret === undefined ? [] : [secret])];
  const show = (text: string) => masked(maskUrl(text), secrets);
  const response = {
    headers: Object.fromEntries(Object.entries(result.answer.headers).map(([name, value]) => [name, show(value)])),
    body: masked(result.answer.body, secrets),
    truncated,
  };
  const succeeded = status >= 200 && status < 300;
  return { ...told, status, response, error: succeeded ? null : notSuccess(status), retryable: true };
}

function notSuccess(status: number): string {
  const redirect = status >= 300 && status < 400 ? ", and a redirect is not followed" : "";
  return `only an answer of 200 to 299 is a success${redirect}`;
}

/** A job counts as reached once it is made; how it ends is told by its record. */
function startJob({ jobs, baseUrl }: AttemptContext, { webhook, delivery }: AttemptOptions): Sent {
  const { id } = jobs.start({ webhook, deliveryId: delivery.deliveryId, body: delivery.body });
  const response = { headers: {}, body: JSON.stringify({ jobId: id }), truncated: false };
  return { url: `${baseUrl}/_local/jobs#${id}`, headers: {}, status: 200, response, error: null, retryable: false };
}

/** Shorter than this, a secret stands inside ordinary words, and cutting it out would tell no more than it hides. */
const shortestMasked = 4;

/** A text of the receiver's without the secrets that it was sent: one that repeats them must not put them into the log. */
function masked(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= shortestMasked)
    .reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
}
