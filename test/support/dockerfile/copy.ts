import { cp, lchown, mkdir, readdir, stat } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { DockerIgnore } from "./ignore.ts";

/** One `COPY`, its paths already those of this machine. */
export interface CopyStep {
  sourceRoot: string;
  /** Below `sourceRoot`; the last part may hold a `*`. */
  sources: readonly string[];
  destination: string;
  owner: number;
}

/** Copies a build context without what its `.dockerignore` keeps out. */
export async function copyContext(context: string, destination: string, ignore: DockerIgnore): Promise<void> {
  await cp(context, destination, {
    recursive: true,
    verbatimSymlinks: true,
    filter: async (path) => {
      const inContext = relative(context, path);
      if (inContext === "") return true;
      return (await stat(path)).isDirectory() ? !ignore.ignoresAllBelow(inContext) : !ignore.ignores(inContext);
    },
  });
}

/** Copies as Docker does: of a folder what is in it, a file into a folder that exists or ends in a slash. */
export async function copyInto({ sourceRoot, sources, destination, owner }: CopyStep): Promise<void> {
  const paths = (await Promise.all(sources.map((source) => findSources(sourceRoot, source)))).flat();
  if (paths.length === 0) throw new Error(`Nothing in the context is called ${sources.join(" or ")}.`);
  const intoFolder = destination.endsWith("/") || paths.length > 1 || (await isFolder(destination));
  for (const path of paths) {
    const isFile = !(await isFolder(path));
    await copyAs(path, isFile && intoFolder ? join(destination, basename(path)) : destination, owner);
  }
}

async function copyAs(source: string, target: string, owner: number): Promise<void> {
  const isFile = !(await isFolder(source));
  const firstCreated = await mkdir(isFile ? dirname(target) : target, { recursive: true });
  await cp(source, target, { recursive: true, verbatimSymlinks: true });
  if (owner === 0) return;
  if (firstCreated !== undefined) {
    for (const path of [".", ...(await readdir(firstCreated, { recursive: true }))]) {
      await lchown(join(firstCreated, path), owner, owner);
    }
  } else if (isFile) {
    await lchown(target, owner, owner);
  } else {
    for (const path of await readdir(source, { recursive: true })) await lchown(join(target, path), owner, owner);
  }
}

async function findSources(root: string, source: string): Promise<string[]> {
  const path = join(root, source);
  if (!source.includes("*")) {
    await stat(path);
    return [path];
  }
  const [before = "", after = "", ...more] = basename(source).split("*");
  if (more.length > 0 || dirname(source).includes("*")) throw new Error(`${source}: only one * is known here.`);
  const names = await readdir(dirname(path));
  return names
    .filter((name) => name.startsWith(before) && name.endsWith(after) && name.length >= before.length + after.length)
    .map((name) => join(dirname(path), name));
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
