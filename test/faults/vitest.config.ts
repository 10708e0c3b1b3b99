import { availableParallelism } from "node:os";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import SurvivalTable from "./survival-table.ts";

/*
 * Runs all faults on every inbox engine against the built package. Test files and the processes they start import entry
 * points from `dist`.
 */

process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("../../node_modules/.cache/node-compile/", import.meta.url));
// Tests request servers on this machine, also where NODE_USE_ENV_PROXY is set.
process.env.NO_PROXY = "localhost,127.0.0.1,[::1],::1";

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

/** In the order of their durations, since a long file that starts late runs alone in the end. */
const longest = ["bucket", "inbox-recovery", "inbox-crash", "bucket-load", "inbox-servers", "inbox", "inbox-sqlite"];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = longest.indexOf(basename(moduleId, ".test.ts"));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  root,
  plugins: [builtPackage],
  test: {
    include: ["test/faults/*.test.ts"],
    env: { FAULTS_ON: "dist", SLOW_TESTS: "1" },
    reporters: ["default", new SurvivalTable()],
    // Node runs the built files without transformation.
    server: { deps: { external: [/\/dist\/.*\.js$/] } },
    dangerouslyIgnoreUnhandledErrors: false,
    // Most tests wait for a process, a lease, or a timeout.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // A busy machine needs three times as long as an idle one.
    testTimeout: 60_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 15_000 } },
    unstubEnvs: true,
  },
});
