/** The parts of a request that show where the request comes from. */
export interface RequestOrigin {
  /** The absolute URL of the request. */
  readonly url: string;
  /** Returns the value of a header, or `null`. */
  header(name: string): string | null;
}

/**
 * Whether a page of another site sent the request. Pages cannot change the headers that this function reads. `Origin` only counts in
 * browsers without `Sec-Fetch-Site`, because a proxy may replace the `Host` with which it is compared, as nginx does by default.
 */
export function isCrossSite(request: RequestOrigin): boolean {
  const site = request.header("sec-fetch-site");
  if (site !== null) return site !== "same-origin";
  const origin = request.header("origin");
  const host = request.header("host")?.toLowerCase() ?? new URL(request.url).host;
  return origin !== null && URL.parse(origin)?.host !== host;
}
