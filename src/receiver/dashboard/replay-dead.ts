import { html } from "hono/html";
import { breakable } from "../../console/breakable.ts";
import type { Markup } from "../../console/markup.ts";
import type { DeliveryCounts } from "../../inbox/inbox.ts";

const mostListed = 20;

/** For each endpoint that has any: the button that runs its dead deliveries again, after it was asked whether to. */
export function deadEndpoints(counts: Readonly<Record<string, DeliveryCounts>>, chosen: string | undefined): Markup {
  const found = Object.entries(counts)
    .filter(([endpoint, { dead }]) => dead > 0 && (chosen === undefined || endpoint === chosen))
    .toSorted(([, one], [, other]) => other.dead - one.dead)
    .slice(0, mostListed);
  if (found.length === 0) return html``;
  return html`<ul class="dead-endpoints" aria-label="Replay all dead">
      ${found.map(([endpoint, { dead }]) => deadEndpoint(endpoint, dead))}
    </ul>`;
}

function deadEndpoint(endpoint: string, dead: number): Markup {
  const deliveries = dead === 1 ? "1 dead delivery" : `${dead.toLocaleString("en")} dead deliveries`;
  return html`<li class="card dead-endpoint">
      <p class="dead-of"><b><bdi>${breakable(endpoint)}</bdi></b> <span class="muted">${deliveries}</span></p>
      <div class="actions">
        <button class="act" type="button" data-ask>Replay all dead<span class="unseen"> of ${endpoint}</span></button>
        <span class="confirm" data-confirm hidden>
          <span>Run ${deliveries} again?</span>
          <button class="act" type="button" data-replay-dead="${endpoint}">
            <span data-label>Yes, replay</span><span class="unseen"> all dead of ${endpoint}</span>
          </button>
          <button class="live" type="button" data-cancel>Cancel</button>
        </span>
      </div>
      <p class="act-outcome muted" data-outcome></p>
    </li>`;
}
