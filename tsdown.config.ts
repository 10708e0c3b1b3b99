import { basename } from "node:path";
import { defineConfig } from "tsdown";

const publicEntries = ["index", "client", "dev", "job", "local-hub", "testing"];

/** Entry files of threads and child processes, which are started by file name: see src/core/package-root.ts. */
const programs = [
  "inbox/bullmq/lease-renewer-thread",
  "inbox/bucket/snapshot-thread",
  "inbox/sqlite/background-maintenance-thread",
  "server-file/server-process-child",
  "tunnel/localtunnel-process",
  "tunnel/program-process",
];

/** Files that the "browser" field of package.json replaces, and their replacements. */
const replacedInWorkers = [
  "console/error-page",
  "receiver/dashboard/dashboard",
  "receiver/background/inbox-support",
  "receiver/hub/hub-client",
  "receiver/landing/landing-page",
  "receiver/landing/worker-pages",
  "receiver/routes/metrics",
  "receiver/node/open-configured-inbox",
  "receiver/node/start-server",
  "receiver/node/node-logger",
  "receiver/node/signals",
  "receiver/node/unavailable",
  "registration/register-server",
  "registration/register-unavailable",
];

export default defineConfig({
  entry: {
    "cli/bin": "src/cli/bin.ts",
    ...Object.fromEntries(
      [...publicEntries, ...programs, ...replacedInWorkers].map((path) => [basename(path), `src/${path}.ts`]),
    ),
  },
  platform: "node",
  target: "node22.18",
  fixedExtension: false,
  sourcemap: true,
  // The bundler drops the same line of the sources, without which `lib: ["es2024", "dom"]` has no Symbol.asyncDispose.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  dts: { entry: publicEntries.map((name) => `src/${name}.ts`) },
  // The local Hub verifies signatures with this package, which is only an optional peer of the inbox.
  deps: { alwaysBundle: ["aws4fetch"] },
  logLevel: "warn",
});
