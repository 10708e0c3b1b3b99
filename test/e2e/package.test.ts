// @module-tag slow

import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startLocaltunnelServer } from "../support/localtunnel-server.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { pack } from "./pack.ts";

const installTimeout = 120_000;
describe("The packed package, installed in an empty folder", () => {
  let folder: string;
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME, WEBHOOK_SECRET: "s3cret" };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "package-"));
    const manifest = { private: true, type: "module", dependencies: { "hub-webhooks": `file:${await pack(folder)}` } };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    const install = await runProgram(["npm", "install", "--omit=dev"], { cwd: folder });
    expect(install.code, install.output).toBe(0);
    await cp(join(root, "examples"), join(folder, "examples"), { recursive: true });
    // An example imports this package, which `init` adds to the project.
    await symlink(join(root, "node_modules", "@huggingface"), join(folder, "node_modules", "@huggingface"));
  }, installTimeout);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("has at most 250 files, and installs at most 25 packages", async () => {
    const modules = join(folder, "node_modules");
    const files = await readdir(join(modules, "hub-webhooks"), { recursive: true, withFileTypes: true });
    expect(files.filter((file) => file.isFile()).length).toBeLessThanOrEqual(250);
    const { packages } = JSON.parse(await readFile(join(modules, ".package-lock.json"), "utf8"));
    expect(Object.keys(packages).length).toBeLessThanOrEqual(25);
  });

  test("has types that every example compiles with", async () => {
    const settings = {
      compilerOptions: {
        target: "es2024",
        module: "nodenext",
        strict: true,
        skipLibCheck: false,
        allowImportingTsExtensions: true,
        noEmit: true,
        typeRoots: [join(root, "node_modules", "@types")],
        types: ["node"],
      },
      include: ["examples"],
      exclude: ["**/*.test.ts"],
    };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings));
    const compiler = join(root, "node_modules", ".bin", "tsc");
    const { code, output } = await runProgram([compiler], { cwd: folder, env: environment });
    expect(code, output).toBe(0);
  });

  // Hono's types need `Request` and `Response`. Either library declares them, and this package's types need no more.
  test.each([
    ["only @types/node", { lib: ["es2024"], types: ["node"] }],
    ["only the DOM library", { lib: ["es2024", "dom"], types: [] }],
    ["both", { lib: ["es2024", "dom", "dom.iterable"], types: ["node"], exactOptionalPropertyTypes: true }],
  ])("has types for every entry point that compile with %s, libraries checked", async (_what, options) => {
    const { exports }: { exports: Record<string, unknown> } = JSON.parse(
      await readFile(join(root, "package.json"), "utf8"),
    );
    const project = await mkdtemp(join(folder, "types-"));
    const entryPoints = Object.keys(exports).filter((path) => path !== "./package.json");
    const imports = entryPoints.map((path, index) => `export * as entry${index} from "hub-webhooks${path.slice(1)}";`);
    const compilerOptions = {
      target: "es2024",
      module: "nodenext",
      strict: true,
      skipLibCheck: false,
      noEmit: true,
      typeRoots: [join(root, "node_modules", "@types")],
      ...options,
    };
    await writeFile(join(project, "all.ts"), imports.join("\n"));
    await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["all.ts"] }));
    const { code, output } = await runProgram([join(root, "node_modules", ".bin", "tsc")], {
      cwd: project,
      env: environment,
    });
    expect(code, output).toBe(0);
  });

  test("opens a tunnel without localtunnel and axios, whose code and license are bundled", async () => {
    const installed = await readdir(join(folder, "node_modules"));
    expect(installed).toContain("hub-webhooks");
    expect(installed).not.toContain("localtunnel");
    expect(installed).not.toContain("axios");
    expect(await readFile(join(folder, "node_modules/hub-webhooks/dist/THIRD-PARTY.md"), "utf8")).toContain(
      "localtunnel",
    );
    await using host = await startLocaltunnelServer();
    const script = `
      import { openTunnel } from "hub-webhooks/dev";
      await using tunnel = await openTunnel({ port: 1, host: ${JSON.stringify(host.url)} });
      console.log(tunnel.url);
    `;
    const command = [process.execPath, "--input-type=module", "--eval", script];
    const { code, output } = await runProgram(command, { cwd: folder, env: environment });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\n$/) });
  });

  test("answers the delivery of the hello example", async () => {
    const command = [process.execPath, "examples/hello/start.ts", "--once"];
    const { code, output } = await runProgram(command, { cwd: folder, env: { ...environment, PORT: "0" } });
    expect(code, output).toBe(0);
  });

  test.each([
    ["redis://localhost", "npm install bullmq ioredis"],
    ["postgres://localhost/db", "npm install bullmq pg"],
    ["hf://buckets/me/inbox", "npm install aws4fetch"],
  ])("names the missing dependency of the inbox %s: %s", async (url, remedy) => {
    const script = `
      import { WebhooksServer } from "hub-webhooks";
      const server = new WebhooksServer();
      server.webhook("retrain", { background: true }, () => {});
      await server.launch({ port: 0 });
    `;
    const command = [process.execPath, "--input-type=module", "--eval", script];
    const accessKey = { AWS_ACCESS_KEY_ID: "HFAK1", AWS_SECRET_ACCESS_KEY: "secret-access-key" };
    const env = { ...environment, ...accessKey, INBOX_URL: url };
    const { code, output } = await runProgram(command, { cwd: folder, env });
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(remedy) });
  });
});
