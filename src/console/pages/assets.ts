import { tokens } from "../design/tokens.ts";

type AssetName = `${string}.css` | `${string}.js`;

/** The assets of a page. Their URLs change with their content. */
interface PageAssets<Name extends AssetName> {
  /** Returns the file name in the URL: for `styles.css`, for example `styles-0a1b2c3d.css`. */
  nameOf: (file: Name) => string;
  /** Returns the response for that file name, which browsers may cache without a limit, or `undefined` for an unknown name. */
  answer: (name: string) => Response | undefined;
}

/**
 * Adds a hash of the content to the names of a page's style sheet and script.
 *
 * @example
 * ```ts
 * const assets = hashAssets({ "styles.css": styles, "page.js": script });
 * assets.nameOf("page.js"); // page-93d1f0aa.js
 * ```
 */
export function hashAssets<const Name extends AssetName>(contents: Readonly<Record<Name, string>>): PageAssets<Name> {
  const contentByName = new Map<string, string>();
  const nameOf = (file: Name) => file.replace(".", `-${contentHash(contents[file])}.`);
  for (const file of Object.keys(contents) as Name[]) contentByName.set(nameOf(file), contents[file]);
  return {
    nameOf,
    answer: (name) => {
      const content = contentByName.get(name);
      if (content === undefined) return undefined;
      return new Response(content, {
        headers: {
          "Content-Type": name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8",
          "X-Content-Type-Options": "nosniff",
          "Cache-Control": "public, max-age=31536000, immutable",
        },
      });
    },
  };
}

/** FNV-1a with 32 bits. The hash only detects changes, and unlike `crypto.subtle` it is synchronous. */
function contentHash(content: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < content.length; index++) {
    hash = Math.imul(hash ^ content.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, "0");
}

/**
 * The script of all server-rendered pages. It shows the copy buttons and handles their clicks. If the browser denies access to
 * the clipboard (over plain HTTP, or in a frame without permission), the script selects the text, so that the user can copy it
 * with the keyboard.
 */
export const copyScript = `const announcer = document.getElementById("announcer");
const restoring = new WeakMap();

/** Shows a text in the live region for a short time. */
function announce(text, milliseconds = 2500) {
  announcer.textContent = text;
  setTimeout(() => {
    if (announcer.textContent === text) announcer.textContent = "";
  }, milliseconds);
}

/** Shows an outcome on a button and in the live region for a short time. */
function report(button, state, announcement, milliseconds = 2500) {
  const label = button.querySelector("[data-label]");
  button.dataset.usual ??= label.textContent;
  label.textContent = state;
  button.dataset.state = state;
  announce(announcement, milliseconds);
  clearTimeout(restoring.get(button));
  restoring.set(button, setTimeout(() => {
    label.textContent = button.dataset.usual;
    delete button.dataset.state;
  }, milliseconds));
}

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (!button) return;
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    report(button, "Copied", "Copied " + button.dataset.what + ".");
  } catch {
    source.closest("details")?.setAttribute("open", "");
    getSelection().selectAllChildren(source);
    report(button, "Selected", "Selected " + button.dataset.what + ": copy it with the keyboard.");
  }
});

document.documentElement.dataset.scripted = "";
`;

