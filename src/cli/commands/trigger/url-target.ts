import { maskUrl } from "../../../core/urls.ts";
import { postDelivery } from "../../../local-hub/delivery/attempt.ts";
import { HttpSender } from "../../../local-hub/delivery/http-sender.ts";
import { describeAttempted } from "../../../local-hub/delivery/hub-delivery.ts";
import { resolveEvent } from "../../../local-hub/events/event-payload.ts";
import type { ParsedEvent } from "../../../local-hub/events/event-request.ts";
import { createId, createSha } from "../../../local-hub/ids.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import { hubUrl } from "./event.ts";
import { isRefusal } from "./tally.ts";
import type { TriggerOutcome, TriggerPreview, TriggerTarget } from "./target.ts";

/** What a {@link UrlTarget} is made from. */
export interface UrlTargetOptions {
  url: string;
  secret: string | undefined;
  event: ParsedEvent;
}

/** As long as the Hub waits for a whole answer. */
const timeoutMs = 30_000;

/** A URL to which a delivery is posted as the Hub would, without a Hub: once, and under a new id each time. */
export class UrlTarget implements TriggerTarget {
  readonly #options: UrlTargetOptions;
  readonly #webhookId = createId();
  readonly #sender = new HttpSender({ allowRemote: true });

  /** @throws `ARGUMENT_INVALID` when the URL or the secret cannot be used. */
  constructor(options: UrlTargetOptions) {
    checkUrl(options.url);
    checkSecret(options.secret);
    this.#options = options;
  }

  async trigger(signal: AbortSignal): Promise<TriggerOutcome> {
    const { url, secret } = this.#options;
    const delivery = { deliveryId: createId(), logId: createId(), attempt: 1, body: this.#body() };
    const context = { sender: this.#sender, timeoutMs, now: () => performance.timeOrigin + performance.now(), signal };
    const { entry } = await postDelivery(context, { url, secret, delivery });
    signal.throwIfAborted();
    const { webhookId: _webhookId, logId: _logId, ...told } = describeAttempted(this.#webhookId, entry);
    return { deliveries: [{ ...told, durationMs: Math.round(entry.durationMs) }], notFired: [], notified: [] };
  }

  async preview(): Promise<TriggerPreview> {
    return { payload: JSON.parse(this.#body()), receivers: [{ url: maskUrl(this.#options.url) }], notFired: [] };
  }

  explainSilence(): readonly string[] {
    return [];
  }

  advise({ deliveries }: TriggerOutcome): readonly string[] {
    const isRefused = deliveries.some(isRefusal);
    const isUnknown = deliveries.some(({ status }) => status === 404);
    const isClosed = deliveries.some(({ error }) => error?.includes("ECONNREFUSED"));
    return [
      ...(isClosed
        ? [`Nothing listens at ${new URL(this.#options.url).host}: start the receiver, or mend --url.`]
        : []),
      ...(isRefused ? [this.#adviseSecret()] : []),
      ...(isUnknown ? ["A 404 mostly says that the path is wrong: endpoints of a server are at /webhooks/NAME."] : []),
    ];
  }

  close(): void {
    this.#sender.close();
  }

  #adviseSecret(): string {
    return this.#options.secret === undefined
      ? "The receiver asks for a secret, and none was given: set WEBHOOK_SECRET, or add --secret-stdin or --secret."
      : "The receiver does not take this secret: give the one that it has in its WEBHOOK_SECRET.";
  }

  #body(): string {
    const { event } = this.#options;
    return resolveEvent({ event, baseUrl: hubUrl, createId, createSha }).bodyFor(this.#webhookId);
  }
}

function checkUrl(url: string): void {
  const parsed = URL.parse(url);
  if (parsed && /^https?:$/.test(parsed.protocol)) return;
  // It is not shown: what is wrong with it may be that a password stands in it.
  throw wrongUsage("--url: it is no address to post to: give one such as http://127.0.0.1:7860/webhooks/NAME.");
}

function checkSecret(secret: string | undefined): void {
  if (secret === undefined || /^[\x20-\x7e]+$/.test(secret)) return;
  throw wrongUsage("The secret holds what the Hub does not take: give one of letters, digits and signs of ASCII.");
}
