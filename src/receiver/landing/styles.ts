import { baseStyles } from "../../console/base-styles.ts";

/** The page's style sheet. */
export const styles = `${baseStyles}
:root {
  --chart-good: light-dark(#2b9160, #338f62);
  --chart-ignored: light-dark(#978f7d, #726b5d);
  --chart-retrying: light-dark(#a07400, #ffd21e);
  --chart-bad: light-dark(#a3221a, #ff8778);
}
section + .notice { margin-top: clamp(3rem, 7vw, 4.5rem); }
.endpoints { display: grid; gap: 0.875rem; margin-top: 1.25rem; }
.endpoint { padding: 1.125rem 1.375rem; }
.endpoint-head, .endpoint-foot { display: flex; align-items: baseline; gap: 0.5rem 0.75rem; }
.endpoint-head h3 { flex: 1; unicode-bidi: isolate; }
.outcome { color: var(--quiet); font-size: 0.875rem; }
.dot.retrying { color: var(--warn); background: currentcolor; }
.endpoint-foot { flex-wrap: wrap; justify-content: space-between; color: var(--quiet); font-size: 0.875rem; }

.facts .of, .facts .busiest { color: var(--quiet); font-weight: 400; }
.facts .busiest { display: block; font-size: 0.875rem; }
.notice h3 { font-size: 1rem; }
.near { margin-top: 0.375rem; font-size: 0.9375rem; }
section > .facts { margin-top: 1.25rem; }
.dashboard-link { margin-top: 1rem; color: var(--quiet); }
.dashboard-link a { color: var(--ink); }
.chart { margin: 1.75rem 0 0; }
.chart figcaption { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.5rem 2rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; color: var(--quiet); font-size: 0.875rem; }
.legend b { color: var(--ink); font-weight: 600; }
.key { margin-right: 0.375rem; vertical-align: -0.0625em; }
.scale {
  margin-top: 1rem;
  border-bottom: 1px dashed var(--line);
  color: var(--quiet);
  font-size: 0.8125rem;
}
.bars { display: block; width: 100%; height: 9rem; border-bottom: 1px solid var(--quiet); }
.bars g:hover { opacity: 0.75; }
.before { fill: var(--inset); }
.succeeded { fill: var(--chart-good); }
.ignored { fill: var(--chart-ignored); }
.retrying { fill: var(--chart-retrying); }
.failed { fill: var(--chart-bad); }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.8125rem; }
summary { margin-top: 1rem; width: fit-content; color: var(--quiet); font-size: 0.9375rem; cursor: pointer; }
summary:hover { color: var(--ink); }
table { margin-top: 0.75rem; width: 100%; border-collapse: collapse; font-size: 0.875rem; }
caption { padding-bottom: 0.5rem; color: var(--quiet); text-align: left; }
th, td { padding: 0.25rem 0 0.25rem 0.75rem; border-top: 1px solid var(--line); text-align: right; }
th { overflow-wrap: normal; }
th:first-child { padding-left: 0; text-align: left; }
thead th { color: var(--quiet); font-size: 0.8125rem; font-weight: 400; vertical-align: bottom; }
tbody th { font-weight: 400; }

.steps { counter-reset: step; margin-top: 1.75rem; }
.steps > li { counter-increment: step; position: relative; padding: 0 0 2.25rem 3.25rem; }
.step-number {
  position: absolute;
  left: 0;
  top: -0.25rem;
  width: 2rem;
  height: 2rem;
  border-radius: 50%;
  background: var(--accent-tint);
  color: var(--accent-ink);
  font-weight: 700;
  line-height: 2rem;
  text-align: center;
}
.step-number::before { content: counter(step); }
.steps > li:not(:last-child)::after {
  content: "";
  position: absolute;
  left: 1rem;
  top: 2.25rem;
  bottom: 0.75rem;
  border-left: 1px solid var(--line);
}
.steps > li:last-child { padding-bottom: 0; }
.steps p { margin-top: 0.375rem; max-width: 42rem; color: var(--quiet); }
.steps p a, .steps p code { color: var(--ink); }

@media (max-width: 36rem) {
  .endpoint-head { flex-wrap: wrap; }
  .outcome { flex-basis: 100%; }
  .endpoint { padding-inline: 1rem; }
  .steps > li { padding-left: 0; }
  .steps h3 { display: flex; align-items: center; min-height: 2rem; padding-left: 2.75rem; }
  .step-number { top: 0; }
  .steps > li:not(:last-child)::after { content: none; }
}
@media (forced-colors: active) {
  .step-number { border: 1px solid; }
  .bars, .key { forced-color-adjust: none; }
}
`;
