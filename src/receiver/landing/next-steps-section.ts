import { html } from "hono/html";
import type { Markup } from "../../console/pages/markup.ts";
import type { LandingInfo } from "./info.ts";
import { doneSteps, nextSteps } from "./next-steps.ts";
import { stepContents } from "./step-contents.ts";

/** Renders the open steps as an ordered list and the completed steps in one line. */
export function nextStepsSection(info: LandingInfo): Markup {
  const steps = nextSteps(info);
  const done = doneSteps(info);
  return html`<section class="next" aria-labelledby="next">
      <h2 id="next">Next steps</h2>
      ${steps.length === 0 && html`<p class="fine"><span class="dot succeeded"></span>None. The server is set up, and no delivery needs your attention.</p>`}
      ${
        steps.length > 0 &&
        html`<ol class="steps">
          ${steps.map((step) => {
            const { title, content } = stepContents(step, info);
            return html`<li class="step-${step.id}">
              <h3>${title}</h3>
              ${content}
            </li>`;
          })}
        </ol>`
      }
      ${steps.length > 0 && done.length > 0 && html`<p class="done"><span class="dot succeeded"></span>Done: ${done.join(", ")}.</p>`}
    </section>`;
}
