import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { transform } from "esbuild";
import { defineConfig, type Plugin } from "vitest/config";

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

/** `npm run faults` and `.ci/run` run these: faults, real browsers, and sessions that consist of many processes. */
const takesLong = [
  "test/faults/**/*.test.ts",
  "test/**/*.browser.test.ts",
  "test/dev/dev-session-real.test.ts",
  "test/e2e/dev-loop.test.ts",
  "test/e2e/template.test.ts",
  "test/inbox/bullmq/lost-leases.test.ts",
  "test/tunnel/tunnel-failure.test.ts",
];
const left = process.env.SLOW_TESTS === "1" ? [] : takesLong;
if (left.length > 0) {
  console.warn("Skipped: faults, browsers and sessions of many processes. Set SLOW_TESTS=1 to run them.");
}

/** Their subjects keep nothing in the process they run in, so that one process may run many files of them. */
const together = ["cli", "docs", "hub", "inbox", "local-hub", "console", "payload", "receiver", "registration"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
/** Of these folders, what does: a browser, signal handlers, standard streams. */
const apart = ["test/**/*.browser.test.ts", "test/receiver/node/**/*.test.ts"];

export default defineConfig({
  plugins: [standardDecorators],
  test: {
    // An error that nobody handles fails the run: that is what it would do to a receiver.
    dangerouslyIgnoreUnhandledErrors: false,
    // Most tests wait for a socket or a process more than they compute: as many workers as cores leave them idle.
    maxWorkers: availableParallelism() + 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    // Its own second is over before a process has started on a busy machine.
    expect: { poll: { timeout: 15_000 } },
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: "unit", isolate: false, include: together, exclude: [...apart, ...left] } },
      { extends: true, test: { name: "apart", include: apart, exclude: left } },
      {
        extends: true,
        test: {
          name: "others",
          include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
          exclude: [...together, ...apart, ...left],
        },
      },
    ],
  },
});
