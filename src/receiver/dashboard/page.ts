import { hashAssets } from "../../console/assets.ts";
import { copyScript } from "../../console/copy-script.ts";
import { pageDocument } from "../../console/document.ts";
import type { Markup } from "../../console/markup.ts";
import { pageResponse } from "../../console/response.ts";
import type { WebhookError } from "../../core/errors.ts";
import { escapeHidden } from "../../core/escape.ts";
import { assetAddress, listAddress } from "./address.ts";
import { type DeliveryView, deliveryMain, deliveryTitle } from "./delivery.ts";
import { type ListView, listMain, listTitle } from "./list.ts";
import { problemMain, problemTitle } from "./problem.ts";
import { refreshScript } from "./refresh-script.ts";
import { replayScript } from "./replay-script.ts";
import { styles } from "./styles.ts";

const assets = hashAssets({ "styles.css": styles, "page.js": `${copyScript}\n${refreshScript}\n${replayScript}` });

/** The list of deliveries. `home` is the address of the landing page, here and below. */
export function listPage(view: ListView, home: string): Response {
  return page(listTitle(view), listMain(view), home);
}

/** One delivery, with all that is known of it. */
export function deliveryPage(view: DeliveryView, home: string): Response {
  return page(deliveryTitle(view), deliveryMain(view), home);
}

/** What there is instead of a page. */
export function problemPage(error: WebhookError, home: string): Response {
  const { headers, body } = page(problemTitle(error), problemMain(error), home);
  return new Response(body, { status: error.status ?? 500, headers });
}

/** A stranger's text as what it is: no browser may take it for a page. */
export function bodyResponse(body: string): Response {
  return new Response(body, {
    headers: {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "X-Content-Type-Options": "nosniff",
      "Referrer-Policy": "no-referrer",
      "Cache-Control": "no-store",
    },
  });
}

/** The style sheet or the script, by the file name that the page asks for; `undefined` where there is none. */
export function asset(name: string): Response | undefined {
  return assets.answer(name);
}

function page(title: string, main: Markup, home: string): Response {
  const document = pageDocument({
    title: `${title} · hub-webhooks`,
    theme: undefined,
    brand: "hub-webhooks · deliveries",
    links: [
      { to: listAddress({}), text: "Deliveries" },
      { to: home, text: "Endpoints" },
    ],
    styles: assetAddress(assets.nameOf("styles.css")),
    script: assetAddress(assets.nameOf("page.js")),
    main,
  });
  // Over the whole page, so that no field can be forgotten: the markup itself holds none of these characters.
  return pageResponse(escapeHidden(document), { frameAncestors: "'none'", connects: true });
}
