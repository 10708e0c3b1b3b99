import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. Projects import its `dist`, which `npm test` builds first. */
const repository = fileURLToPath(new URL("../../", import.meta.url));

/** A user's project folder with `hub-webhooks` installed. */
export interface Project extends AsyncDisposable {
  /** The absolute path without symbolic links. */
  readonly path: string;
  /** Writes a file, creates its folder if necessary, and returns its absolute path. */
  write(file: string, text: string): Promise<string>;
  /** Removes a file or a folder with its contents. */
  remove(file: string): Promise<void>;
}

/**
 * Creates a project with these files and deletes it at the end of its scope. It has a package.json only if `files`
 * contains one.
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
    // A watcher can report a write to an existing file twice on a busy machine, but reports a rename once.
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
