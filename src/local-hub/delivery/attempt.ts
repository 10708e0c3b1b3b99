import { maskUrl, secretsInUrl } from "../../core/urls.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import type { PendingDelivery } from "../store/delivery-store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { Poster } from "./http-sender.ts";
import type { LogEntry } from "./hub-delivery.ts";

/** What an attempt to post needs. */
export interface PostContext {
  poster: Poster;
  timeoutMs: number;
  /** Milliseconds since the epoch. */
  now: () => number;
  signal: AbortSignal;
}

/** What an attempt needs of the local Hub. */
export interface AttemptContext extends PostContext {
  jobs: JobRunner;
  /** Where the local Hub is, without a trailing slash. */
  baseUrl: string;
}

/** One attempt at a delivery. */
export interface AttemptOptions {
  webhook: StoredWebhook;
  delivery: Pick<PendingDelivery, "deliveryId" | "logId" | "attempt" | "body">;
}

/** One attempt to post a delivery. */
export interface PostOptions extends Pick<AttemptOptions, "delivery"> {
  url: string;
  secret: string | undefined;
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
  const { webhook, delivery } = options;
  const { url, secret } = webhook.definition;
  if (url !== undefined) return postDelivery(context, { url, secret, delivery });
  return timed(context, { delivery, send: () => startJob(context, options) });
}

/** Posts a delivery once, as the Hub does, and tells how that went. Never throws. */
export function postDelivery(context: PostContext, options: PostOptions): Promise<Attempted> {
  return timed(context, { delivery: options.delivery, send: () => post(context, options) });
}

async function timed(
  { now }: Pick<PostContext, "now">,
  { delivery, send }: Pick<AttemptOptions, "delivery"> & { send: () => Sent | Promise<Sent> },
): Promise<Attempted> {
  const startedAt = now();
  const sent = await send();
  const { deliveryId, logId, attempt, body } = delivery;
  return {
    retryable: sent.retryable,
    entry: {
      logId,
      deliveryId,
      attempt,
      at: new Date(startedAt).toISOString(),
      durationMs: now() - startedAt,
      url: sent.url,
      status: sent.status,
      request: { headers: sent.headers, body },
      response: sent.response,
      error: sent.error,
    },
  };
}

async function post(context: PostContext, { delivery, url, secret }: PostOptions): Promise<Sent> {
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