/** The shared start of the style sheets of server-rendered pages: tokens, type, header, facts, notices, copy buttons. */
export const baseStyles = `${tokens}
*, *::before, *::after { box-sizing: border-box; }
html { scroll-padding-top: 2rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto;
  max-width: 84rem;
  padding: 1rem clamp(1rem, 3vw, 2rem) 3rem;
  background: var(--ground);
  color: var(--ink);
  font: 0.9375rem/1.5 var(--sans);
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
h1, h2, h3, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
/* An empty marker: with "none", VoiceOver would no longer call them lists. */
ul, ol { list-style-type: ""; }
h1, h2, h3 { line-height: 1.2; text-wrap: balance; }
h1 { font-size: 1.625rem; letter-spacing: -0.02em; }
h2 { font-size: 1.0625rem; font-weight: 650; letter-spacing: -0.01em; }
h3 { font-size: 0.9375rem; font-weight: 650; }
code, pre { font-family: var(--mono); }
code { font-size: 0.875em; }
a {
  color: inherit;
  text-decoration-color: var(--accent);
  text-decoration-thickness: 2px;
  text-underline-offset: 0.25em;
}
a:hover { text-decoration-thickness: 3px; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 3px; border-radius: 0.25rem; }
mark { padding: 0 0.14em 0.03em; border-radius: 0.12em; background: var(--accent); color: var(--on-accent); }
.muted { color: var(--quiet); }
.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

.top {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0.75rem 2rem;
  padding-bottom: 0.75rem;
  border-bottom: 1px solid var(--line);
}
.brand { display: flex; align-items: center; gap: 0.75rem; font-weight: 650; letter-spacing: -0.01em; }
.mark { width: 1.75rem; height: 1.75rem; }
.mark-ground { fill: var(--accent); }
.mark-dot { fill: var(--on-accent); }
.mark-line { fill: none; stroke: var(--on-accent); stroke-width: 2.75; stroke-linecap: round; stroke-linejoin: round; }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; }
nav a { line-height: 1.75; white-space: nowrap; color: var(--quiet); text-decoration-color: transparent; }
nav a:hover { color: var(--ink); text-decoration-color: var(--accent); }

.facts {
  display: flex;
  flex-wrap: wrap;
  gap: 0.5rem 2.25rem;
  margin-top: 0.875rem;
  padding: 0.625rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--surface);
}
dt { color: var(--quiet); font-size: 0.8125rem; }
dd { font-size: 1.125rem; font-weight: 600; line-height: 1.35; }

.notice {
  margin-top: 2rem;
  padding: 0.75rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--surface);
  font-size: 0.875rem;
}
.notice h2 { font-size: 0.9375rem; letter-spacing: 0; }
.notice p { margin-top: 0.25rem; max-width: 60rem; color: var(--quiet); }
.notice code { color: var(--ink); }

.dot {
  display: inline-block;
  width: 0.5rem;
  height: 0.5rem;
  margin-right: 0.5rem;
  border: 2px solid currentcolor;
  border-radius: 50%;
  color: var(--quiet);
  vertical-align: 0.0625em;
}
.dot.succeeded { color: var(--good); background: currentcolor; }
.dot.failed { color: var(--bad); background: currentcolor; }
.dot.ignored { color: var(--ignored); background: currentcolor; }
.dot.retrying { color: var(--retry); background: linear-gradient(90deg, currentcolor 50%, transparent 50%); }

.copyable { display: flex; align-items: center; gap: 0.375rem; border-radius: 0.375rem; background: var(--inset); }
.copyable > code, .copyable > pre, .copyable > details { flex: 1; min-width: 0; unicode-bidi: isolate; }
.copy {
  min-width: 4rem;
  padding: 0.125rem 0.5rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--surface);
  color: var(--ink);
  font-family: inherit;
  font-size: 0.75rem;
  font-weight: 600;
  line-height: 1.5;
  cursor: pointer;
}
/* Without the script it would do nothing. */
:root:not([data-scripted]) .copy { display: none; }
.copy:hover { border-color: var(--quiet); }
.copy[data-state] { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }

@media (max-width: 36rem) {
  .facts { display: grid; grid-template-columns: auto auto; gap: 0.5rem; }
  dd { font-size: 1rem; }
}
@media (max-width: 48rem) {
  .copy { min-height: 2rem; }
}
@media (prefers-reduced-motion: no-preference) {
  html { scroll-behavior: smooth; }
  .copy { transition: background-color 120ms, border-color 120ms; }
}
@media (forced-colors: active) {
  .dot.succeeded, .dot.failed, .dot.ignored { background: CanvasText; }
}
`;
