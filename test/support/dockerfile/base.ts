import { chmod, copyFile, cp, mkdir, realpath, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";

/**
 * Plays the `node` base image: the Node that runs this, and npm, in a folder that any user can enter. Returns the
 * folder of its programs.
 */
export async function createBaseImage(folder: string): Promise<string> {
  const programs = join(folder, "bin");
  await mkdir(programs, { recursive: true });
  const node = join(programs, "node");
  await copyFile(process.execPath, node);
  await chmod(node, 0o755);
  const npm = join(folder, "lib", "node_modules", "npm");
  await cp(await findNpm(), npm, { recursive: true, verbatimSymlinks: true });
  await symlink(join(npm, "bin", "npm-cli.js"), join(programs, "npm"));
  await symlink(join(npm, "bin", "npx-cli.js"), join(programs, "npx"));
  return programs;
}

async function findNpm(): Promise<string> {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const program = await realpath(join(folder, "npm")).catch(() => undefined);
    if (program?.endsWith(join("npm", "bin", "npm-cli.js"))) return dirname(dirname(program));
  }
  throw new Error("There is no npm on the PATH.");
}
