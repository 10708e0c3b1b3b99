/** The sites that may display a page in a frame: the server itself and the Hub, which embeds every Space. */
export const hubFrames = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space";

/** Returns the headers of a page whose only style sheet is inline. */
export function inlinePageHeaders(nonce: string): Record<string, string> {
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors ${hubFrames}`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    vary: "accept",
  };
}

interface PageRights {
  /** The sites that may display the page in a frame: the sources of `frame-ancestors`. */
  frameAncestors: string;
}

/**
 * Creates a response that is not cached, with the minimum permissions. Inline scripts and styles are forbidden, so that text
 * from clients cannot run even if it is not escaped.
 */
export function pageResponse(html: string, { frameAncestors }: PageRights): Response {
  const contentSecurityPolicy = [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
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
