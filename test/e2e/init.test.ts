// @module-tag slow

import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { exampleNames, projectExamples, templateNames } from "../../src/cli/commands/init-project.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { runCommand } from "../cli/run-command.ts";
import { freePort } from "../support/free-port.ts";
import { runProgram, startProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { createFolder } from "../support/temporary-folder.ts";
import { dependOn, pack } from "./pack.ts";

interface Manifest {
  version: string;
  scripts: { start: string };
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}

describe("hub-webhooks init from the packed package", () => {
  /** Contains the projects, and the packages of all of them. */
  let folder: string;
  let hub: LocalHub;
  const secret = "s3cret";
  // The projects must not depend on the environment of the surrounding test run.
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME };
  const projectOf = (name: string) => join(folder, name);

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "init-")));
    const template = await readManifest(join(root, "templates/space"));
    for (const { dependencies } of Object.values(projectExamples)) Object.assign(template.dependencies, dependencies);
    await writeFile(join(folder, "package.json"), JSON.stringify(template));
    await dependOn(await pack(folder), { project: folder });
    // The environment of this process may configure npm's registry.
    const install = await runProgram(["npm", "install", "--no-audit", "--no-fund"], { cwd: folder });
    expect(install.code, install.output).toBe(0);
    const given = [
      ...templateNames.map((name) => [name, "--template", name]),
      ...exampleNames.map((name) => [name, "--template", "space", "--example", name]),
    ];
    for (const words of given) {
      const command = ["npx", "--no", "--", "hub-webhooks", "init", ...words];
      const { code, output } = await runProgram(command, { cwd: folder, env: environment });
      expect(code, output).toBe(0);
    }
    hub = await LocalHub.launch();
    return async () => {
      await hub.close();
      await rm(folder, { recursive: true, force: true });
    };
  }, 120_000);

  /** Starts a project, waits until it is healthy, and stops it. */
  async function startProject(name: string, variables: object, use: (baseUrl: string) => Promise<void>): Promise<void> {
    const { scripts } = await readManifest(projectOf(name));
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const env = { ...environment, ...variables, PORT: String(port), WEBHOOK_SECRET: secret };
    const server = startProgram(scripts.start.split(" "), { cwd: projectOf(name), env });
    const isHealthy = () =>
      fetch(`${baseUrl}/health`)
        .then(({ ok }) => ok)
        .catch(() => false);
    try {
      await expect.poll(isHealthy, { timeout: 30_000 }).toBe(true);
      await use(baseUrl);
    } finally {
      server.child.kill("SIGTERM");
    }
    const { code, output } = await server.ended;
    expect(code, output).toBe(0);
  }

  // Of eight projects.
  test("creates projects whose tests pass", { timeout: 240_000 }, async () => {
    const names = [...templateNames, ...exampleNames];
    for (const name of names)
      expect((await readManifest(projectOf(name))).scripts).toMatchObject({ test: "vitest run" });
    const { code, output } = await runProgram(["npx", "--no", "vitest", "run", "--no-color"], {
      cwd: folder,
      env: environment,
    });
    expect(code, output).toBe(0);
    for (const name of templateNames) expect(output).toContain(`${name}/server.test.ts (3 tests)`);
    for (const name of exampleNames) expect(output).toContain(`${name}/${name}.test.ts`);
  });

  describe.each(templateNames)("--template %s creates a project that", (template) => {
    test("type-checks", async () => {
      const { code, output } = await runProgram(["npm", "run", "types"], {
        cwd: projectOf(template),
        env: environment,
      });
      expect(code, output).toBe(0);
    });

    test("contains every file of the template", async () => {
      const files = await readdir(join(root, "templates", template));
      const expected = ["AGENTS.md", ...files.map((name) => name.replace("_gitignore", ".gitignore"))];
      expect((await readdir(projectOf(template))).sort()).toEqual(expected.sort());
    });

    test("starts, accepts only deliveries with the secret, and exits with 0 on SIGTERM", async () => {
      await startProject(template, {}, async (baseUrl) => {
        const newSha = "575db8b7a51b6f85eb06eee540738584589f131c";
        const payload = webhookPayload("repo.content", {
          repo: { type: "dataset", name: "acme/data" },
          updatedRefs: [{ ref: "refs/heads/main", oldSha: null, newSha }],
        });
        const delivery = { endpoint: "on_new_data", payload, baseUrl };
        const answered = await fetch(deliveryRequest({ ...delivery, secret }));
        expect(answered.status).toBe(200);
        expect(await answered.json()).toEqual({ seen: "acme/data", revision: newSha });
        expect((await fetch(deliveryRequest(delivery))).status).toBe(401);
      });
    });

    test("depends on this version of the package, and on the tested versions of its tools", async () => {
      const own = await readManifest(root);
      const manifest = await readManifest(join(root, "templates", template));
      const { "hub-webhooks": version, ...others } = manifest.dependencies;
      expect(version).toBe(own.version);
      // The optional package of an inbox in a bucket.
      expect(Object.keys(others)).toEqual(["aws4fetch"]);
      expect(own.devDependencies).toMatchObject({ ...others, ...manifest.devDependencies });
    });
  });

  describe.each(exampleNames)("--example %s creates a project that", (example) => {
    test("has every file that its README links to", async () => {
      const readme = await readFile(join(projectOf(example), "README.md"), "utf8");
      const links = [...readme.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path = ""]) => path);
      expect(links.length).toBeGreaterThan(0);
      for (const path of links) {
        const place = path.startsWith("node_modules/") ? folder : projectOf(example);
        expect(await readFile(join(place, path), "utf8"), path).not.toBe("");
      }
    });

    test("starts with the variables that init lists, and exits with 0 on SIGTERM", async () => {
      const needed = Object.keys(projectExamples[example].environment).map((name) => [name, "acme"]);
      const variables = { ...Object.fromEntries(needed), HF_TOKEN: "hf_local", HF_ENDPOINT: hub.url };
      await startProject(example, variables, async () => {});
    });
  });
});

