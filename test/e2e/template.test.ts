// @module-tag slow

import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runProgram } from "../support/program.ts";
import { root } from "../support/project-folder.ts";

describe("A copy of templates/space", () => {
  let folder: string;
  const programs = join(root, "node_modules", ".bin");
  // The template's tests must not depend on the environment of the surrounding test run.
  const environment = { PATH: `${programs}:${process.env.PATH}`, HOME: process.env.HOME };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "template-"));
    await cp(join(root, "templates", "space"), folder, { recursive: true });
    await mkdir(join(folder, "node_modules"));
    await symlink(root, join(folder, "node_modules", "hub-webhooks"));
    for (const name of ["@types", "typescript", "vitest"]) {
      await symlink(join(root, "node_modules", name), join(folder, "node_modules", name));
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("type-checks", async () => {
    expect(await runProgram(["npm", "run", "types"], { cwd: folder, env: environment })).toMatchObject({ code: 0 });
  });

  test("passes its own tests", async () => {
    const { code, output } = await runProgram(["npm", "test"], { cwd: folder, env: environment });
    expect(code, output).toBe(0);
    expect(output).toContain("3 passed");
  });
});

const templates = ["space", "server"];

test.each(templates)(
  "templates/%s depends on this version of the package, and on the tested versions of its tools",
  async (template) => {
    const own = await readManifest(root);
    const manifest = await readManifest(join(root, "templates", template));
    const { "hub-webhooks": version, ...others } = manifest.dependencies;
    expect(version).toBe(own.version);
    // The optional package of an inbox in a bucket.
    expect(Object.keys(others)).toEqual(["aws4fetch"]);
    expect(own.devDependencies).toMatchObject({ ...others, ...manifest.devDependencies });
  },
);

test("The package contains every file of the templates", async () => {
  const { output } = await runProgram(["npm", "pack", "--dry-run"], { cwd: root });
  expect(output).toContain("templates/AGENTS.md");
  for (const template of templates) {
    const files = await readdir(join(root, "templates", template), { recursive: true });
    for (const file of files) expect(output).toContain(`templates/${template}/${file}`);
  }
});

interface Manifest {
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
}
