import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chart, printHeading, printTable } from "./report.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const reference = "@octokit/webhooks";

/** Measures what a production install downloads. */
export async function measureInstallSize(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-install-"));
  try {
    const packed = npm(root, ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder]).trim();
    const subjects = [
      { name: "hub-webhooks", packages: [join(folder, packed)] },
      { name: "Hono, zod, pino", packages: ["hono", "@hono/node-server", "zod", "pino"].map(pinned) },
      { name: "probot", packages: [pinned("probot")] },
      { name: reference, packages: [pinned(reference)] },
    ];
    const sizes = subjects.map(({ name, packages }, index) => ({
      name,
      ...install(join(folder, String(index)), packages),
    }));
    printHeading("Production install");
    printTable(
      ["", "packages", "MB"],
      sizes.map(({ name, count, megabytes }) => [name, `${count}`, megabytes.toFixed(1)]),
    );
    const base = sizes.find(({ name }) => name === reference)?.megabytes ?? Number.NaN;
    chart(
      `Megabytes of a production install, compared with ${reference}`,
      "less",
      new Map(sizes.map(({ name, megabytes }) => [name, [megabytes / base]])),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function install(folder: string, packages: readonly string[]): { count: number; megabytes: number } {
  execFileSync("mkdir", [folder]);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }));
  const flags = ["--omit=dev", "--omit=peer", "--no-audit", "--no-fund", "--silent"];
  npm(folder, ["install", ...flags, ...packages]);
  const lock: { packages: Record<string, { optional?: boolean; peer?: boolean }> } = JSON.parse(
    readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"),
  );
  return { count: Object.keys(lock.packages).length, megabytes: bytesIn(join(folder, "node_modules")) / 1e6 };
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** The version that the benchmark uses. */
function pinned(name: string): string {
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(new URL("package.json", import.meta.url), "utf8"),
  );
  return `${name}@${dependencies[name]}`;
}

function npm(folder: string, commandArguments: readonly string[]): string {
  return execFileSync("npm", [...commandArguments], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}
