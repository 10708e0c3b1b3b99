import {
  chmod,
  chown,
  copyFile,
  cp,
  lchown,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, relative, resolve } from "node:path";
import { runProgram } from "../program.ts";
import { type DockerIgnore, parseDockerIgnore } from "./ignore.ts";
import { type Instruction, parseDockerfile } from "./parse.ts";

/** A built stage. Its file system is a folder, without isolation from this machine. */
export interface Image {
  /** The folder that serves as `/`. */
  root: string;
  /** The path inside the image. */
  workdir: string;
  environment: Record<string, string>;
  user: number;
  command: string[];
  healthcheck: string[];
  /** Deletes all files of the build. */
  remove(): Promise<void>;
}

export interface BuildOptions {
  dockerfile: string;
  context: string;
  /** Called with each step before it runs. */
  onStep?: (step: string) => void;
}

/**
 * Runs a Dockerfile without a container engine. Each stage is a folder, and the base image's Node is this machine's
 * Node. Steps are not isolated: this tests what the steps do, not what they cannot access.
 */
export async function buildImage({ dockerfile, context, onStep }: BuildOptions): Promise<Image> {
  if (process.getuid?.() !== 0) throw new Error("Run as root: the steps of a Dockerfile change users.");
  const steps = parseDockerfile(await readFile(dockerfile, "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  // Containers have this umask, regardless of this machine's.
  const umaskBefore = process.umask(0o022);
  try {
    await chmod(folder, 0o755);
    const builder = new Builder(folder, await createBaseImage(join(folder, "base")));
    await copyContext(resolve(context), builder.context, parseDockerIgnore(await readDockerIgnore(context)));
    for (const { text, instruction } of steps) {
      onStep?.(text);
      await builder.take(instruction);
    }
    return { ...builder.stage, remove };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    process.umask(umaskBefore);
  }
}

/** Returns the home folder of a user inside the image. */
export function homeOf(user: number): string {
  return user === 0 ? "/root" : "/home/node";
}

class Builder {
  readonly context: string;
  readonly #folder: string;
  readonly #programs: string;
  readonly #stages: { name: string; image: Omit<Image, "remove"> }[] = [];

  constructor(folder: string, programs: string) {
    this.#folder = folder;
    this.#programs = programs;
    this.context = join(folder, "context");
  }

  /** The current stage. */
  get stage(): Omit<Image, "remove"> {
    const stage = this.#stages.at(-1);
    if (!stage) throw new Error("A Dockerfile must start with FROM.");
    return stage.image;
  }

  async take(instruction: Instruction): Promise<void> {
    switch (instruction.name) {
      case "FROM":
        return this.#begin(instruction.stage ?? String(this.#stages.length));
      case "WORKDIR":
        this.stage.workdir = resolve(this.stage.workdir, instruction.path);
        await mkdir(join(this.stage.root, this.stage.workdir), { recursive: true });
        return;
      case "COPY":
        return this.#copy(instruction);
      case "RUN":
        return this.#run(instruction.command);
      case "ENV":
        Object.assign(this.stage.environment, instruction.variables);
        return;
      case "USER":
        this.stage.user = instruction.user;
        return;
      case "EXPOSE":
        return;
      case "HEALTHCHECK":
        this.stage.healthcheck = instruction.command;
        return;
      case "CMD":
        this.stage.command = instruction.command;
    }
  }

  async #begin(name: string): Promise<void> {
    const root = join(this.#folder, `stage-${name}`);
    for (const user of [0, 1000]) {
      const home = join(root, homeOf(user));
      await mkdir(home, { recursive: true });
      await chown(home, user, user);
    }
    const environment = { PATH: `${this.#programs}:/usr/local/bin:/usr/bin:/bin` };
    const image = { root, workdir: "/", environment, user: 0, command: [], healthcheck: [] };
    this.#stages.push({ name, image });
  }

  async #copy({ from, sources, destination, owner }: Instruction & { name: "COPY" }): Promise<void> {
    const { root, workdir } = this.stage;
    const sourceStage = this.#stages.find(({ name }) => name === from);
    if (from !== undefined && !sourceStage) throw new Error(`Unknown stage "${from}".`);
    const asFolder = destination.endsWith("/") ? "/" : "";
    await copyInto({
      sourceRoot: sourceStage?.image.root ?? this.context,
      sources,
      destination: `${join(root, resolve(workdir, destination))}${asFolder}`,
      owner,
    });
  }

  async #run(command: string): Promise<void> {
    const { root, workdir, environment, user } = this.stage;
    const options = {
      cwd: join(root, workdir),
      env: { HOME: join(root, homeOf(user)), ...(await machineSettings()), ...environment },
      uid: user,
      gid: user,
    };
    const { code, output } = await runProgram(["/bin/sh", "-c", command], options);
    if (code !== 0) throw new Error(`RUN ${command} exited with ${code}:\n${output}`);
  }
}

/** Returns this machine's npm registry and proxy settings, which a container engine would also pass to a build. */
async function machineSettings(): Promise<Record<string, string>> {
  const { output } = await runProgram(["npm", "config", "get", "registry", "--silent"], {});
  const names = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
  ];
  const settings = names.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined);
  return { npm_config_registry: output.trim(), ...Object.fromEntries(settings) };
}

async function readDockerIgnore(context: string): Promise<string> {
  return readFile(join(context, ".dockerignore"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** A `COPY` step with paths on this machine. */
export interface CopyStep {
  sourceRoot: string;
  /** Relative to `sourceRoot`. The last segment may contain `*`. */
  sources: readonly string[];
  destination: string;
  owner: number;
}

/** Copies a build context without the paths that `.dockerignore` excludes. */
async function copyContext(context: string, destination: string, ignore: DockerIgnore): Promise<void> {
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

/** Copies like Docker: the contents of a folder, or a file into an existing folder or a path that ends with a slash. */
async function copyInto({ sourceRoot, sources, destination, owner }: CopyStep): Promise<void> {
  const paths = (await Promise.all(sources.map((source) => findSources(sourceRoot, source)))).flat();
  if (paths.length === 0) throw new Error(`The context has no file ${sources.join(" or ")}.`);
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
  if (more.length > 0 || dirname(source).includes("*")) throw new Error(`${source}: only one * is supported.`);
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

/**
 * Creates a replacement for the `node` base image: this machine's Node and npm in a folder that all users can read.
 * Returns its program folder.
 */
async function createBaseImage(folder: string): Promise<string> {
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
  throw new Error("npm is not on the PATH.");
}
