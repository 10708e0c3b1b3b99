import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type OutputFile, type Plugin } from "esbuild";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Applies the "browser" field of package.json to the sources, as bundlers apply it to the built files. */
const browserField: Plugin = {
  name: "browser-field",
  async setup({ onResolve }) {
    const manifest: { browser: Record<string, string> } = JSON.parse(
      await readFile(join(root, "package.json"), "utf8"),
    );
    const sources = globSync("src/{console,payload,receiver,registration}/**/*.ts", { cwd: root });
    const sourceOf = (built: string) => {
      const [source, ...others] = sources.filter((path) => basename(path, ".ts") === basename(built, ".js"));
      if (source === undefined || others.length > 0) throw new Error(`${built} does not name exactly one file.`);
      return join(root, source);
    };
    const replacements = new Map(
      Object.entries(manifest.browser).map(([built, replacement]) => [sourceOf(built), sourceOf(replacement)]),
    );
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const replacement = replacements.get(join(resolveDir, path));
      return replacement === undefined ? undefined : { path: replacement };
    });
  },
};

/**
 * Bundles a script that imports the package's `./index.ts` and `./testing.ts` for a worker. Its exports are in the
 * global variable `worker`. Fails if a module needs a Node module.
 */
export async function bundleForWorker(script: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: join(root, "src"), loader: "ts" },
    bundle: true,
    format: "iife",
    globalName: "worker",
    platform: "browser",
    target: "es2022",
    plugins: [browserField],
    write: false,
    logLevel: "silent",
  });
  return onlyText(outputFiles);
}

/** Bundles the built package for a worker. The bundler applies the "browser" field itself. */
export async function bundleBuiltPackage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, "dist/index.js")],
    bundle: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "silent",
  });
  return onlyText(outputFiles);
}

function onlyText([bundle]: readonly OutputFile[]): string {
  if (!bundle) throw new Error("The bundler returned no output.");
  return bundle.text;
}
