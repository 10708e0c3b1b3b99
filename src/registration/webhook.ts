import { optionError } from "../core/options.ts";
import { isLoopbackHost, readBaseUrl } from "../core/urls.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";
import { formatWatched, type Watched } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/control.ts";
import type { HubState, ManagedWebhook, PendingWebhook, WebhookFields } from "./state.ts";

/** The webhook that an endpoint declares, with the same fields as a webhook on the Hub. */
export interface DesiredWebhook {
  /** The name of the endpoint. */
  endpoint: string;
  url: string;
  watched: EndpointDetails["watch"];
  domains: EndpointDetails["domains"];
}

/** The options of `register`. */
export interface RegisterOptions {
  /**
   * The public URL of the server, such as `https://me-bot.hf.space`. The webhooks point to `/webhooks/…` below this
   * URL.
   */
  publicUrl: string;
  /**
   * The path of the file that records the managed webhooks. Keep this file between runs, and use a separate file for
   * each server. Default `.hub-webhooks/registrations.json` in the working directory.
   */
  state?: string | undefined;
  /**
   * The secret of the webhooks. Default: the first secret of the server. Without a secret, new webhooks have no secret,
   * so anyone who knows the URL of an endpoint can send requests to the endpoint. Existing webhooks keep their secrets.
   */
  secret?: string | undefined;
  /** Removes existing secrets. Cannot be combined with `secret`. Default `false`. */
  removeSecret?: boolean | undefined;
  /** Reports the steps without executing them, including the steps that are known to fail. Default `false`. */
  dryRun?: boolean | undefined;
  /** Deletes managed webhooks whose endpoint no longer exists. By default, these webhooks are reported as skipped. */
  prune?: boolean | undefined;
  /**
   * Adopts webhooks that deliver to one of the endpoints but were created elsewhere. By default, these webhooks are
   * reported as skipped.
   */
  adopt?: boolean | undefined;
  /** Cancels the registration between two steps or during a request to the Hub. */
  signal?: AbortSignal | undefined;
}

/**
 * Validates the public URL of a server, and returns the URL without a trailing slash.
 *
 * @throws `OPTION_INVALID` if the URL is not an http or https URL with only a host and a path, or if the URL is not
 * reachable for a Hub on another machine.
 */
export function validatePublicUrl(publicUrl: string, { hubUrl }: { hubUrl: string }): string {
  const url = readBaseUrl(publicUrl);
  if (url === undefined) {
    throw optionError(
      "The public URL of the server (--public-url, publicUrl in code) is invalid. Use an http or https URL without a username, password, query, or fragment, such as https://me-bot.hf.space.",
    );
  }
  const { origin, hostname } = new URL(url);
  if (isLoopbackHost(hostname) && !isLoopbackHost(new URL(hubUrl).hostname)) {
    throw optionError(
      `The Hub at ${hubUrl} cannot reach ${origin}, which is only reachable from this machine. Set the public URL of the server, or use hub-webhooks dev, which opens a tunnel.`,
    );
  }
  return url;
}

/**
 * Checks that a secret is valid in an HTTP header, and returns the secret.
 *
 * @throws `OPTION_INVALID`. The message does not contain the secret.
 */
export function validateSecret(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[!-~]([ -~]*[!-~])?$/.test(secret)) return secret;
  throw optionError(
    "The secret is not valid in an HTTP header. Use printable ASCII characters without leading or trailing whitespace, for both the webhooks and the server.",
  );
}

/** A connection to the Hub to register webhooks on, such as a `HubClient`. */
export interface HubConnection {
  /** The URL of the Hub. The state file uses it to identify the Hub. */
  readonly hubUrl: string;
  readonly webhooks: Pick<HubWebhooks, "list" | "create" | "update" | "enable" | "delete">;
}

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
  // The Hub compares names regardless of case, and returns them as their owners write them.
  const folded = (watched: readonly Watched[]) => formatWatched(watched).map((text) => text.toLowerCase());
  return isSameSet(folded(one), folded(other));
}

/** Whether both lists contain the same values. The order and duplicates do not matter. */
export function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.every((text) => other.includes(text)) && other.every((text) => one.includes(text));
}

/** How long an interrupted request can still create a webhook. */
const maxCreationMs = 10 * 60_000;

interface ResolvedCreation {
  pending: PendingWebhook;
  /** The created webhook. Absent if the Hub did not create a webhook. */
  created?: ManagedWebhook;
}

/**
 * Finds the outcomes of interrupted creations, for example after a crash. A webhook was created if the Hub lists a
 * webhook with the same URL and watched items that did not exist before. Otherwise, a creation remains unresolved for
 * 10 minutes, because the Hub can still create the webhook during this time.
 */
export function resolvePending({
  pending,
  state,
  listed,
  now,
}: {
  pending: readonly PendingWebhook[];
  state: HubState;
  listed: readonly Webhook[];
  /** The current time in milliseconds since the epoch. */
  now: number;
}): ResolvedCreation[] {
  const assigned = new Set(state.webhooks.map(({ id }) => id));
  const resolved: ResolvedCreation[] = [];
  for (const entry of pending) {
    const webhook = listed.find((candidate) => !assigned.has(candidate.id) && isCreatedFrom(entry, candidate));
    if (webhook) {
      assigned.add(webhook.id);
      const { endpoint, secret, written, session } = entry;
      const returned = fieldsOf(webhook);
      resolved.push({ pending: entry, created: { id: webhook.id, endpoint, secret, written, returned, session } });
    } else if (now - Date.parse(entry.startedAt) > maxCreationMs) {
      resolved.push({ pending: entry });
    }
  }
  return resolved;
}

/** Removes resolved creations from `pending`, and records the created webhooks as managed. */
export function recordResolved(state: HubState, resolved: readonly ResolvedCreation[]): void {
  const keys = new Set(resolved.map(({ pending }) => pending.key));
  state.pending = state.pending.filter(({ key }) => !keys.has(key));
  for (const { created } of resolved) {
    if (created && !state.webhooks.some(({ id }) => id === created.id)) state.webhooks.push(created);
  }
}

function isCreatedFrom({ written, existingIds }: PendingWebhook, { id, url, watched }: Webhook): boolean {
  return (
    !existingIds.includes(id) &&
    url !== undefined &&
    isSameUrl(url, written.url) &&
    isSameWatched(watched, written.watched)
  );
}
