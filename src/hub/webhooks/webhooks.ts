import type { CallOptions } from "../operation.ts";
import type { Transport } from "../transport/transport.ts";
import { checkChanges, mergeChanges, type WebhookChanges } from "./changes.ts";
import { type Webhook, type WebhookRequest, webhookOperations } from "./schemas.ts";

/**
 * The methods of `hub.webhooks` for the webhooks of the token's user.
 *
 * All methods throw a `HubError` on failure. The code is `ARGUMENT_INVALID` if an argument is invalid. In this case, no request is
 * sent, and `fields` contains the invalid fields.
 */
export class HubWebhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Returns all your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]> {
    return this.#transport.call(webhookOperations.list, {}, options);
  }

  /** Returns a webhook. Like all methods with a webhook ID, throws `HUB_NOT_FOUND` if the webhook does not exist. */
  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    const { webhook } = await this.#transport.call(webhookOperations.get, { params: { webhookId } }, options);
    return webhook;
  }

  /**
   * Creates an enabled webhook. The call is retried only if the Hub cannot have processed the call.
   *
   * @example
   * ```ts
   * const { id } = await hub.webhooks.create({
   *   watched: [{ type: "dataset", name: "acme/data" }],
   *   domains: ["repo"],
   *   url: "https://acme-bot.hf.space/webhooks/retrain",
   *   secret: process.env.WEBHOOK_SECRET,
   * });
   * ```
   */
  async create(request: WebhookRequest, options?: CallOptions): Promise<Webhook> {
    const { webhook } = await this.#transport.call(webhookOperations.create, { body: request }, options);
    return webhook;
  }

  /**
   * Changes the given fields. Omitted fields keep their values. The Hub accepts only complete webhooks, so this method reads the
   * webhook, merges the changes, and writes the webhook. Changes that are made between the read and the write are overwritten.
   *
   * @throws `VALUE_UNREADABLE` if the update would remove values that the Hub does not return: a hidden secret, or `arch`,
   *   `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId`, and secret values of a job. In this case, the webhook is not
   *   changed. Pass the values of the fields in `fields`.
   * @example
   * ```ts
   * await hub.webhooks.update(id, { url: "https://acme-bot.hf.space/webhooks/retrain", secret: null });
   * ```
   */
  async update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook> {
    const { checked, unknownParts } = checkChanges(changes);
    this.#transport.warn(unknownParts, webhookOperations.update, changes);
    const body = mergeChanges(await this.get(webhookId, options), checked);
    const { webhook } = await this.#transport.call(
      webhookOperations.update,
      { params: { webhookId }, body },
      { ...options, idempotent: true, skipBodyValidation: true },
    );
    return webhook;
  }

  /** Enables a webhook that is disabled, or that is suspended after failures (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "enable" }, options);
  }

  /** Disables a webhook. The Hub keeps the webhook but sends no deliveries. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "disable" }, options);
  }

  /** Deletes a webhook permanently. */
  async delete(webhookId: string, options?: CallOptions): Promise<void> {
    await this.#transport.call(webhookOperations.delete, { params: { webhookId } }, options);
  }

  /**
   * Sends a past delivery again, with the webhook's current URL and secret. `status` is the HTTP status of the
   * receiver's response. Find the log ID in the webhook's Activity tab on the Hub.
   */
  replay(webhookId: string, logId: string, options?: CallOptions): Promise<{ status: number }> {
    return this.#transport.call(webhookOperations.replay, { params: { webhookId, logId } }, options);
  }

  async #setState(
    params: { webhookId: string; action: "enable" | "disable" },
    options: CallOptions | undefined,
  ): Promise<Webhook> {
    const { webhook } = await this.#transport.call(
      webhookOperations.setState,
      { params },
      { ...options, idempotent: true },
    );
    return webhook;
  }
}
