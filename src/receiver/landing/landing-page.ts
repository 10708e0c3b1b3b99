import { hashAssets } from "../../console/pages/assets.ts";
import { copyScript } from "../../console/pages/copy-script.ts";
import { hubFrames, pageResponse } from "../../console/pages/response.ts";
import { pageAddress } from "./address.ts";
import { renderDocument } from "./document.ts";
import type { LandingInfo } from "./info.ts";
import { styles } from "./styles.ts";

const assets = hashAssets({ "styles.css": styles, "copy.js": copyScript });

/**
 * Renders the built-in landing page: the endpoints, whether a secret is required, and the next steps. The assets are at
 * `_landing/` below `info.basePath`, or without a base path, relative to the page.
 *
 * @param now the time for relative times such as "2 minutes ago". Default: the current time.
 * @example
 * ```ts
 * app.get("/", () => landingPage(info));
 * app.get("/_landing/:name", (context) => landingAsset(context.req.param("name")) ?? context.notFound());
 * ```
 */
export function landingPage(info: LandingInfo, now: Date = new Date()): Response {
  return pageResponse(renderOnce(info, now), { frameAncestors: hubFrames });
}

let rendered = { state: "", html: "" };

/** Caches the public page. The page is rendered again when its content changes, and at most once a second otherwise. */
function renderOnce(info: LandingInfo, now: Date): string {
  const second = Math.floor(now.getTime() / 1_000);
  const state = JSON.stringify([second, info]);
  if (rendered.state !== state) {
    const addresses = {
      styles: pageAddress(info, `_landing/${assets.nameOf("styles.css")}`),
      script: pageAddress(info, `_landing/${assets.nameOf("copy.js")}`),
    };
    rendered = { state, html: renderDocument(info, now, addresses) };
  }
  return rendered.html;
}

/**
 * Returns the style sheet or script with this file name, or `undefined` for an unknown name. The name contains a hash of the
 * content, so browsers may cache the file without a limit.
 */
export function landingAsset(name: string): Response | undefined {
  return assets.answer(name);
}
