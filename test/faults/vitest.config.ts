import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import SurvivalTable from "./survival-table.ts";

/*
 * All rows, on every inbox there is, against the built package: what a test imports from the sources comes out of
 * `dist`, as it does in the processes that it starts.
 */

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("../../node_modules/.cache/node-compile/", import.meta.url));

const root = fileURLToPath(new URL("../../", import.meta.url));

const builtPackage: Plugin = {
  name: "built-package",
  enforce: "pre",
  async resolveId(source, importer, options) {
    const resolved = await this.resolve(source, importer, { ...options, skipSelf: true });
    if (!resolved?.id.startsWith(`${root}src/`)) return null;
    return resolved.id.replace(`${root}src/`, `${root}dist/`).replace(/\.ts$/, ".js");
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
