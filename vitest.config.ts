import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { defineConfig, type Plugin } from "vitest/config";
import { keepTemporaryFilesInMemory } from "./test/support/memory-folder.ts";

/** Vitest's own transformer leaves standard decorators as they are, and no engine runs them yet. */
const standardDecorators: Plugin = {
  name: "standard-decorators",
  enforce: "pre",
  async transform(code, id) {
    if (!/\.ts$/.test(id) || !/^\s*@\w/m.test(code)) return undefined;
    const { code: lowered, map } = await transform(code, {
      loader: "ts",
      target: "es2022",
      sourcemap: true,
      sourcefile: id,
    });
    return { code: lowered, map };
  },
};

// Hundreds of processes are started, and each would compile the same sources anew.
process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL("./node_modules/.cache/node-compile/", import.meta.url));
// Tests request servers on this machine, also where NODE_USE_ENV_PROXY is set.
process.env.NO_PROXY = "localhost,127.0.0.1,[::1],::1";

const withSlow = process.env.SLOW_TESTS === "1";
/** Files whose tests are all slow would only be imported to skip them. */
const isSlow = (path: string) => readFileSync(path, "utf8").includes("@module-tag slow");
const excluded = withSlow ? [] : ["test/faults/**", ...globSync("test/**/*.test.ts").filter(isSlow)];
// The sessions of many processes install hundreds of megabytes, which belong on a disk.
if (!withSlow) keepTemporaryFilesInMemory();
if (!withSlow) console.warn("Skipped: what takes long, and faults. Set SLOW_TESTS=1 to run it.");

/** The tests that need a process of their own: browsers, signal handlers, standard streams, mocked modules. */
const isolated = [
  ...["test/**/*.browser.test.ts", "test/http-server/**/*.test.ts", "test/receiver/node/**/*.test.ts"],
  ...["test/dev/dev-session*.test.ts", "test/dev/reloading-server.test.ts", "test/tunnel/**/*.test.ts"],
  ...["test/server-file/load-failure.test.ts", "test/server-file/server-process.test.ts"],
  ...["test/core/direct-fetch.test.ts", "test/inbox/bullmq/bullmq-inbox.test.ts"],
];

export default defineConfig({
  plugins: [standardDecorators],
  test: {
    // An error that nobody handles fails the run: that is what it would do to a receiver.
    dangerouslyIgnoreUnhandledErrors: false,
    // Tests also wait for sockets, and slow tests also for processes. More workers take more CPU time for their imports than the tests
    // leave, and tests time out.
    maxWorkers: availableParallelism() + (withSlow ? 2 : 1),
    testTimeout: withSlow ? 60_000 : 20_000,
    // `.ci/run` runs them. Each starts a dozen processes, waits, or is large.
    tags: [{ name: "slow", skip: !withSlow }],
    hookTimeout: 30_000,
    // Its own second is over before a process has started on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    unstubEnvs: true,
    globalSetup: ["test/support/thread-bundles.ts"],
    setupFiles: ["test/support/setup.ts"],
    projects: [
      // One project, since each one transforms and imports the sources again. `npm run test:unit` runs some of its folders.
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [...isolated, ...excluded],
        },
      },
      // Chromium opens whole views and checks their accessibility, which takes three times as long on a busy machine.
      { extends: true, test: { name: "isolated", include: isolated, exclude: excluded, testTimeout: 60_000 } },
    ],
  },
});
