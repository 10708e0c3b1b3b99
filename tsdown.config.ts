import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { defineConfig, type Rolldown } from "tsdown";

const publicEntries = ["index", "client", "dev", "job", "local-hub", "testing"];

/** Entry files of threads and child processes, which are started by file name: see src/core/files.ts. */
const programs = [
  "dev/forward-server",
  "inbox/bullmq/lease-renewer-thread",
  "inbox/bucket/heartbeat-sender-thread",
  "inbox/bucket/snapshot-thread",
  "inbox/sqlite/background-maintenance-thread",
  "server-file/server-process-child",
  "tunnel/localtunnel-process",
  "tunnel/program-process",
];

/** A file that the "browser" field of package.json replaces, and the replacement. */
const replacedInWorkers = ["receiver/platform.worker", "registration/reconcile"];

/** Chunks that `index.js` imports at its start, and that the "browser" field replaces. */
const replacedChunks: readonly string[] = ["object-schema", "platform.node"];

/** Writes the licenses of the bundled packages to a file, as these licenses require. The build of the console does the same. */
const licenses: Rolldown.Plugin = {
  name: "licenses",
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
    const folders = modules.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
    const sections = [...new Set(folders)].sort().map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const [file] = globSync("{LICEN[CS]E,licen[cs]e}*", { cwd: folder });
      if (file === undefined) throw new Error(`${name} is bundled, but has no license file.`);
      return `\n## ${name} - ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    });
    const source = `# Licenses\n\nThis package contains code of these packages:\n${sections.join("")}`;
    if (sections.length > 0) this.emitFile({ type: "asset", fileName: "THIRD-PARTY.md", source });
  },
};

/**
 * Removes the files that only re-export names of another file, and imports the other file instead. The bundler writes one for each dynamic
 * import of a module whose file also exports names to others. They were a sixth of all files, and each was one more file to load.
 */
const directImports: Rolldown.Plugin = {
  name: "direct-imports",
  generateBundle(_options, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
    const targets = new Map<string, string>();
    for (const { fileName, isEntry, isDynamicEntry, code } of chunks) {
      const [, target] = /^\s*export \{ [\w$]+(?:, [\w$]+)* \} from "(\.\/[^"]+)";\s*$/.exec(code) ?? [];
      if (target === undefined || isEntry || !isDynamicEntry) continue;
      targets.set(`./${fileName}`, target);
      delete bundle[fileName];
    }
    for (const chunk of chunks) {
      chunk.code = chunk.code.replace(/\bimport\("(\.\/[^"]+)"\)/g, (call, path) =>
        targets.has(path) ? `import("${targets.get(path)}")` : call,
      );
    }
  },
};

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
  // The bundler drops the same line of the sources, without which `lib: ["es2024", "dom"]` has no Symbol.asyncDispose.
  banner: { dts: '/// <reference lib="esnext.disposable" />' },
  dts: { entry: publicEntries.map((name) => `src/${name}.ts`) },
  // The local Hub verifies signatures with this package, which is only an optional peer of the inbox.
  deps: {
    // The main entry point of "zod" loads the texts of 50 languages, which took a quarter of the time to the first delivery, and its
    // installation is 8 MB. The local Hub verifies signatures with "aws4fetch", which is only an optional peer of the inbox. Only
    // commands need the others.
    alwaysBundle: [/^zod(?:\/|$)/, "aws4fetch", "@clack/prompts", "launch-editor", "string-width"],
  },
  inputOptions: {
    // Required by `includeDependenciesRecursively: false`.
    preserveEntrySignatures: "allow-extension",
    // It makes chunks of workers import the helpers for CommonJS, which require `node:module`.
    experimental: { chunkOptimization: false },
  },
  outputOptions: {
    // The chunks that `index.js` imports have fixed names and unchanged exports, so that the "browser" field can replace them.
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      // The declarations (`.d.ts`) of these files must not get into the chunks.
      groups: [
        { name: "object-schema", test: /src\/payload\/object-schema\.ts$/ },
        { name: "platform.node", test: /src\/receiver\/(?:platform\.node|history)\.ts$/ },
        // Modules that run together are one file to load instead of several.
        { name: "deploy", test: /src\/deploy\/[\w-]+\.ts$/ },
        { name: "inbox", test: /src\/inbox\/(?:errors|filter|inbox|records)\.ts$/ },
        { name: "server-file", test: /src\/server-file\/(?!server-process-child)[\w-]+\.ts$/ },
        { name: "trigger", test: /src\/cli\/commands\/trigger\/(?:event|local-hub-sender|run-trigger)\.ts$/ },
        { name: "registration", test: /src\/registration\/(?:report|temporary)\.ts$/ },
        {
          name: "write-repository",
          test: /src\/hub\/repositories\/(?:create-commit|file-content|upload-files|write-discussions)\.ts$/,
        },
      ],
    },
    chunkFileNames: ({ name }) => (replacedChunks.includes(name) ? "[name].js" : "[name]-[hash].js"),
  },
  plugins: [licenses, directImports],
  logLevel: "warn",
});
