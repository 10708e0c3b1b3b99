import * as z from "zod/mini";
import { optionError } from "../core/options.ts";
import { isLoopbackHost, maskUrl, readBaseUrl } from "../core/urls.ts";
import type { HubWebhooks } from "../hub/webhooks/webhooks.ts";
import { formatWatched, type Watched } from "../payload/watch.ts";
import type { EndpointDetails } from "../receiver/control.ts";

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
 * The fields of a webhook that determine the deliveries and their destination. A new field also needs a rule in `fieldRules` and a
 * value in `fieldsOf`, and is then compared, sent, recorded, and reported. It needs a default, for state files of earlier releases.
 */
export const webhookFields = z.strictObject({
  url: z.string(),
  watched: z.array(z.strictObject({ type: z.string(), name: z.string() })),
  domains: z.array(z.string()),
});
export type WebhookFields = z.output<typeof webhookFields>;

export const webhookFieldNames: readonly (keyof WebhookFields)[] = z.keyof(webhookFields).options;

/** How the values of a field are compared and shown. */
interface FieldRules<Value> {
  isSame: (one: Value, other: Value) => boolean;
  format: (value: Value) => string;
}

export const fieldRules: { readonly [Field in keyof WebhookFields]: FieldRules<WebhookFields[Field]> } = {
  url: { isSame: isSameUrl, format: (url) => (url === "" ? "none (it runs a job)" : maskUrl(url)) },
  watched: { isSame: isSameWatched, format: (watched) => formatList(formatWatched(watched)) },
  domains: { isSame: isSameSet, format: formatList },
};

/** Returns the fields of a webhook, which are also the fields of a request. The URL is empty for a webhook that runs a job. */
export function fieldsOf({
  url = "",
  watched,
  domains,
}: {
  url?: string | undefined;
  watched: readonly Watched[];
  domains: readonly string[];
}): WebhookFields {
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
function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.every((text) => other.includes(text)) && other.every((text) => one.includes(text));
}

function formatList(texts: readonly string[]): string {
  return [...texts].sort().join(", ");
}
