import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository, whose `dist` is what a project imports: `npm test` builds it first. */
const repository = fileURLToPath(new URL("../../", import.meta.url));

/** A folder of a user's own, in which `hub-webhooks` is installed. */
export interface Project extends AsyncDisposable {
  /** Its absolute path, without symbolic links in it. */
  readonly path: string;
  /** Writes a file, whose folder is made if need be. Returns its absolute path. */
  write(file: string, text: string): Promise<string>;
  /** Removes a file or a folder with all that is in it. */
  remove(file: string): Promise<void>;
}

/**
 * Makes a project with these files, which is gone at the end of its scope. There is no package.json unless it is given.
 *
 * @example
 * ```ts
 * await using project = await makeProject({ "server.ts": source });
 * const { endpoints } = await describeServerFile(join(project.path, "server.ts"));
 * ```
 */
export async function makeProject(files: Readonly<Record<string, string>>): Promise<Project> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "hub-webhooks-project-")));
  async function write(file: string, text: string): Promise<string> {
    const target = join(path, file);
    await mkdir(dirname(target), { recursive: true });
    // On a busy machine, a watcher would report a file twice that is emptied and then written.
    await writeFile(`${target}.new`, text);
    await rename(`${target}.new`, target);
    return target;
  }
  const remove = (file: string) => rm(join(path, file), { recursive: true, force: true, maxRetries: 3 });
  await mkdir(join(path, "node_modules"));
  await symlink(repository, join(path, "node_modules", "hub-webhooks"), "junction");
  for (const [file, text] of Object.entries(files)) await write(file, text);
  return { path, write, remove, [Symbol.asyncDispose]: () => remove("") };
}

/** The folder of this repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));
