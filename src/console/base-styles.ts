/** What the style sheets of all built-in pages begin with: colours, type, header, facts, notices, cards, copy buttons. */
export const baseStyles = `:root {
  color-scheme: light dark;
  --ground: light-dark(#fcfbf8, #131210);
  --surface: light-dark(#ffffff, #1b1a17);
  --inset: light-dark(#f6f3ec, #24221e);
  --line: light-dark(#e7e2d6, #322f29);
  --ink: light-dark(#1d1b16, #f4f0e8);
  --quiet: light-dark(#645e52, #aaa396);
  --accent: #ffd21e;
  --accent-tint: light-dark(#fff3c2, #38300f);
  --accent-ink: light-dark(#5b4600, #ffdc52);
  --focus: light-dark(#8a6a00, #ffd21e);
  --warn: light-dark(#a07400, #ffd21e);
  --warn-tint: light-dark(#fffaea, #211d10);
  --good: light-dark(#1f8a55, #4cc38a);
  --bad: light-dark(#c4382c, #ff7b6b);
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }

*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { scroll-padding-top: 2rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto;
  max-width: 56rem;
  padding: 1.75rem clamp(1rem, 4vw, 2.5rem) 5rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
/* An empty marker: with "none", VoiceOver would no longer call them lists. */
ul, ol { list-style-type: ""; }
h1, h2, h3 { line-height: 1.2; text-wrap: balance; }
code, pre, .method { font-family: var(--mono); }
code { font-size: 0.875em; }
a {
  color: inherit;
  text-decoration-color: var(--accent);
  text-decoration-thickness: 2px;
  text-underline-offset: 0.25em;
}
a:hover { text-decoration-thickness: 3px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; border-radius: 0.25rem; }
.muted { color: var(--quiet); }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

.top { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.75rem 2rem; }
.brand { display: flex; align-items: center; gap: 0.75rem; font-weight: 650; letter-spacing: -0.01em; }
.mark-ground { fill: var(--accent); }
.mark-dot { fill: #1d1b16; }
.mark-line { fill: none; stroke: #1d1b16; stroke-width: 2.75; stroke-linecap: round; stroke-linejoin: round; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; font-size: 0.9375rem; }
nav a { white-space: nowrap; color: var(--quiet); text-decoration-color: transparent; }
nav a:hover { color: var(--ink); text-decoration-color: var(--accent); }

h1 {
  margin-top: clamp(3rem, 9vw, 5.5rem);
  font-size: clamp(2.125rem, 1.5rem + 3vw, 3.25rem);
  font-weight: 700;
  letter-spacing: -0.03em;
  line-height: 1.08;
}
mark { padding: 0 0.14em 0.03em; border-radius: 0.12em; background: var(--accent); color: #1d1b16; }
.lead { margin-top: 0.875rem; color: var(--quiet); font-size: 1.125rem; }
.facts {
  display: flex;
  flex-wrap: wrap;
  gap: 1rem 3rem;
  margin-top: 2.25rem;
  padding-block: 1.25rem;
  border-block: 1px solid var(--line);
}
dt { color: var(--quiet); font-size: 0.8125rem; }
dd { font-weight: 600; }

section { margin-top: clamp(3rem, 7vw, 4.5rem); }
h2 { font-size: 1.375rem; font-weight: 650; letter-spacing: -0.015em; }
h3 { font-size: 1rem; font-weight: 650; }

.notice {
  margin-top: 2rem;
  padding: 1.125rem 1.375rem;
  border: 1px solid var(--line);
  border-radius: 0.875rem;
  background: var(--surface);
  font-size: 0.9375rem;
}
.notice h2 { font-size: 1rem; letter-spacing: 0; }
.notice p { margin-top: 0.375rem; max-width: 42rem; color: var(--quiet); }
.notice a, .notice b, .notice code { color: var(--ink); }
.warning { border-color: light-dark(#ecd27a, #5d4f18); background: var(--warn-tint); }
.warning-sign {
  display: inline-block;
  width: 1.375rem;
  margin-right: 0.625rem;
  border-radius: 50%;
  background: var(--accent);
  color: #1d1b16;
  line-height: 1.375rem;
  text-align: center;
}
.warning p { color: var(--ink); }

.card { border: 1px solid var(--line); border-radius: 0.875rem; background: var(--surface); }
.method {
  padding: 0.125rem 0.5rem;
  border-radius: 0.375rem;
  background: var(--accent-tint);
  color: var(--accent-ink);
  font-size: 0.75rem;
  font-weight: 700;
  letter-spacing: 0.04em;
}
.dot {
  display: inline-block;
  width: 0.5rem;
  height: 0.5rem;
  margin-right: 0.5rem;
  border: 2px solid currentcolor;
  border-radius: 50%;
  vertical-align: 0.0625em;
}
.dot.succeeded { color: var(--good); background: currentcolor; }
.dot.failed { color: var(--bad); background: currentcolor; }
.dot.open { color: var(--warn); }
.dot.ignored, .dot.none { color: var(--quiet); }
.dot.ignored { background: currentcolor; }
.chips { display: flex; flex-wrap: wrap; gap: 0.375rem; }
.chips li { padding: 0.0625rem 0.625rem; border: 1px solid var(--line); border-radius: 1rem; }

.copyable {
  display: flex;
  align-items: center;
  gap: 0.75rem;
  margin-block: 0.875rem;
  padding: 0.375rem 0.375rem 0.375rem 0.875rem;
  border-radius: 0.5rem;
  background: var(--inset);
}
.copyable > code, .copyable > pre { flex: 1; min-width: 0; padding-block: 0.3125rem; unicode-bidi: isolate; }
.copyable > pre { white-space: pre-wrap; font-size: 0.9375rem; line-height: 1.55; }
.copyable:has(pre) { align-items: flex-start; margin-bottom: 0; padding-left: 1.125rem; }
.copyable:has(pre) > pre { padding-block: 0.75rem; }
.copy {
  min-width: 5.25rem;
  padding: 0.3125rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--surface);
  color: var(--ink);
  font-family: inherit;
  font-size: 0.8125rem;
  font-weight: 600;
  line-height: 1.5;
  cursor: pointer;
}
/* Without the script it would do nothing. */
:root:not([data-scripted]) .copy { display: none; }
.copy:hover { border-color: var(--quiet); }
.copy[data-state] { border-color: var(--accent); background: var(--accent); color: #1d1b16; }

.empty { margin-top: 1.25rem; padding: 1.5rem; border-style: dashed; }
.empty-title { font-weight: 650; }

@media (max-width: 36rem) {
  .notice { padding-inline: 1rem; }
  .facts { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
  .copyable, .copyable:has(pre) { flex-direction: column; align-items: stretch; gap: 0.25rem; padding: 0.375rem; }
  .copyable > code, .copyable > pre { padding-inline: 0.5rem; }
  .copyable > pre { font-size: 0.875rem; }
  .copy { min-height: 2.5rem; }
  .empty { padding: 1rem; }
}
@media (prefers-reduced-motion: no-preference) {
  html { scroll-behavior: smooth; }
  .copy { transition: background-color 120ms, border-color 120ms; }
}
@media (forced-colors: active) {
  .dot.succeeded, .dot.failed, .dot.ignored { background: CanvasText; }
  .method { border: 1px solid; }
}
`;
