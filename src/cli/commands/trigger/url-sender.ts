import { defaultPort, maskUrl } from "../../../core/urls.ts";
import { createId, createSha } from "../../../local-hub/accounts.ts";
import { postDelivery } from "../../../local-hub/delivery/attempt.ts";
import { HttpSender } from "../../../local-hub/delivery/http-sender.ts";
import { describeAttempted } from "../../../local-hub/delivery/hub-delivery.ts";
import type { ParsedEvent } from "../../../local-hub/events/event-request.ts";
import { serializeEvent } from "../../../local-hub/events/event-request.ts";
import { usageError } from "../../usage.ts";
import { hubUrl } from "./event.ts";
import {
  type EventSender,
  isSecretRejected,
  type TriggeredDelivery,
  type TriggerOutcome,
  type TriggerPreview,
} from "./results.ts";

interface UrlSenderOptions {
  url: string;
  secret: string | undefined;
  event: ParsedEvent;
}

/** The Hub's timeout for a complete response. */
const timeoutMs = 30_000;

/** Posts deliveries to a URL with the same headers as the Hub. Each delivery has a new ID, and failed deliveries are not retried. */
export class UrlSender implements EventSender {
  readonly #options: UrlSenderOptions;
  readonly #webhookId = createId();
  readonly #sender = new HttpSender({ allowRemote: true });

  /** @throws `ARGUMENT_INVALID` for an invalid URL or secret. */
  constructor(options: UrlSenderOptions) {
    checkUrl(options.url);
    checkSecret(options.secret);
    this.#options = options;
  }

  async trigger(signal: AbortSignal): Promise<TriggerOutcome> {
    const delivery = await postOnce(this.#sender, { ...this.#options, body: this.#body(), signal });
    return { deliveries: [delivery], notFired: [], notified: [] };
  }

  async preview(): Promise<TriggerPreview> {
    return { payload: JSON.parse(this.#body()), receivers: [{ url: maskUrl(this.#options.url) }], notFired: [] };
  }

  explainNothingSent(): readonly string[] {
    return [];
  }

  advise({ deliveries }: TriggerOutcome): readonly string[] {
    const isRefused = deliveries.some(isSecretRejected);
    const isUnknown = deliveries.some(({ status }) => status === 404);
    const isClosed = deliveries.some(({ error }) => error?.includes("ECONNREFUSED"));
    return [
      ...(isClosed ? [`No server listens at ${new URL(this.#options.url).host}. Start the server, or fix --url.`] : []),
      ...(isRefused ? [this.#adviseSecret()] : []),
      ...(isUnknown ? ["A 404 usually means that the path is wrong. The path of an endpoint is /webhooks/NAME."] : []),
    ];
  }

  close(): void {
    this.#sender.close();
  }

  #adviseSecret(): string {
    return this.#options.secret === undefined
      ? "The server requires a secret. Set WEBHOOK_SECRET, or add --secret-stdin or --secret."
      : "The server rejected the secret. Use the value of WEBHOOK_SECRET on the server.";
  }

  #body(): string {
    const { event } = this.#options;
    return serializeEvent(event, { hubUrl, createId, createSha })(this.#webhookId);
  }
}

/** Posts a delivery once, with a new ID, as the Hub does. @throws the abort reason of the signal. */
export async function postOnce(
  sender: HttpSender,
  { url, secret, body, signal }: { url: string; secret: string | undefined; body: string; signal: AbortSignal },
): Promise<TriggeredDelivery> {
  const delivery = { deliveryId: createId(), logId: createId(), attempt: 1, body };
  const context = { sender, timeoutMs, now: () => performance.timeOrigin + performance.now(), signal };
  const { attempt } = await postDelivery(context, { url, secret, delivery });
  signal.throwIfAborted();
  const { webhookId: _webhookId, logId: _logId, ...delivered } = describeAttempted("", attempt);
  return { ...delivered, durationMs: Math.round(attempt.durationMs) };
}

function checkUrl(url: string): void {
  const parsed = URL.parse(url);
  if (parsed && /^https?:$/.test(parsed.protocol)) return;
  // The error does not quote the URL, because it can contain a password.
  throw usageError(
    `Invalid --url. Use an http:// or https:// URL, such as http://127.0.0.1:${defaultPort}/webhooks/NAME.`,
  );
}

function checkSecret(secret: string | undefined): void {
  if (secret === undefined || /^[\x20-\x7e]+$/.test(secret)) return;
  throw usageError("The secret contains characters that the Hub does not allow. Use printable ASCII characters.");
}
