import type { CallOptions } from "../operation.ts";
import type { Transport } from "../transport/transport.ts";
import { checkChanges, mergeChanges, type WebhookChanges } from "./changes.ts";
import { type Webhook, type WebhookRequest, webhookOperations } from "./schemas.ts";

/**
 * The webhooks of the user of the token: `hub.webhooks`.
 *
 * Every method throws a `HubError`: `ARGUMENT_INVALID` with the invalid fields before a request is sent, and other codes
 * for other failures.
 */
export class HubWebhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Lists all your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]> {
    return this.#transport.call(webhookOperations.list, {}, options);
  }

  /** Returns a webhook. Every method that takes an ID throws `HUB_NOT_FOUND` if the webhook does not exist. */
  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    const { webhook } = await this.#transport.call(webhookOperations.get, { params: { webhookId } }, options);
    return webhook;
  }

  /**
   * Creates an active webhook. The call is retried only if the Hub cannot have processed it.
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
   * Changes the given fields and keeps the others. The Hub accepts only complete webhooks, so this method reads the webhook,
   * merges the changes and writes it back. It overwrites changes that are made between the read and the write.
   *
   * @throws `VALUE_UNREADABLE`, before anything is written, if the update would lose values that the Hub does not return: a
   * hidden secret, or `arch`, `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId` and secret values of a job. Pass
   * the values that `fields` lists.
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

  /** Enables a webhook that is disabled or suspended (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "enable" }, options);
  }

  /** Disables a webhook: the Hub keeps it, but sends no deliveries. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "disable" }, options);
  }

  /** Deletes a webhook permanently. */
  async delete(webhookId: string, options?: CallOptions): Promise<void> {
    await this.#transport.call(webhookOperations.delete, { params: { webhookId } }, options);
  }

  /**
   * Sends a past delivery again, with the current URL and secret of the webhook. `status` is the HTTP status of the
   * receiver's response. Find the log ID in the Activity tab of the webhook on the Hub.
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
