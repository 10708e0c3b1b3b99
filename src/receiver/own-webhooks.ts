import type { CallBudget } from "../catch-up/call-budget.ts";
import { HubError } from "../core/errors.ts";
import { formatDuration } from "../core/options.ts";
import { webhooksPath } from "../core/urls.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import { isDeliveredTo, stateOf } from "./console/endpoints.ts";
import { publicUrlOf, type ServerContext } from "./context.ts";
import type { ServerHub } from "./hub.ts";

/** How often the webhooks are listed while no endpoint is compared. */
export const listIntervalMs = 10 * 60_000;
/** How long a list is used: several endpoints are compared at the same time, and a polled one every few seconds. */
const freshMs = 60_000;
/** The codes for a token that is missing or has no right to a call. */
const tokenError = /^HUB_(?:TOKEN_MISSING|TOKEN_INVALID|UNAUTHORIZED|FORBIDDEN)$/;

interface OwnWebhooksParts {
  hub: ServerHub;
  budget: CallBudget;
  /** Called if a webhook was enabled since the webhooks were last listed, and if one is due to be enabled again. */
  onDue: (endpoint: string) => void;
}

/**
 * The webhooks on the Hub whose URLs point to the endpoints of a server. While one does not deliver, its endpoint misses deliveries.
 * Failed calls are only logged, because the comparisons go on without them.
 */
export class OwnWebhooks {
  readonly #context: ServerContext;
  readonly #parts: OwnWebhooksParts;
  /** The IDs of the enabled webhooks in the last list. */
  #enabled: ReadonlySet<string> | undefined;
  #listed: { at: number; webhooks: Promise<readonly Webhook[]> } | undefined;
  /** When the server may enable each webhook again, by ID. */
  readonly #nextAt = new Map<string, number>();
  #canList = true;
  #canEnable = true;

  constructor(context: ServerContext, parts: OwnWebhooksParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** Lists the webhooks, and calls `onDue`. Rejects if the signal aborts, or if the option `publicUrl` throws. */
  async check(signal: AbortSignal): Promise<void> {
    const { endpoints, now } = this.#context;
    for (const webhook of await this.#list(signal)) {
      if (now() < (this.#nextAt.get(webhook.id) ?? Number.POSITIVE_INFINITY)) continue;
      for (const { name } of endpoints.all) {
        if (this.#isOwn(webhook, name) && this.#canBeEnabled(webhook)) this.#parts.onDue(name);
      }
    }
  }

  /**
   * Enables the webhooks of an endpoint that the Hub has suspended. Call this before the endpoint is compared, so that nothing is missed in
   * between. A webhook that fails again is enabled again after `everyMs`, but not within ten minutes, which are enough after a failed call.
   * A webhook that a person has disabled, or whose secret the server refuses, stays as it is. Rejects only if the signal aborts.
   */
  async enableSuspended(
    { endpoint, everyMs }: { endpoint: string; everyMs: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { log, now } = this.#context;
    const own = (await this.#list(signal)).filter((webhook) => this.#isOwn(webhook, endpoint));
    const publicUrl = publicUrlOf(this.#context);
    if (own.length === 0)
      log.debug({ endpoint, publicUrl }, "Found no webhook with the URL of the endpoint to enable.");
    for (const webhook of own) {
      const { id } = webhook;
      if (!this.#canBeEnabled(webhook) || now() < (this.#nextAt.get(id) ?? 0)) continue;
      this.#nextAt.set(id, now() + Math.max(everyMs, listIntervalMs));
      try {
        await this.#parts.budget.take(signal);
        await this.#parts.hub.client.webhooks.enable(id, { signal });
        // A later list must not look as if it was enabled after the comparison.
        this.#enabled = new Set([...(this.#enabled ?? []), id]);
        this.#listed = undefined;
        log.info({ endpoint, webhookId: id }, "Enabled a webhook that the Hub had suspended after failed deliveries.");
      } catch (error) {
        signal.throwIfAborted();
        const code = codeOf(error);
        this.#canEnable = !tokenError.test(code);
        this.#nextAt.set(id, now() + listIntervalMs);
        const remedy = this.#canEnable
          ? `It tries again in ${formatDuration(listIntervalMs)}. To enable the webhook now, run \`npx hub-webhooks enable ${id}\`.`
          : `Run \`npx hub-webhooks enable ${id}\`, or \`npx hub-webhooks sync\`, with a token that can change webhooks.`;
        log.warn(
          { err: error, code, endpoint, webhookId: id },
          `The Hub suspended the webhook of endpoint "${endpoint}" after failed deliveries, and the server could not enable it. ${remedy}`,
        );
      }
    }
  }

  /** Returns the webhooks, or an empty list if they cannot be read. */
  async #list(signal: AbortSignal): Promise<readonly Webhook[]> {
    const { now } = this.#context;
    if (!this.#canList || publicUrlOf(this.#context) === "") return [];
    const kept = this.#listed;
    const isFresh = kept && now() >= kept.at && now() - kept.at < freshMs;
    const listed = isFresh ? kept : { at: now(), webhooks: this.#read(signal) };
    this.#listed = listed;
    return listed.webhooks;
  }

  async #read(signal: AbortSignal): Promise<readonly Webhook[]> {
    const { log, endpoints } = this.#context;
    try {
      await this.#parts.budget.take(signal);
      const webhooks = await this.#parts.hub.client.webhooks.list({ signal });
      const enabled = webhooks.filter(({ disabled }) => disabled === false);
      const before = this.#enabled;
      const later = before ? enabled.filter(({ id }) => !before.has(id)) : [];
      this.#enabled = new Set(enabled.map(({ id }) => id));
      for (const { name } of endpoints.all) {
        if (later.some((webhook) => this.#isOwn(webhook, name))) this.#parts.onDue(name);
      }
      return webhooks;
    } catch (error) {
      signal.throwIfAborted();
      const code = codeOf(error);
      this.#canList = !tokenError.test(code);
      log.debug({ err: error, code }, "The webhooks of the server could not be listed.");
      return [];
    }
  }

  #canBeEnabled(webhook: Webhook): boolean {
    return this.#canEnable && stateOf(webhook, this.#context.secretCheck).state === "suspended";
  }

  #isOwn(webhook: Webhook, endpoint: string): boolean {
    return isDeliveredTo(webhook, `${publicUrlOf(this.#context)}${webhooksPath}${endpoint}`);
  }
}

function codeOf(error: unknown): string {
  return HubError.isInstance(error) ? error.code : "INTERNAL";
}
