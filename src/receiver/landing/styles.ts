import { baseStyles } from "../../console/pages/assets.ts";

/** The style sheet of the page. At 1280 × 800, the header, the state, and six endpoints are visible without scrolling. */
export const styles = `${baseStyles}
.state { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1.25rem; margin-top: 1.25rem; }
.lead { color: var(--quiet); }

.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem 2rem; margin-top: 1.25rem; }
.columns h2 { margin-bottom: 0.5rem; }
.next:has(.fine) { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 1rem; }
.next:has(.fine) h2 { margin: 0; }
.done, .fine { color: var(--quiet); font-size: 0.875rem; }
.done { margin-top: 0.625rem; }

.steps { counter-reset: step; display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.625rem; }
.steps > li {
  counter-increment: step;
  padding: 0.625rem 0.875rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--surface);
}
:is(.step-secret, .step-inbox, .step-dead, .step-failed) { box-shadow: inset 0.25rem 0 var(--bad); }
.step-daily-limit { box-shadow: inset 0.25rem 0 var(--retry); }
.steps h3::before { content: counter(step) ". "; }
.steps p { margin-top: 0.25rem; max-width: 60rem; color: var(--quiet); font-size: 0.875rem; }
.steps p a, .steps p b, .steps p code { color: var(--ink); }
.steps .copyable { align-items: flex-start; margin-top: 0.5rem; padding: 0.25rem; }
.steps pre { padding: 0.1875rem 0.375rem; font-size: 0.8125rem; line-height: 1.5; white-space: pre-wrap; }
.steps pre code { font-size: inherit; }
.steps summary { padding: 0.125rem 0.375rem; }

table { width: 100%; border-collapse: collapse; font-size: 0.875rem; }
th { font-weight: 400; text-align: left; }
thead th { color: var(--quiet); font-size: 0.8125rem; }
.endpoints table, .endpoints thead, .endpoints tbody { display: block; }
.endpoints tr {
  display: grid;
  grid-template: "name count outcome" auto "url count outcome" auto / minmax(0, 1fr) 8rem 8rem;
  gap: 0.125rem 1rem;
  padding-block: 0.4375rem;
  border-bottom: 1px solid var(--line);
}
.url-column { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.endpoints thead tr { padding-top: 0; }
.endpoints :is(th, td) { padding: 0; }
.endpoints :is(th, td):nth-child(2) { grid-area: url; }
.endpoints :is(th, td):nth-child(3) { grid-area: count; }
.endpoints :is(th, td):nth-child(4) { grid-area: outcome; }
.endpoints .copyable { padding: 0.0625rem 0.0625rem 0.0625rem 0.5rem; }
.endpoints code { padding-block: 0.125rem; font-size: 0.8125rem; }
.name { margin-right: 0.5rem; font-weight: 650; unicode-bidi: isolate; }
.scopes { color: var(--quiet); font-size: 0.8125rem; }
.columns:has(.steps) .outcome time { display: block; color: var(--quiet); }
.narrow-label { display: none; color: var(--quiet); }
.endpoints > .muted { margin-top: 0.5rem; }

.chart { margin: 0.5rem 0 0.75rem; }
.chart figcaption { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 0.25rem 2rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; color: var(--quiet); font-size: 0.875rem; }
.legend b { color: var(--ink); font-weight: 600; }
.key { margin-right: 0.375rem; vertical-align: -0.0625em; }
.scale { margin-top: 0.5rem; border-bottom: 1px dashed var(--line); color: var(--quiet); font-size: 0.8125rem; }
.bars { display: block; width: 100%; height: 7rem; border-bottom: 1px solid var(--quiet); }
.bars g:hover { opacity: 0.75; }
.before { fill: var(--inset); }
rect.succeeded { fill: var(--good); }
rect.ignored { fill: var(--ignored); }
rect.failed { fill: var(--bad); }
.axis { display: flex; justify-content: space-between; color: var(--quiet); font-size: 0.8125rem; }
summary { width: fit-content; line-height: 1.75; color: var(--quiet); font-size: 0.875rem; cursor: pointer; }
summary:hover { color: var(--ink); }
.chart details { margin-top: 0.5rem; }
.chart :is(th, td) { padding: 0.25rem 0 0.25rem 1rem; border-top: 1px solid var(--line); }
.chart :is(th, td):first-child { padding-left: 0; }
.chart table { margin-top: 0.5rem; }
.chart caption { padding-bottom: 0.5rem; color: var(--quiet); text-align: left; }
.chart thead th::first-letter { text-transform: uppercase; }
.chart th:not(:first-child), .chart td { text-align: right; }

@media (min-width: 64rem) {
  .columns:has(.steps):has(.endpoints) {
    grid-template: "endpoints next" auto "activity next" 1fr / minmax(0, 1fr) 23rem;
  }
  .columns:has(.steps) > .activity { grid-area: activity; }
  .columns:has(.steps) > .endpoints { grid-area: endpoints; }
  .columns:has(.endpoints) > .next:has(.steps) { grid-area: next; }
  .columns:not(:has(.steps)) .endpoints tr {
    grid-template: "name url count outcome" / 18rem minmax(0, 1fr) 8rem 14rem;
    align-items: center;
  }
  .columns:not(:has(.steps)) .url-column { position: static; width: auto; height: auto; clip-path: none; }
}
@media (max-width: 48rem) {
  .endpoints thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .endpoints tr { grid-template: "name" "url" "count" "outcome" / minmax(0, 1fr); padding-block: 0.625rem; }
  .endpoints tbody tr:first-child { border-top: 1px solid var(--line); }
  .columns:has(.steps) .outcome time { display: inline; color: inherit; }
  .narrow-label { display: inline; }
}
@media (forced-colors: active) {
  .bars, .key { forced-color-adjust: none; }
}
`;
