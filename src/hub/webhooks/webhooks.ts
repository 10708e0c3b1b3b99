import type { CallOptions } from "../operation.ts";
import type { Transport } from "../transport.ts";
import { checkChanges, mergeChanges, type WebhookChanges } from "./changes.ts";
import { type Webhook, type WebhookRequest, webhookOperations } from "./schemas.ts";

/**
 * The webhooks of the user whose token it is: `hub.webhooks`.
 *
 * Every method checks its arguments before anything is sent (`ARGUMENT_INVALID`, naming the fields) and throws a
 * `HubError` for whatever else goes wrong.
 */
export class HubWebhooks {
  readonly #transport: Transport;

  /** @internal */
  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** All your webhooks. */
  list(options?: CallOptions): Promise<Webhook[]> {
    return this.#transport.call(webhookOperations.list, {}, options);
  }

  /** @throws `HUB_NOT_FOUND` when there is no such webhook, as every method that takes an id does. */
  async get(webhookId: string, options?: CallOptions): Promise<Webhook> {
    const { webhook } = await this.#transport.call(webhookOperations.get, { params: { webhookId } }, options);
    return webhook;
  }

  /**
   * Creates a webhook, which is active from then on. It is repeated only where it cannot have happened.
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
   * Changes what is given and leaves the rest: the Hub takes whole webhooks only, so this reads, merges and writes back.
   * Whoever else changes the webhook between the read and the write is overwritten.
   *
   * @throws `VALUE_UNREADABLE`, before anything is written, when something would be lost that a read does not return (a
   * hidden secret; a job's `arch`, `attempts`, `volumes`, `expose`, `ssh`, `resourceGroupId` and the values of its secrets): `fields` names what to give.
   * @example
   * ```ts
   * await hub.webhooks.update(id, { url: "https://acme-bot.hf.space/webhooks/retrain", secret: null });
   * ```
   */
  async update(webhookId: string, changes: WebhookChanges, options?: CallOptions): Promise<Webhook> {
    const { checked, newer } = checkChanges(changes);
    this.#transport.warn(newer, webhookOperations.update, changes);
    const body = mergeChanges(await this.get(webhookId, options), checked);
    const { webhook } = await this.#transport.call(
      webhookOperations.update,
      { params: { webhookId }, body },
      { ...options, idempotent: true, bodyIsChecked: true },
    );
    return webhook;
  }

  /** Lets it deliver again, also one that was suspended (`disabled` is `"suspended-after-failure"`). */
  enable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "enable" }, options);
  }

  /** Stops its deliveries and keeps it. */
  disable(webhookId: string, options?: CallOptions): Promise<Webhook> {
    return this.#setState({ webhookId, action: "disable" }, options);
  }

  /** Removes it for good. */
  async delete(webhookId: string, options?: CallOptions): Promise<void> {
    await this.#transport.call(webhookOperations.delete, { params: { webhookId } }, options);
  }

  /**
   * Sends a delivery of the past again, to the URL and with the secret that the webhook has now; `status` is what the
   * receiver answered. Ids of the log are found in the Activity tab of the webhook's page on the Hub.
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
