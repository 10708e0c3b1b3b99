import { baseStyles } from "../../console/base-styles.ts";
import { buttonStyles } from "../../console/button-styles.ts";

/** The page's style sheet. */
export const styles = `${baseStyles}
/* The script keeps the reader's place, in every browser alike. */
html { overflow-anchor: none; }
h4 { font-size: 0.9375rem; font-weight: 650; }
h4, h5 { margin: 0; line-height: 1.3; }
h5 { color: var(--quiet); font-size: 0.8125rem; font-weight: 500; }

.section-head, .activity-head, .block-head, .webhook-head {
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: 0.5rem 1rem;
}
${buttonStyles(".live, .replay")}
.live:hover { border-color: var(--quiet); }
:root:not([data-scripted]) :is(.live, .actions) { display: none; }

.webhooks { display: grid; gap: 1.25rem; margin-top: 1.25rem; }
.webhook { padding: 1.25rem 1.375rem; }
.webhook-head { align-items: flex-start; }
.webhook-head h3 { min-width: 0; unicode-bidi: isolate; text-wrap: wrap; }
.webhook-head code { font-size: 0.9375rem; }
.kind { margin-right: 0.25rem; }
.webhook-line {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0 1rem;
  margin-top: 0.25rem;
  color: var(--quiet);
  font-size: 0.875rem;
}
.state {
  flex: none;
  padding: 0.125rem 0.625rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  color: var(--quiet);
  font-size: 0.8125rem;
  font-weight: 600;
}
.state::before {
  content: "";
  display: inline-block;
  width: 0.5rem;
  height: 0.5rem;
  margin-right: 0.4375rem;
  border: 2px solid currentcolor;
  border-radius: 50%;
}
.state.enabled { color: var(--ink); }
.state.enabled::before { border-color: var(--good); background: var(--good); }
.state.suspended { color: var(--bad); border-color: currentcolor; }
.state.suspended::before { background: currentcolor; }

.webhook-facts { display: flex; flex-wrap: wrap; gap: 0.875rem 2.25rem; margin-top: 1rem; font-size: 0.875rem; }
.webhook-facts > div { min-width: 0; }
.webhook-facts dd { font-weight: 500; }
.webhook-facts dd, .webhook-facts .chips { min-height: 1.75rem; align-items: center; }
.webhook-line .copy, .ids .copy { margin-left: 0.25rem; }
.webhook-line .copy, .ids .copy, .block-head .copy {
  min-width: 4.5rem;
  padding: 0.0625rem 0.5rem;
  font-size: 0.75rem;
}

.stopped { margin-top: 1.125rem; padding: 1rem 1.125rem; }
.stopped p { margin-top: 0; }
.stopped .copyable { margin-block: 0.625rem 0; }
.stopped.warning .copyable { background: var(--surface); }

.activity { margin-top: 1.375rem; }
.activity-head a { color: var(--quiet); font-size: 0.8125rem; }
.line { margin-top: 0.375rem; font-size: 0.875rem; }
.line .dot { margin-right: 0.375rem; }
.note { margin-top: 0.5rem; color: var(--quiet); font-size: 0.8125rem; }
.unlisted { margin-top: 1.25rem; }
.log { margin-top: 0.625rem; border-top: 1px solid var(--line); }
.log > li { border-bottom: 1px solid var(--line); }
.delivery > summary {
  display: grid;
  grid-template-columns: 6.25rem minmax(0, 1fr) auto 7.5rem 4rem 0.75rem;
  align-items: baseline;
  gap: 0.125rem 0.75rem;
  padding: 0.5625rem 0.5rem;
  border-radius: 0.375rem;
  font-size: 0.875rem;
  list-style: none;
  cursor: pointer;
}
.delivery > summary::-webkit-details-marker { display: none; }
.delivery > summary::after {
  content: "";
  width: 0.4375rem;
  height: 0.4375rem;
  border: solid var(--quiet);
  border-width: 0 2px 2px 0;
  transform: translateY(-0.1875rem) rotate(45deg);
}
.delivery[open] > summary::after { transform: rotate(225deg); }
.delivery[open] > summary, .delivery > summary:hover { background: var(--inset); }
.delivery > summary:focus-visible { outline-offset: 0; }
.status { font-weight: 650; }
.event { display: flex; flex-wrap: wrap; gap: 0 0.625rem; }
.attempt, .when, .duration { color: var(--quiet); }
.when, .duration { text-align: right; }
.delivery-inside { display: grid; gap: 1.125rem; padding: 0.875rem 0.5rem 1.5rem; }
.failure {
  padding: 0.625rem 0.875rem;
  border-left: 3px solid var(--bad);
  border-radius: 0.25rem;
  background: var(--inset);
  font-size: 0.875rem;
}
.actions { display: flex; align-items: center; gap: 0.875rem; }
.replay {
  flex: none;
  min-width: 6.25rem;
  border-color: var(--accent);
  background: var(--accent);
  color: #1d1b16;
}
.replay:hover { border-color: #1d1b16; }
.replay[aria-disabled] { border-color: var(--line); background: var(--inset); color: var(--quiet); cursor: progress; }
.replay[data-state="Failed"] { border-color: var(--bad); background: var(--surface); color: var(--bad); }
.replay-outcome { min-width: 0; font-size: 0.8125rem; }
.replay-outcome[data-state] { color: var(--ink); }
.part { margin-top: 0; }
.block { margin-top: 0.625rem; }
.block pre {
  margin-top: 0.3125rem;
  padding: 0.75rem 0.875rem;
  border-radius: 0.5rem;
  background: var(--inset);
  font-size: 0.875rem;
  line-height: 1.5;
  white-space: pre-wrap;
  unicode-bidi: plaintext;
}
.block pre.long { max-height: 24rem; overflow-y: auto; }
.ids { display: flex; flex-wrap: wrap; gap: 0.625rem 2rem; font-size: 0.875rem; }
.ids dd { font-weight: 500; }

@media (max-width: 36rem) {
  .webhook { padding: 1rem; }
  .webhook-head { flex-direction: column-reverse; }
  .delivery > summary { grid-template-columns: auto auto 1fr auto 0.75rem; padding-inline: 0.25rem; }
  .status { grid-column: 1 / 5; grid-row: 1; }
  .delivery > summary::after { grid-column: 5; grid-row: 1; }
  .event { grid-column: 1 / 6; grid-row: 2; }
  .attempt, .when, .duration { grid-row: 3; text-align: left; }
  .attempt:empty { display: none; }
  .delivery-inside { padding-inline: 0.25rem; }
  .actions { flex-wrap: wrap; }
  .replay, .live { min-height: 2.5rem; }
  .webhook-line .copy, .ids .copy, .block-head .copy { min-height: 1.75rem; }
}
@media (prefers-reduced-motion: no-preference) {
  [data-arrived] { animation: arrive 1.8s ease-out; }
  @keyframes arrive { from { background: var(--accent-tint); } }
}
@media (forced-colors: active) {
  .replay[aria-disabled] { border-color: GrayText; color: GrayText; }
  .state::before { border-color: CanvasText; }
  .state.enabled::before, .state.suspended::before { background: CanvasText; }
  .failure { border-color: CanvasText; }
}
`;
