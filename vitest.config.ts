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

/** `npm run faults` and `.ci/run` run these: faults, real browsers, and sessions that consist of many processes. */
const takesLong = [
  "test/faults/**/*.test.ts",
  "test/**/*.browser.test.ts",
  "test/catch-up/simulation.test.ts",
  "test/cli/commands/deploy.test.ts",
  "test/cli/commands/dev.test.ts",
  "test/cli/commands/hub.test.ts",
  "test/cli/commands/sync.test.ts",
  "test/console/app/copied-test.test.ts",
  "test/deploy/deploy.test.ts",
  "test/deploy/workflow.test.ts",
  "test/dev/console/direct-send-source.test.ts",
  "test/dev/dev-session-real.test.ts",
  "test/dev/dev-session.test.ts",
  "test/dev/reloading-server.test.ts",
  "test/doctor/doctor.test.ts",
  "test/doctor/space.test.ts",
  "test/e2e/audit.test.ts",
  "test/e2e/template.test.ts",
  "test/inbox/bucket/contract.test.ts",
  "test/inbox/bullmq/lost-leases.test.ts",
  "test/inbox/bullmq/redis.test.ts",
  "test/inbox/sqlite/late-success.test.ts",
  "test/inbox/sqlite/two-processes.test.ts",
  "test/local-hub/s3/multipart.test.ts",
  "test/local-hub/spaces/spaces.test.ts",
  "test/server-file/load-failure.test.ts",
  "test/server-file/server-process.test.ts",
  "test/tunnel/program.test.ts",
  "test/tunnel/reconnecting-tunnel.test.ts",
  "test/tunnel/tunnel-failure.test.ts",
];
const excluded = process.env.SLOW_TESTS === "1" ? [] : takesLong;
// The sessions of many processes install hundreds of megabytes, which belong on a disk.
if (process.env.SLOW_TESTS !== "1") keepTemporaryFilesInMemory();
if (excluded.length > 0) {
  console.warn("Skipped: faults, browsers and multi-process sessions. Set SLOW_TESTS=1 to run them.");
}

/** The tests that need a process of their own: browsers, signal handlers, standard streams. */
const isolated = [
  ...["test/**/*.browser.test.ts", "test/http-server/**/*.test.ts", "test/receiver/node/**/*.test.ts"],
  ...["test/dev/dev-session*.test.ts", "test/dev/reloading-server.test.ts", "test/tunnel/**/*.test.ts"],
  ...["test/server-file/load-failure.test.ts", "test/server-file/server-process.test.ts"],
  "test/core/direct-fetch.test.ts",
];

export default defineConfig({
  plugins: [standardDecorators],
  test: {
    // An error that nobody handles fails the run: that is what it would do to a receiver.
    dangerouslyIgnoreUnhandledErrors: false,
    // Most tests wait for a socket or a process more than they compute: as many workers as cores leave them idle.
    maxWorkers: availableParallelism() + 2,
    // The slow tests start a dozen processes each.
    testTimeout: process.env.SLOW_TESTS === "1" ? 60_000 : 20_000,
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
