import { baseStyles } from "../../page/base-styles.ts";

/** The page's style sheet. */
export const styles = `${baseStyles}
section + .notice { margin-top: clamp(3rem, 7vw, 4.5rem); }
.endpoints { display: grid; gap: 0.875rem; margin-top: 1.25rem; }
.endpoint { padding: 1.125rem 1.375rem; }
.endpoint-head, .endpoint-foot { display: flex; align-items: baseline; gap: 0.5rem 0.75rem; }
.endpoint-head h3 { flex: 1; unicode-bidi: isolate; }
.outcome { color: var(--quiet); font-size: 0.875rem; }
.endpoint-foot { flex-wrap: wrap; justify-content: space-between; color: var(--quiet); font-size: 0.875rem; }

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
}
`;
