import { webhooksPath } from "../core/paths.ts";
import type { EndpointDetails } from "../receiver/lifecycle/server-control.ts";

/** The webhook that an endpoint declares, with the same fields as a webhook on the Hub. */
export interface DesiredWebhook {
  /** The name of the endpoint. */
  endpoint: string;
  url: string;
  watched: EndpointDetails["watch"];
  domains: EndpointDetails["domains"];
}

/**
 * Returns the webhook that an endpoint declares. `publicUrl` is the public URL of the server without a trailing slash.
 */
export function toDesiredWebhook(
  { name, watch, domains }: Pick<EndpointDetails, "name" | "watch" | "domains">,
  publicUrl: string,
): DesiredWebhook {
  return { endpoint: name, url: `${publicUrl}${webhooksPath}${name}`, watched: watch, domains };
}
