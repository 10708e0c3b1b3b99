import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../support/program.ts";
import { root } from "./root.ts";

/** Packs this package as for the registry. Returns the path of the tarball in `folder`. */
export async function pack(folder: string): Promise<string> {
  if (!existsSync(join(root, "dist/index.d.ts"))) throw new Error('dist has no declarations. Run "npm run build".');
  const { code, output } = await runProgram(["npm", "pack", "--pack-destination", folder], { cwd: root });
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || tarball === undefined) throw new Error(`npm pack ended with ${code}:\n${output}`);
  return join(folder, tarball);
}

/** Lets a project take this package from a tarball, in the place of the registry. */
export async function dependOn(tarball: string, { project }: { project: string }): Promise<void> {
  const path = join(project, "package.json");
  const manifest: { dependencies: Record<string, string> } = JSON.parse(await readFile(path, "utf8"));
  if (manifest.dependencies["hub-webhooks"] === undefined) throw new Error(`${path} does not ask for hub-webhooks.`);
  manifest.dependencies["hub-webhooks"] = `file:${tarball}`;
  await writeFile(path, JSON.stringify(manifest));
}
