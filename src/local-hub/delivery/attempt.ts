import { maskUrl, secretsInUrl } from "../../core/urls.ts";
import type { JobRunner } from "../jobs/job-runner.ts";
import { createMask, minMaskedLength } from "../jobs/run-command.ts";
import type { PendingDelivery } from "../store/delivery-store.ts";
import type { StoredWebhook } from "../store/webhook-store.ts";
import type { HttpSender } from "./http-sender.ts";
import type { HubDeliveryAttempt } from "./hub-delivery.ts";

export const deliveryUserAgent = "hub-webhooks local Hub";

interface PostContext {
  sender: HttpSender;
  timeoutMs: number;
  now: () => number;
  signal: AbortSignal;
}

export interface AttemptContext extends PostContext {
  jobs: JobRunner;
  hubUrl: string;
}

interface AttemptOptions {
  webhook: StoredWebhook;
  delivery: Pick<PendingDelivery, "deliveryId" | "logId" | "attempt" | "body">;
}

interface PostOptions extends Pick<AttemptOptions, "delivery"> {
  url: string;
  secret: string | undefined;
}

interface AttemptResult {
  attempt: HubDeliveryAttempt;
  /** Whether another attempt could succeed. */
  retryable: boolean;
}

type SendResult = Pick<HubDeliveryAttempt, "url" | "status" | "response" | "error"> & {
  headers: Record<string, string>;
  retryable: boolean;
};

/** Attempts a delivery once: posts the payload to the webhook's URL, or starts the webhook's job. Never throws. */
export async function attemptDelivery(context: AttemptContext, options: AttemptOptions): Promise<AttemptResult> {
  const { webhook, delivery } = options;
  const { url, secret } = webhook.definition;
  if (url !== undefined) return postDelivery(context, { url, secret, delivery });
  return recordAttempt(context.now, delivery, () => startJob(context, options));
}

/** Posts a delivery once, as the Hub does. Never throws. */
export function postDelivery(context: PostContext, options: PostOptions): Promise<AttemptResult> {
  return recordAttempt(context.now, options.delivery, () => post(context, options));
}

async function recordAttempt(
  now: () => number,
  delivery: AttemptOptions["delivery"],
  send: () => SendResult | Promise<SendResult>,
): Promise<AttemptResult> {
  const startedAt = now();
  const { url, status, headers, response, error, retryable } = await send();
  const { deliveryId, logId, attempt, body } = delivery;
  return {
    retryable,
    attempt: {
      logId,
      deliveryId,
      attempt,
      at: new Date(startedAt).toISOString(),
      // The clock can be set back during the attempt.
      durationMs: Math.max(0, now() - startedAt),
      url,
      status,
      request: { headers, body },
      response,
      error,
    },
  };
}

async function post(context: PostContext, { delivery, url, secret }: PostOptions): Promise<SendResult> {
  const headers = {
    "content-type": "application/json",
    "user-agent": deliveryUserAgent,
    "webhook-id": delivery.deliveryId,
  };
  const logged = {
    url: maskUrl(url),
    headers: secret === undefined ? headers : { ...headers, "x-webhook-secret": "***" },
  };
  // DEL (0x7F) is not valid in an HTTP header. HTTP removes surrounding whitespace, so the receiver would get a
  // different secret.
  if (secret !== undefined && (secret.includes("\x7f") || secret.trim() !== secret)) {
    const error =
      "invalid secret: DEL characters and leading or trailing whitespace are not valid in an HTTP header. Change the secret";
    return { ...logged, status: null, response: null, error, retryable: false };
  }
  const { sender, timeoutMs, signal } = context;
  const sent = secret === undefined ? headers : { ...headers, "x-webhook-secret": secret };
  const result = await sender.send({ url, headers: sent, body: delivery.body, timeoutMs, signal });
  if ("failure" in result) return { ...logged, status: null, response: null, error: result.failure, retryable: true };
  const { status, truncated } = result.response;
  const written = [...secretsInUrl(url), ...(secret === undefined ? [] : [secret])];
  // A receiver can return its request, also as JSON. Shorter secrets occur in ordinary words, where a mask would reveal them.
  const secrets = written
    .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
    .filter(({ length }) => length >= minMaskedLength);
  const maskHeader = createMask(secrets, Number.POSITIVE_INFINITY);
  const { body } = result.response;
  const maskBody = createMask(secrets, truncated ? body.length : Number.POSITIVE_INFINITY);
  const response = {
    headers: Object.fromEntries(
      Object.entries(result.response.headers).map(([name, value]) => [name, maskHeader(maskUrl(value))]),
    ),
    body: maskBody(body),
    truncated,
  };
  return { ...logged, status, response, error: describeFailure(status), retryable: true };
}

function describeFailure(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  return `the receiver answered ${status}: only 200 to 299 counts as success${redirect}`;
}

/** The delivery succeeds as soon as the job is created. The status of the job shows whether the job succeeds. */
function startJob({ jobs, hubUrl }: AttemptContext, { webhook, delivery }: AttemptOptions): SendResult {
  const { id } = jobs.start(webhook, delivery);
  const response = { headers: {}, body: JSON.stringify({ jobId: id }), truncated: false };
  return { url: `${hubUrl}/_local/jobs#${id}`, headers: {}, status: 200, response, error: null, retryable: false };
}
