import type { DeliveryRequest } from "./delivery-request.ts";

/**
 * Whether a page of another site had somebody's browser send this. A browser says so by itself, in headers that no page
 * can change; whoever is none has no reason to send them.
 */
export function isFromOtherSite(request: Pick<DeliveryRequest, "header" | "url">): boolean {
  const site = request.header("sec-fetch-site");
  const origin = request.header("origin");
  const host = request.header("host")?.toLowerCase() ?? new URL(request.url).host;
  return (site !== null && site !== "same-origin") || (origin !== null && URL.parse(origin)?.host !== host);
}
