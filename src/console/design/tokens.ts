/**
 * The design tokens of the console and of the server-rendered pages, as CSS custom properties. Colors of text meet WCAG AA on
 * `--ground`, `--surface`, and `--inset`. A status color always comes with a word or a shape, because color alone is not
 * readable for everyone. `?__theme=` sets `data-theme`, as on the Hub.
 */
export const tokens = `:root {
  color-scheme: light dark;
  --ground: light-dark(#fcfbf8, #131210);
  --surface: light-dark(#ffffff, #1b1a17);
  --inset: light-dark(#f6f3ec, #24221e);
  --line: light-dark(#e7e2d6, #322f29);
  --edge: light-dark(#d3ccbc, #47433b);
  --shadow: 0 0.5rem 2rem rgb(0 0 0 / 18%);
  --ink: light-dark(#1d1b16, #f4f0e8);
  --quiet: light-dark(#645e52, #aaa396);
  --link: light-dark(#1f5fbf, #8ab8ff);
  --accent: #ffd21e;
  --on-accent: #1d1b16;
  --accent-tint: light-dark(#fff3c2, #38300f);
  --accent-ink: light-dark(#5b4600, #ffdc52);
  --focus: light-dark(#8a6a00, #ffd21e);
  --bad: light-dark(#b3261e, #ff8a7a);
  --bad-tint: light-dark(#fdeceb, #3a1d19);
  --retry: light-dark(#8a5a00, #ffb84d);
  --retry-tint: light-dark(#fff1d6, #35270f);
  --good: light-dark(#1a7446, #55c88f);
  --ignored: light-dark(#645e52, #aaa396);
  --running: light-dark(#1f5fbf, #7fb2ff);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  --radius: 0.375rem;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }
`;