interface Workflow {
  on: Record<string, unknown>;
  jobs: Record<string, { needs?: string; steps: { name?: string; run?: string; env?: Record<string, string> }[] }>;
}

const watched = 'scope: "repo.content", watch: "dataset:local-user/data"';

/** A project with the workflow, and the packages that `npm ci` would install. */
async function createWorkflowProject(): Promise<{ folder: string; workflow: Workflow }> {
  const folder = join(createFolder(), "bot");
  const { exitCode } = await runCommand(["init", folder, "--template", "space", "--ci"]);
  expect(exitCode).toBe(0);
  const modules = join(folder, "node_modules");
  await mkdir(join(modules, ".bin"), { recursive: true });
  for (const name of ["@types", "typescript", "vitest"]) {
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
  await symlink(root, join(modules, "hub-webhooks"));
  await symlink(join(root, "dist/cli/bin.js"), join(modules, ".bin/hub-webhooks"));
  // The container of the local Hub has only the packages of this repository.
  const server = await readFile(join(folder, "server.ts"), "utf8");
  const entry = JSON.stringify(join(root, "dist/index.js"));
  await writeFile(
    join(folder, "server.ts"),
    server.replace('"hub-webhooks"', entry).replace('scope: "repo.content", repo: "dataset:**"', watched),
  );
  const text = await readFile(join(folder, ".github/workflows/deploy.yml"), "utf8");
  return { folder, workflow: parse(text) };
}

test("the workflow of init --ci tests the project, deploys it, and reports what is missing", async () => {
  await using hub = await LocalHub.launch({ runSpaces: true });
  const { folder, workflow } = await createWorkflowProject();
  expect(Object.keys(workflow.on)).toEqual(["push", "pull_request", "workflow_dispatch"]);
  const { test: testing, deploy } = workflow.jobs;
  expect(deploy?.needs).toBe("test");
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
  const given = { PATH: path, HOME: folder, CI: "true", HF_ENDPOINT: hub.url };
  const runStep = (command: string, env: Record<string, string> = {}) =>
    runProgram(["bash", "-e", "-o", "pipefail", "-c", command], { cwd: folder, env: { ...given, ...env } });

  const commands = (testing?.steps ?? []).flatMap(({ run }) => run ?? []);
  // The tests above run these scripts.
  expect(commands).toEqual(["npm ci --ignore-scripts", "npm run types", "npm test"]);
  const { run = "", env = {} } = deploy?.steps.find(({ name }) => name === "Deploy") ?? {};
  const values: Record<string, string> = {
    SPACE: "local-user/bot",
    HF_TOKEN: "hf_local",
    WEBHOOK_SECRET: "a%s'$x # \\\"b",
  };
  const filled = Object.fromEntries(
    Object.entries(env).map(([name, expression]) => {
      expect(expression).toBe(`\${{ ${name === "SPACE" ? "vars" : "secrets"}.${name} }}`);
      return [name, values[name] ?? ""];
    }),
  );
  for (const name of Object.keys(filled)) {
    const { code, output } = await runStep(run, { ...filled, [name]: "" });
    expect([code, output]).toEqual([1, expect.stringMatching(`${name}: Add the (variable|secret) ${name}`)]);
  }
  expect(await runStep(run, { ...filled, SPACE: "bot" })).toMatchObject({ code: 2 });
  for (const time of ["first", "second"]) {
    const { code, output } = await runStep(run, filled);
    expect(code, output).toBe(0);
    const events = output
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1), time).toMatchObject({
      step: "end",
      status: "done",
      url: (await hub.space("local-user/bot")).url,
    });
    expect(output).not.toContain(values.WEBHOOK_SECRET);
    // The Space accepts the secret of the first run, so the second one does not restart it.
    expect(output.includes("set WEBHOOK_SECRET")).toBe(time === "first");
  }
  const { url } = await hub.space("local-user/bot");
  const headers = { "content-type": "application/json", "x-webhook-secret": values.WEBHOOK_SECRET ?? "" };
  expect(await fetch(`${url}/webhooks/on_new_data`, { method: "POST", headers, body: "{}" })).toMatchObject({
    status: 422,
  });
  expect((await hub.push({ type: "dataset", name: "local-user/data" })).map(({ status }) => status)).toEqual([200]);
});
