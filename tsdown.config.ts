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
  "console/pages/error-page",
  "receiver/console/no-receiver-console",
  "receiver/hub/hub-client",
  "receiver/landing/landing-page",
  "receiver/landing/worker-pages",
  "receiver/recent/no-delivery-history",
  "receiver/routes/metrics",
  "receiver/node/open-configured-inbox",
  "receiver/node/start-server",
  "receiver/node/node-logger",
  "receiver/node/signals",
  "receiver/node/unavailable",
  "registration/register-server",
  "registration/register-unavailable",
];

/** Chunks that `index.js` imports at its start, and that the "browser" field replaces. */
const replacedChunks: readonly string[] = ["delivery-history", "inbox-support", "receiver-console"];

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
  // Required by `includeDependenciesRecursively: false`.
  inputOptions: { preserveEntrySignatures: "allow-extension" },
  outputOptions: {
    // The chunks that `index.js` imports have fixed names and unchanged exports, so that the "browser" field can replace them.
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      // The declarations (`.d.ts`) of these files must not get into the chunks.
      groups: [
        { name: "delivery-history", test: /src\/receiver\/recent\/(?!no-|recent-snapshot)[\w-]+\.ts$/ },
        { name: "receiver-console", test: /src\/receiver\/console\/receiver-console\.ts$/ },
        { name: "inbox-support", test: /src\/receiver\/background\/inbox-support\.ts$/ },
      ],
    },
    chunkFileNames: ({ name }) => (replacedChunks.includes(name) ? "[name].js" : "[name]-[hash].js"),
  },
  logLevel: "warn",
});
