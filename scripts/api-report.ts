/**
 * Writes the declarations of each entry point, rolled up into one file, to `api/`: what a change of the public API looks
 * like in review. With --check it reports whether they are up to date:
 *
 *     node scripts/api-report.ts [--check]
 */
import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { build } from "tsdown";

const root = fileURLToPath(new URL("../", import.meta.url));
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
  const outdated = [];
  for (const entry of globSync("*.d.ts", { cwd: join(folder, "declarations") }).sort()) {
    const rolledUp = await rollUp(entry);
    const path = join(root, "api", entry);
    if (rolledUp === readIfExists(path)) continue;
    outdated.push(`api/${entry}`);
    if (!values.check) writeFileSync(path, rolledUp);
  }
  if (values.check && outdated.length > 0) {
    console.error(`Out of date: ${outdated.join(", ")}. Run "npm run api" and commit the result.`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function rollUp(entry: string): Promise<string> {
  const outDir = join(folder, "rolled-up");
  await build({
    cwd: root,
    config: false,
    entry: [join(folder, "declarations", entry)],
    dts: { dtsInput: true, emitDtsOnly: true, sourcemap: false },
    fixedExtension: false,
    platform: "node",
    outDir,
    logLevel: "warn",
  });
  return readFileSync(join(outDir, entry), "utf8");
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
