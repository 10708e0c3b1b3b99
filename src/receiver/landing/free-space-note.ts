import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";

/** Renders a notice that describes how the free hardware of Spaces affects the server. */
export function freeSpaceNote(): Markup {
  return html`<aside class="notice" aria-labelledby="free-space">
      <h2 id="free-space">Free hardware</h2>
      <p>
        A free <code>cpu-basic</code> Space sleeps after 48 hours without a request, and loses its disk at every restart. Store
        data in a bucket or an external database.
      </p>
    </aside>`;
}
