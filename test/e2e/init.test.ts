// @module-tag slow

import { mkdtemp, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { deliveryRequest, webhookPayload } from "hub-webhooks/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { exampleNames, projectExamples, templateNames } from "../../src/cli/commands/init-project.ts";
import { LocalHub } from "../../src/local-hub/local-hub.ts";
import { freePort } from "../support/free-port.ts";
import { runProgram, startProgram } from "../support/program.ts";
import { dependOn, pack } from "./pack.ts";

const installTimeout = 120_000;
describe("hub-webhooks init from the packed package, in an empty folder", () => {
  let folder: string;
  let tarball: string;
  /** A finished project. The next one reuses its installed packages. */
  let installed: string | undefined;
  const secret = "s3cret";
  // The project's tests must not depend on the environment of the surrounding test run.
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME };
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "init-")));
    tarball = await pack(folder);
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
    const install = await runProgram(["npm", "install", "--no-save", tarball], { cwd: folder });
    expect(install.code, install.output).toBe(0);
  }, installTimeout);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  describe.each(templateNames)("--template %s creates a project that", (template) => {
    let project: string;
    const run = (command: readonly string[]) => runProgram(command, { cwd: project, env: environment });
    beforeAll(async () => {
      project = join(folder, `my-${template}`);
      const made = await runProgram(["npx", "--no", "--", "hub-webhooks", "init", project, "--template", template], {
        cwd: folder,
        env: environment,
      });
      expect(made.code, made.output).toBe(0);
      await dependOn(tarball, { project });
      // Use the environment of this process, because it may configure npm's registry.
      const install = await runProgram(["npm", "install", "--no-audit", "--no-fund"], { cwd: project });
      expect(install.code, install.output).toBe(0);
    }, installTimeout);
    afterAll(() => {
      installed = project;
    });

    test("type-checks", async () => {
      const { code, output } = await run(["npm", "run", "types"]);
      expect(code, output).toBe(0);
    });

    test("passes its own tests", async () => {
      const { code, output } = await run(["npm", "test"]);
      expect(code, output).toBe(0);
      expect(output).toContain("3 passed");
    });

    test("starts, accepts only deliveries with the secret, and exits with 0 on SIGTERM", async () => {
      const { scripts } = JSON.parse(await readFile(join(project, "package.json"), "utf8"));
      const port = await freePort();
      const baseUrl = `http://127.0.0.1:${port}`;
      const server = startProgram(scripts.start.split(" "), {
        cwd: project,
        env: { ...environment, PORT: String(port), WEBHOOK_SECRET: secret },
      });
      try {
        const isHealthy = () =>
          fetch(`${baseUrl}/health`).then(
            ({ ok }) => ok,
            () => false,
          );
        await expect.poll(isHealthy, { timeout: 30_000 }).toBe(true);
        const updatedRefs = [
          { ref: "refs/heads/main", oldSha: null, newSha: "575db8b7a51b6f85eb06eee540738584589f131c" },
        ];
        const payload = webhookPayload("repo.content", { repo: { type: "dataset", name: "acme/data" }, updatedRefs });
        const delivery = { endpoint: "on_new_data", payload, baseUrl };
        const answered = await fetch(deliveryRequest({ ...delivery, secret }));
        expect(answered.status).toBe(200);
        expect(await answered.json()).toEqual({ seen: "acme/data", revision: updatedRefs[0]?.newSha });
        expect((await fetch(deliveryRequest(delivery))).status).toBe(401);
      } finally {
        server.child.kill("SIGTERM");
      }
      const { code, output } = await server.ended;
      expect(code, output).toBe(0);
    });
  });

  describe("--example creates a project that", () => {
    let hub: LocalHub;
    beforeAll(async () => {
      hub = await LocalHub.launch();
    });
    afterAll(() => hub.close());

    describe.each(exampleNames)("contains example %s and", (example) => {
      let project: string;
      const run = (command: readonly string[]) => runProgram(command, { cwd: project, env: environment });
      beforeAll(async () => {
        project = join(folder, `my-${example}`);
        const argv = ["hub-webhooks", "init", project, "--template", "space", "--example", example];
        const made = await runProgram(["npx", "--no", "--", ...argv], { cwd: folder, env: environment });
        expect(made.code, made.output).toBe(0);
        await dependOn(tarball, { project });
        const previous = installed ? await manifestIn(installed) : undefined;
        if (installed) await rename(join(installed, "node_modules"), join(project, "node_modules"));
        const { dependencies, devDependencies } = await manifestIn(project);
        if (!isDeepStrictEqual([dependencies, devDependencies], [previous?.dependencies, previous?.devDependencies])) {
          const install = await runProgram(["npm", "install", "--no-audit", "--no-fund"], { cwd: project });
          expect(install.code, install.output).toBe(0);
        }
        installed = project;
      }, installTimeout);

      test("passes the tests of the example", async () => {
        const { code, output } = await run(["npm", "test"]);
        expect(code, output).toBe(0);
        expect(output).toContain(`${example}.test.ts`);
      });

      test("has every file that its README links to", async () => {
        const readme = await readFile(join(project, "README.md"), "utf8");
        const links = [...readme.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, path = ""]) => path);
        expect(links.length).toBeGreaterThan(0);
        for (const path of links) expect(await readFile(join(project, path), "utf8"), path).not.toBe("");
      });

      test("starts with the variables that init lists, and exits with 0 on SIGTERM", async () => {
        const port = await freePort();
        const needed = Object.fromEntries(
          Object.keys(projectExamples[example].environment).map((name) => [name, "acme"]),
        );
        const server = startProgram((await manifestIn(project)).scripts.start.split(" "), {
          cwd: project,
          env: {
            ...environment,
            ...needed,
            HF_TOKEN: "hf_local",
            HF_ENDPOINT: hub.url,
            PORT: String(port),
            WEBHOOK_SECRET: secret,
          },
        });
        const isHealthy = () =>
          fetch(`http://127.0.0.1:${port}/health`).then(
            ({ ok }) => ok,
            () => false,
          );
        try {
          await expect.poll(isHealthy, { timeout: 30_000 }).toBe(true);
        } finally {
          server.child.kill("SIGTERM");
        }
        const { code, output } = await server.ended;
        expect(code, output).toBe(0);
      });
    });
  });
});

interface Manifest {
  scripts: { start: string };
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

async function manifestIn(project: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(project, "package.json"), "utf8"));
}
