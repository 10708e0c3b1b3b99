import { hashAssets } from "../../console/assets.ts";
import { copyScript } from "../../console/copy-script.ts";
import { pageResponse } from "../../console/response.ts";
import { escapeHidden } from "../../core/escape.ts";
import type { HubPageInfo } from "./info.ts";
import { renderDocument } from "./page-document.ts";
import { refreshScript } from "./refresh-script.ts";
import { replayScript } from "./replay-script.ts";
import { styles } from "./styles.ts";

const assets = hashAssets({ "styles.css": styles, "page.js": `${copyScript}\n${refreshScript}\n${replayScript}` });

/**
 * The page of a local Hub: its webhooks and what each delivered lately, with a button that delivers it again. Serve it at
 * a path that ends in a slash; it finds its assets at `_page/` and the control routes at `_local/` below that path.
 *
 * @param now what "2 minutes ago" is counted from; by default the present.
 * @example
 * ```ts
 * app.get("/", () => hubPage(info));
 * app.get("/_page/:name", (context) => hubPageAsset(context.req.param("name")) ?? context.notFound());
 * ```
 */
export function hubPage(info: HubPageInfo, now: Date = new Date()): Response {
  const addresses = { styles: `_page/${assets.nameOf("styles.css")}`, script: `_page/${assets.nameOf("page.js")}` };
  // Over the whole page, so that no field can be forgotten: the markup itself holds none of these characters.
  const page = escapeHidden(renderDocument(info, now, addresses));
  return pageResponse(page, { frameAncestors: "'none'", connects: true });
}

/**
 * The page's style sheet or script, by the file name that the page asks for; `undefined` where there is none of that
 * name.
 */
export function hubPageAsset(name: string): Response | undefined {
  return assets.answer(name);
}
