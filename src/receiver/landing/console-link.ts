import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";
import { consolePath } from "../../core/paths.ts";
import { pageAddress } from "./address.ts";
import type { LandingInfo } from "./info.ts";

/** Returns the URL of the console, with the theme of the page. */
export function consoleAddress(info: Pick<LandingInfo, "basePath" | "theme">): string {
  const path = `${consolePath.slice(1)}/`;
  return pageAddress(info, info.theme ? `${path}?__theme=${info.theme}` : path);
}

/** Renders a link to the console, in a new tab: a Space displays this page in a frame, but the console refuses frames. */
export function consoleLink(info: LandingInfo, text: string): Markup {
  return html`<a href="${consoleAddress(info)}" target="_blank" rel="noopener">${text}<span class="unseen"> (opens a new tab)</span></a>`;
}
