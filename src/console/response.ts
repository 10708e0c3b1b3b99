/** Pages that may show one of ours in a frame: the server's own, and those of the Hub, which embeds every Space. */
export const hubFrames = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space";

/** What a page may do beyond showing itself. */
export interface PageRights {
  /** Whose pages may show it in a frame: the sources of `frame-ancestors`. */
  frameAncestors: string;
  /** Whether its script may send requests to the server that it came from; by default it may not. */
  connects?: boolean;
}

/**
 * A page as an answer that nobody keeps, with the least rights that it needs. No inline script or style: should a
 * stranger's text ever get past the escaping, it still cannot run.
 */
export function pageResponse(html: string, { frameAncestors, connects = false }: PageRights): Response {
  const contentSecurityPolicy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    ...(connects ? ["connect-src 'self'"] : []),
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors}`,
  ].join("; ");
  return new Response(html, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    },
  });
}
