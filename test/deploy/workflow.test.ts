// @module-tag slow

import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { LocalHub } from "../../src/local-hub.ts";
import { runCommand } from "../cli/run-command.ts";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";
import { createFolder } from "../support/temporary-folder.ts";

interface Workflow {
  on: Record<string, unknown>;
  jobs: Record<string, { needs?: string; steps: { name?: string; run?: string; env?: Record<string, string> }[] }>;
}

const watched = 'scope: "repo.content", watch: "dataset:local-user/data"';

/** A project with the workflow, and the packages that `npm ci` would install. */
async function createProject(): Promise<{ folder: string; workflow: Workflow }> {
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
  const { folder, workflow } = await createProject();
  expect(Object.keys(workflow.on)).toEqual(["push", "pull_request", "workflow_dispatch"]);
  const { test: testing, deploy } = workflow.jobs;
  expect(deploy?.needs).toBe("test");
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
  const given = { PATH: path, HOME: folder, CI: "true", HF_ENDPOINT: hub.url };
  const runStep = (command: string, env: Record<string, string> = {}) =>
    runProgram(["bash", "-e", "-o", "pipefail", "-c", command], { cwd: folder, env: { ...given, ...env } });

  const commands = (testing?.steps ?? []).flatMap(({ run }) => run ?? []);
  // `test/e2e/template.test.ts` runs these scripts.
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
