import { registerHooks } from "node:module";

/*
 * Preloaded with `--import`: replaces imports of the sources by the built package, so that the same tests and scripts
 * also run against `dist`.
 */

const root = new URL("../../", import.meta.url).href;

registerHooks({
  resolve(specifier, context, nextResolve) {
    const resolved = nextResolve(specifier, context);
    return { ...resolved, url: builtFile(resolved.url) };
  },
});

/** Maps an entry point to its built file. Internal modules that a test imports directly stay sources. */
function builtFile(url: string): string {
  const [, name] = url.startsWith(root) ? (/^src\/([\w-]+)\.ts$/.exec(url.slice(root.length)) ?? []) : [];
  return name === undefined ? url : `${root}dist/${name}.js`;
}
