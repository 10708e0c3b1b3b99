import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pack } from "../e2e/pack.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { type Check, type RuntimeCase, runCase } from "./run-case.ts";

/*
 * Runs the program of docs/guides/deploy-worker.md, from the packed package, on every supported runtime. The runtimes
 * are npm packages, pinned in the package.json next to this file. Exits with 1 if a check fails.
 */

if (process.platform !== "linux" || process.arch !== "x64") {
  throw new Error("The runtimes are pinned for Linux on x64: run this there.");
}

const packages = fileURLToPath(new URL("node_modules/", import.meta.url));

/** The runtimes, from npm packages that contain the program and have no install script. */
const programs = {
  node22: join(packages, "node-22/bin/node"),
  node24: join(packages, "node-24/bin/node"),
  node26: join(packages, "node-26/bin/node"),
  bun: join(packages, "@oven/bun-linux-x64/bin/bun"),
  deno: join(packages, "@deno/linux-x64-glibc/deno"),
};

/** pnpm, run by Node 24. It refuses to install packages that have an install script. */
const pnpm = [programs.node24, join(packages, "pnpm/bin/pnpm.mjs")];

/** Removes the launch from the documented program, because the runtime serves the default export. */
const withoutLaunch = (program: string) => program.replace(/^await server\.launch\(\);.*$/m, "");

const runtimeCases: readonly RuntimeCase[] = [
  { name: "Node 22", command: () => [programs.node22] },
  { name: "Node 24", command: () => [programs.node24] },
  { name: "Node 26", command: () => [programs.node26] },
  { name: "Bun", command: () => [programs.bun] },
  {
    // Bun would listen on port 3000 by default.
    name: "Bun, port in the program",
    command: () => [programs.bun],
    change: (program, port) => program.replace("server.launch()", `server.launch({ port: ${port} })`),
    setsPort: false,
  },
  {
    name: "Bun, launch() without await",
    command: () => [programs.bun],
    change: (program) => program.replace("await server.launch", "void server.launch"),
  },
  { name: "Bun, without launch()", command: () => [programs.bun], change: withoutLaunch, endsItself: false },
  { name: "Deno", command: () => [programs.deno, "run", "--allow-all"] },
  { name: "deno serve", command: () => [programs.deno, "serve", "--allow-all"] },
  {
    name: "deno serve, without launch()",
    command: (port) => [programs.deno, "serve", "--allow-all", "--host", "127.0.0.1", "--port", String(port)],
    change: withoutLaunch,
    setsPort: false,
    endsItself: false,
  },
];

/** Commands that load a server file on a runtime that cannot. */
const refusedCommands: readonly { name: string; command: readonly string[] }[] = [
  { name: "Bun, hub-webhooks dev", command: [programs.bun, "--bun"] },
  { name: "Deno, hub-webhooks dev", command: [programs.deno, "run", "--allow-all"] },
];

const folder = await mkdtemp(join(tmpdir(), "hub-webhooks-runtimes-"));
const rows: { name: string; checks: readonly Check[]; seconds: number }[] = [];

async function row(name: string, run: () => Promise<readonly Check[]>): Promise<void> {
  const start = performance.now();
  const checks = await run();
  rows.push({ name, checks, seconds: (performance.now() - start) / 1000 });
  const failed = checks.filter(({ problem }) => problem !== undefined);
  console.log(`${failed.length === 0 ? "passed" : "FAILED"}  ${name}`);
  for (const { name: check, problem } of failed) console.error(`  ${check}: ${problem}`);
}

async function makeProject(name: string, dependencies: Record<string, string> = {}): Promise<string> {
  const project = join(folder, name);
  await mkdir(project);
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  return project;
}

try {
  const page = await readFile(join(root, "docs/guides/deploy-worker.md"), "utf8");
  const [, program] = /^<!-- file: server.ts -->\n```ts\n(.*?)^```/ms.exec(page) ?? [];
  if (program === undefined) throw new Error("docs/guides/deploy-worker.md has no program.");
  const tarball = await pack(folder);

  const project = await makeProject("installed", { "hub-webhooks": `file:${tarball}` });
  const install = await runProgram(["npm", "install", "--no-audit", "--no-fund"], { cwd: project });
  if (install.code !== 0) throw new Error(`npm install exited with ${install.code}:\n${install.output}`);

  for (const [index, runtime] of runtimeCases.entries()) {
    const options = { folder: join(folder, `case-${index}`), nodeModules: join(project, "node_modules"), program };
    await row(runtime.name, () => runCase(runtime, options));
  }
  for (const { name, command } of refusedCommands) {
    await row(name, async () => {
      const bin = join(project, "node_modules/hub-webhooks/dist/cli/bin.js");
      const { code, output } = await runProgram([...command, bin, "dev", "server.ts"], { cwd: project });
      const isRefused = code === 1 && /^error: hub-webhooks requires Node .*\n$/.test(output);
      return [{ name: "refused", problem: isRefused ? undefined : `code ${code}: ${output}` }];
    });
  }
  await row("pnpm add", async () => {
    const { code, output } = await runProgram([...pnpm, "add", tarball, "--store-dir", join(folder, "store")], {
      cwd: await makeProject("pnpm"),
    });
    return [{ name: "installed", problem: code === 0 ? undefined : output }];
  });
} finally {
  await rm(folder, { recursive: true, force: true });
}

console.log();
console.table(
  Object.fromEntries(
    rows.map(({ name, checks, seconds }) => [
      name,
      {
        ...Object.fromEntries(checks.map(({ name, problem }) => [name, problem === undefined ? "ok" : "FAILED"])),
        seconds: Number(seconds.toFixed(1)),
      },
    ]),
  ),
);
process.exitCode = rows.some(({ checks }) => checks.some(({ problem }) => problem !== undefined)) ? 1 : 0;
