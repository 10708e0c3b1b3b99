/**
 * Fails on known advisories about code that users get: the packages that an installation of the packed package brings, the
 * optional packages that the docs tell users to install, and the packages that are bundled into `dist`. Does not check
 * development dependencies that are not bundled, because they run only on the machines of contributors and CI, and most
 * of their advisories need input that only the user can send.
 *
 * If the registry does not answer the request for advisories, prints the reason and passes. Requires `npm run build`.
 *
 *     node scripts/audit.ts
 */
import { execFile } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

/** The part of npm's report about one package. `via` contains an object for each advisory about the package itself. */
const reportSchema = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    z.object({
      via: z.array(z.union([z.string(), z.object({ title: z.string(), url: z.string(), severity: z.string() })])),
      nodes: z.array(z.string()),
    }),
  ),
});

/** What npm prints if the registry refused the request, was not reachable, or sent no JSON. */
const unansweredSchema = z.object({ message: z.string(), error: z.object({}) });

/** An advisory about an installed package. `path` is the package's folder in the project. */
interface Advisory {
  path: string;
  text: string;
}

/** The result of `npm audit`: the advisories, or the reason why the registry did not answer. */
type AuditResult = { advisories: readonly Advisory[] } | { unanswered: string };

/**
 * Asks the registry for advisories about the packages in the lock file of a folder.
 *
 * @throws if npm fails for any other reason than a missing answer of the registry.
 */
export async function audit(folder: string, options: readonly string[] = []): Promise<AuditResult> {
  const output = await npm(["audit", "--json", ...options], folder);
  const unanswered = unansweredSchema.safeParse(output);
  if (unanswered.success) return { unanswered: unanswered.data.message };
  const report = reportSchema.safeParse(output);
  if (!report.success) throw new Error(`npm audit failed: ${JSON.stringify(output)}`);
  const advisories = Object.values(report.data.vulnerabilities).flatMap(({ via, nodes }) =>
    via
      .filter((cause) => typeof cause !== "string")
      .flatMap(({ severity, title, url }) => nodes.map((path) => ({ path, text: `${severity}: ${title} (${url})` }))),
  );
  return { advisories };
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("../", import.meta.url));
  const results = [await auditInstallation(root), await auditBundled(root)];
  for (const result of results) {
    if ("unanswered" in result) console.log(`Not checked, because the registry did not answer: ${result.unanswered}`);
    else for (const { path, text } of result.advisories) console.log(`${path}: ${text}`);
  }
  if (results.some((result) => "advisories" in result && result.advisories.length > 0)) process.exitCode = 1;
}

/** Installs the packed package with its optional packages in an empty folder, as a user does. */
async function auditInstallation(root: string): Promise<AuditResult> {
  const { peerDependencies }: { peerDependencies: Record<string, string> } = readJson(join(root, "package.json"));
  const folder = mkdtempSync(join(tmpdir(), "audit-"));
  try {
    await npm(["pack", "--json", "--pack-destination", folder], root);
    const packages = [
      ...globSync("*.tgz", { cwd: folder }).map((name) => `./${name}`),
      ...Object.entries(peerDependencies).map(([name, range]) => `${name}@${range}`),
    ];
    await npm(["install", "--json", "--package-lock-only", "--omit=dev", ...packages], folder);
    if (!existsSync(join(folder, "package-lock.json"))) throw new Error("The packed package cannot be installed.");
    return await audit(folder, ["--omit=dev"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Checks the packages that the build lists in its notices. */
async function auditBundled(root: string): Promise<AuditResult> {
  const notices = globSync("dist/**/THIRD-PARTY.md", { cwd: root }).map((file) =>
    readFileSync(join(root, file), "utf8"),
  );
  const bundled = new Set(
    notices.flatMap((text) => [...text.matchAll(/^## (\S+) - (\S+)/gm)].map(([, ...id]) => id.join("@"))),
  );
  if (bundled.size === 0) throw new Error('dist contains no THIRD-PARTY.md. Run "npm run build".');
  const { packages }: { packages: Record<string, { version: string }> } = readJson(join(root, "package-lock.json"));
  const result = await audit(root);
  if ("unanswered" in result) return result;
  const isBundled = ({ path }: Advisory) =>
    bundled.has(`${path.split("node_modules/").at(-1)}@${packages[path]?.version}`);
  return { advisories: result.advisories.filter(isBundled) };
}

/** Runs npm, and returns the JSON that it prints, whether it fails or not. */
async function npm(parameters: readonly string[], cwd: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)("npm", parameters, { cwd, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: Error & { stdout: string }) => error,
  );
  return JSON.parse(stdout);
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8"));
}
