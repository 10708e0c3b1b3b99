import { hashAssets } from "../../console/assets.ts";
import { copyScript } from "../../console/copy-script.ts";
import { hubFrames, pageResponse } from "../../console/response.ts";
import { pageAddress } from "./address.ts";
import { renderDocument } from "./document.ts";
import type { LandingInfo } from "./info.ts";
import { styles } from "./styles.ts";

const assets = hashAssets({ "styles.css": styles, "copy.js": copyScript });

/**
 * The built-in page of a receiver: its endpoints, whether it asks for a secret, and what to do next. Its assets are at
 * `_landing/` below `info.basePath`; without one, below the folder of the path at which the page is served.
 *
 * @param now what "2 minutes ago" is counted from; by default the present.
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

/** Anyone may ask for the page, as often as they like: it is rendered again when it changes, and once a second. */
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
 * The page's style sheet or script, by the file name that the page asks for; `undefined` where there is none of that
 * name. The name holds a hash of the content, so browsers may keep it for ever.
 */
export function landingAsset(name: string): Response | undefined {
  return assets.answer(name);
}
