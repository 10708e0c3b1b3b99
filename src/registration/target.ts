import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { WatchedThing, WebhookDomain } from "../payload/watch.ts";
import type { WebhookTarget } from "./state.ts";

/** What is watched, in whosever words. */
type Watched = readonly { readonly type: string; readonly name: string }[];

/** A webhook as an endpoint wants it. */
export interface DesiredWebhook {
  /** Name of the endpoint. */
  endpoint: string;
  url: string;
  watched: readonly WatchedThing[];
  domains: readonly WebhookDomain[];
}

/** Where a webhook delivers and what it hears, as the Hub tells it; one that runs a job has no URL. */
export function targetOf({ url = "", watched, domains }: Webhook | DesiredWebhook): WebhookTarget {
  return { url, watched: watched.map(({ type, name }) => ({ type, name })), domains: [...domains] };
}

/** Whether two URLs lead to the same place, however they are written. */
export function sameUrl(one: string, other: string): boolean {
  return one === other || (URL.canParse(one) && URL.canParse(other) && written(one) === written(other));
}

function written(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, "")}${search}`;
}

/** Whether both watch the same, in whatever order. */
export function sameWatched(one: Watched, other: Watched): boolean {
  return sameSet(watchedTexts(one), watchedTexts(other));
}

/** Whether both hold the same, in whatever order and however often. */
export function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.every((text) => other.includes(text)) && other.every((text) => one.includes(text));
}

/** What is watched, as `type:name`. */
export function watchedTexts(watched: Watched): readonly string[] {
  return watched.map(({ type, name }) => `${type}:${name}`);
}
