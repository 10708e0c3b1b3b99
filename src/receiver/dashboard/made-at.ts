import { html } from "hono/html";
import type { Markup } from "../../console/markup.ts";
import { moment } from "./moment.ts";

/** Says how old what the reader sees is, and, once it is, that it gets no younger. */
export function madeAt(now: Date): Markup {
  return html`<p class="note" data-live id="made-at">As of ${moment(now)}</p>
      <p class="notice warning" id="connection" hidden>
        <span class="warning-sign" aria-hidden="true">!</span>The server does not answer, or the inbox does not. What you see
        is the last that was heard; this page goes on asking.
      </p>`;
}
