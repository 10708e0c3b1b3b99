import type { Webhook } from "../hub/webhooks/schemas.ts";
import { formatWatched, type Watched } from "../payload/watch.ts";
import type { DesiredWebhook } from "./desired-webhook.ts";
import type { WebhookFields } from "./registration-file.ts";

/**
 * Returns the fields of a webhook that determine the deliveries and their destination. The URL is empty for a webhook
 * that runs a job.
 */
export function fieldsOf({ url = "", watched, domains }: Webhook | DesiredWebhook): WebhookFields {
  return { url, watched: watched.map(({ type, name }) => ({ type, name })), domains: [...domains] };
}

/** Whether two URLs are equal after normalization. */
export function isSameUrl(one: string, other: string): boolean {
  return one === other || (URL.canParse(one) && URL.canParse(other) && normalize(one) === normalize(other));
}

function normalize(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}${search}`;
}

/** Whether both lists contain the same repositories, users, and organizations. The order does not matter. */
export function isSameWatched(one: readonly Watched[], other: readonly Watched[]): boolean {
  return isSameSet(formatWatched(one), formatWatched(other));
}

/** Whether both lists contain the same values. The order and duplicates do not matter. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.every((text) => other.includes(text)) && other.every((text) => one.includes(text));
}
