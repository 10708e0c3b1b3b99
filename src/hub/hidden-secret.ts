import type { Webhook } from "./contract/webhooks.ts";

/** Whether a webhook has a secret that a read does not tell: it tells by `hasSecret` that there is one, or masks it. */
export function hidesSecret(webhook: Webhook): boolean {
  if (webhook.secret !== undefined) return /^[*•]+$|[*•]{3}/.test(webhook.secret);
  return webhook.hasSecret === true;
}
