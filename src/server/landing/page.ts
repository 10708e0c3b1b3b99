import { findAsset, scriptName, stylesName } from "./assets.ts";
import { renderDocument } from "./document.ts";
import type { LandingInfo } from "./info.ts";

/** Whoever may show the page in a frame: the server itself and the Hub, which embeds every Space. */
const frameAncestors = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space";

/** No inline script or style: should a stranger's text ever get past the escaping, it still cannot run. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  `frame-ancestors ${frameAncestors}`,
].join("; ");

/**
 * The built-in page of a receiver: its endpoints, whether it asks for a secret, and what to do next. Serve it at a path
 * that ends in a slash; it finds its assets at `_landing/` below that path.
 *
 * @param now what "2 minutes ago" is counted from; by default the present.
 * @example
 * ```ts
 * app.get("/", () => landingPage(info));
 * app.get("/_landing/:name", (context) => landingAsset(context.req.param("name")) ?? context.notFound());
 * ```
 */
export function landingPage(info: LandingInfo, now: Date = new Date()): Response {
  const page = renderDocument(info, now, { styles: `_landing/${stylesName}`, script: `_landing/${scriptName}` });
  return new Response(page, {
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    },
  });
}

/**
 * The page's style sheet or script, by the file name that the page asks for; `undefined` where there is none of that
 * name. The name holds a hash of the content, so browsers may keep it for ever.
 */
export function landingAsset(name: string): Response | undefined {
  const asset = findAsset(name);
  if (!asset) return undefined;
  return new Response(asset.content, {
    headers: {
      "Content-Type": asset.contentType,
      "X-Content-Type-Options": "nosniff",
      "Cache-Control": "public, max-age=31536000, immutable",
    },
  });
}
