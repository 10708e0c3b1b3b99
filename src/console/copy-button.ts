import { html } from "hono/html";
import type { Markup } from "./markup.ts";

/**
 * A button that copies the text of another element. It is not shown before the script runs: without one it would do
 * nothing.
 *
 * @param sourceId the id of the element whose text is copied.
 * @param what names that text for those who cannot see it, such as "the URL of retrain".
 */
export function copyButton(sourceId: string, what: string): Markup {
  return html`<button class="copy" type="button" data-copy="${sourceId}" data-what="${what}">
      <span data-label>Copy</span><span class="unseen"> ${what}</span>
    </button>`;
}
