import { baseStyles } from "../../console/base-styles.ts";
import { buttonStyles } from "../../console/button-styles.ts";

/** The style sheet of the dashboard. */
export const styles = `${baseStyles}
.section-head { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem 1rem; }
.section-head h2 { min-width: 0; }
${buttonStyles(".live, .act")}
.live, .act { flex: none; }
.live:hover { border-color: var(--quiet); }
:root:not([data-scripted]) :is(.live, .actions, .dead-endpoints) { display: none; }
.act { min-width: 6.25rem; border-color: var(--accent); background: var(--accent); color: #1d1b16; }
.act:hover { border-color: #1d1b16; }
.act[aria-disabled] { border-color: var(--line); background: var(--inset); color: var(--quiet); cursor: progress; }
.act[data-state="Failed"] { border-color: var(--bad); background: var(--surface); color: var(--bad); }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.875rem; margin-top: 1.5rem; }
.act-outcome { min-width: 0; font-size: 0.8125rem; }
.act-outcome:empty { display: none; }
.note { margin-top: 0.5rem; color: var(--quiet); font-size: 0.8125rem; }
.line { margin-top: 0.75rem; }
.onward { margin-top: 1.5rem; }
.dot.running { color: var(--warn); background: linear-gradient(90deg, currentcolor 50%, transparent 50%); }

.tabs { display: flex; flex-wrap: wrap; gap: 0.5rem; margin-top: 2.25rem; }
.tabs a {
  display: flex;
  flex: 1 1 7rem;
  flex-direction: column;
  padding: 0.75rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.75rem;
  background: var(--surface);
  text-decoration: none;
}
.tabs a span { white-space: nowrap; }
.tabs a:hover { border-color: var(--quiet); }
.tabs b { color: var(--ink); font-size: 1.25rem; line-height: 1.3; }
.tabs a[aria-current] { border-color: var(--focus); box-shadow: inset 0 -3px var(--accent); color: var(--ink); }
.endpoint-links { display: block; margin-top: 1rem; }
.endpoint-links li { padding: 0; }
.endpoint-links li.muted { padding: 0.0625rem 0.625rem; border-color: transparent; }
.endpoint-links a { display: block; padding: 0.0625rem 0.625rem; border-radius: 1rem; text-decoration: none; }
.endpoint-links a[aria-current] { background: var(--accent-tint); color: var(--accent-ink); font-weight: 600; }

.dead-endpoints { display: grid; gap: 0.625rem; margin-top: 1.25rem; }
.dead-endpoint {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0.5rem 1.5rem;
  padding: 0.75rem 1rem;
  font-size: 0.9375rem;
}
.dead-endpoint .actions { margin-top: 0; }
.dead-of { min-width: 0; }
.confirm { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; }
.dead-endpoint .act-outcome { flex-basis: 100%; }

.rows, .attempts { margin-top: 1rem; border-top: 1px solid var(--line); }
.rows > li, .attempts > li { border-bottom: 1px solid var(--line); }
.row {
  display: grid;
  grid-template-columns: 6.5rem minmax(0, 1fr) auto 8rem;
  gap: 0.125rem 0.75rem;
  padding: 0.75rem 0.5rem;
  border-radius: 0.375rem;
  font-size: 0.875rem;
  text-decoration: none;
}
.row:hover { background: var(--inset); }
.row:hover .event { text-decoration: underline 2px var(--accent); text-underline-offset: 0.25em; }
.row:focus-visible { outline-offset: 0; }
.status { font-weight: 650; }
.event { display: flex; flex-wrap: wrap; gap: 0 0.625rem; }
.attempt, .when { color: var(--quiet); }
.when { text-align: right; }
.origin, .error { grid-column: 2 / 5; min-width: 0; }
.origin { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.75rem; }
.error { padding-left: 0.625rem; border-left: 3px solid var(--bad); unicode-bidi: plaintext; }
.error b { font-size: 0.75rem; letter-spacing: 0.02em; }
.pages { justify-content: space-between; margin-top: 1.25rem; }
.pages a { color: var(--ink); text-decoration-color: var(--accent); }

.attempts > li { padding-block: 0.875rem; }
.attempt-head { display: flex; flex-wrap: wrap; gap: 0 1.25rem; font-size: 0.9375rem; }
.failure {
  margin-top: 0.625rem;
  padding: 0.625rem 0.875rem;
  border-left: 3px solid var(--bad);
  border-radius: 0.25rem;
  background: var(--inset);
  font-size: 0.875rem;
}
.failure pre { margin-top: 0.25rem; white-space: pre-wrap; unicode-bidi: plaintext; }
pre.long { max-height: 24rem; overflow-y: auto; }
.about b { color: var(--ink); font-weight: 600; }
.payload {
  margin-top: 0.75rem;
  padding: 0.75rem 0.875rem;
  border-radius: 0.5rem;
  background: var(--inset);
  font-size: 0.875rem;
  line-height: 1.5;
  white-space: pre-wrap;
  unicode-bidi: plaintext;
}
pre.payload.long { max-height: 42rem; }

@media (max-width: 36rem) {
  .row { grid-template-columns: minmax(0, 1fr) auto; padding-inline: 0.25rem; }
  .when { grid-column: 2; grid-row: 1; }
  .event, .origin, .attempt, .error { grid-column: 1 / 3; }
  .attempt { order: 1; }
  .error { order: 2; }
  .attempt:empty { display: none; }
  .tabs a { flex-basis: 40%; padding: 0.5rem 0.75rem; }
  .act, .live { min-height: 2.5rem; }
}
@media (forced-colors: active) {
  .act[aria-disabled] { border-color: GrayText; color: GrayText; }
  .dot.running { background: linear-gradient(90deg, CanvasText 50%, Canvas 50%); forced-color-adjust: none; }
  .tabs a[aria-current], .endpoint-links a[aria-current] { outline: 2px solid Highlight; }
}
`;
