import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { runProgram } from "../../scripts/dockerfile/program.ts";
import { root } from "./root.ts";

/** Packs this package as for the registry. Returns the path of the tarball in `folder`. */
export async function pack(folder: string): Promise<string> {
  const { code, output } = await runProgram(["npm", "pack", "--pack-destination", folder], { cwd: root });
  const tarball = (await readdir(folder)).find((name) => name.endsWith(".tgz"));
  if (code !== 0 || tarball === undefined) throw new Error(`npm pack ended with ${code}:\n${output}`);
  return join(folder, tarball);
}
