import { html } from "hono/html";
import type { Markup } from "./document.ts";

/**
 * Renders a button that copies the text of another element. The button is hidden until the script runs.
 *
 * @param sourceId the ID of the element whose text is copied.
 * @param what names the text for screen readers, such as "the URL of retrain".
 */
export function copyButton(sourceId: string, what: string): Markup {
  return html`<button class="copy" type="button" data-copy="${sourceId}" data-what="${what}">
      <span data-label>Copy</span><span class="unseen"> ${what}</span>
    </button>`;
}
