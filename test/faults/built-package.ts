import { registerHooks } from "node:module";

/*
 * Loaded before a program (`--import`), makes it run the built package wherever it imports from the sources: the very
 * same tests and scripts then say what holds of `dist`.
 */

const root = new URL("../../", import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    return { ...resolved, url: builtFile(resolved.url) };
  },
});

function builtFile(url: string): string {
  if (!url.startsWith(`${root}src/`)) return url;
  return `${root}dist/${url.slice(`${root}src/`.length).replace(/\.ts$/, ".js")}`;
}
