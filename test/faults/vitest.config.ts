import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import SurvivalTable from "./survival-table.ts";

/*
 * All rows, on every inbox there is, against the built package: the entry points that a test imports from the sources
 * come from `dist`, as they do in the processes that it starts.
 */

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("../../node_modules/.cache/node-compile/", import.meta.url));

const root = fileURLToPath(new URL("../../", import.meta.url));

const builtPackage: Plugin = {
  name: "built-package",
  enforce: "pre",
  async resolveId(source, importer, options) {
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    const [, name] = resolved?.id.startsWith(root)
      ? (/^src\/([\w-]+)\.ts$/.exec(resolved.id.slice(root.length)) ?? [])
      : [];
    return name === undefined ? null : `${root}dist/${name}.js`;
  },
};

export default defineConfig({
  root,
  plugins: [builtPackage],
  test: {
    include: ["test/faults/*.test.ts"],
    env: { FAULTS_ON: "dist", SLOW_TESTS: "1" },
    reporters: ["default", new SurvivalTable()],
    // It runs as Node runs it, untouched.
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
    dangerouslyIgnoreUnhandledErrors: false,
    maxWorkers: availableParallelism() + 1,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    unstubEnvs: true,
  },
});
