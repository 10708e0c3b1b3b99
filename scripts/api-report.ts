/**
 * Writes the public declarations of all entry points, rolled up into `api/hub-webhooks.d.ts`: what a change of the public
 * API looks like in review. With --check it reports whether the file is up to date:
 *
 *     node scripts/api-report.ts [--check]
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "tsdown";

const root = fileURLToPath(new URL("../", import.meta.url));
const report = join(root, "api/hub-webhooks.d.ts");
const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });

// In this package, so that imports of other packages are found.
mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
const folder = mkdtempSync(join(root, "node_modules/.cache/api-report-"));
try {
  const compiler = join(root, "node_modules/.bin/tsc");
  execFileSync(
    compiler,
    ["-p", "tsconfig.build.json", "--emitDeclarationOnly", "--outDir", join(folder, "declarations")],
    {
      cwd: root,
      stdio: "inherit",
    },
  );
  const rolledUp = await rollUp(join(folder, "declarations"));
  if (rolledUp !== readIfExists(report)) {
    if (values.check) {
      console.error(`${basename(report)} is out of date. Run "npm run api" and commit the result.`);
      process.exitCode = 1;
    } else {
      writeFileSync(report, rolledUp);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Rolls up all entry points into one file, with a namespace for each that lists its exports. */
async function rollUp(declarations: string): Promise<string> {
  const namespaces = globSync("*.d.ts", { cwd: declarations })
    .map((file) => basename(file, ".d.ts"))
    .sort()
    .map((name) => `export * as ${camelCase(name)} from "./${name}.ts";\n`);
  const entry = join(declarations, basename(report));
  writeFileSync(entry, namespaces.join(""));
  const outDir = join(folder, "rolled-up");
  await build({
    cwd: root,
    config: false,
    entry: [entry],
    dts: { dtsInput: true, emitDtsOnly: true, sourcemap: false },
    fixedExtension: false,
    platform: "node",
    // Its types are in the published declarations, but are not ours to review.
    deps: { neverBundle: [/^zod(?:\/|$)/] },
    outDir,
    logLevel: "warn",
  });
  return readFileSync(join(outDir, basename(report)), "utf8");
}

function camelCase(name: string): string {
  return name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
