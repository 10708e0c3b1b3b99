const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
];

const shared: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/**
 * The headers of the console. Nothing inline runs, no request leaves the origin, and no page can show the console in a frame: a
 * click on a hidden frame could replay deliveries.
 */
export const consoleHeaders: Readonly<Record<string, string>> = {
  ...shared,
  "Content-Security-Policy": [...contentSecurityPolicy, "frame-ancestors 'none'"].join("; "),
  "Cache-Control": "no-store",
};

/** The headers of the page that a frame shows instead of the console. The page has no data and no script, and one style sheet. */
export function framedPageHeaders({
  frameAncestors,
  styleNonce,
}: {
  frameAncestors: string;
  styleNonce: string;
}): Readonly<Record<string, string>> {
  return {
    ...shared,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; style-src 'nonce-${styleNonce}'; base-uri 'none'; form-action 'none'; frame-ancestors ${frameAncestors}`,
    "Cache-Control": "no-store",
  };
}
