import { chmod, chown, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { runProgram } from "../program.ts";
import { createBaseImage } from "./base.ts";
import { copyContext, copyInto } from "./copy.ts";
import { parseDockerIgnore } from "./ignore.ts";
import { type Instruction, parseDockerfile } from "./parse.ts";

/** A stage that was built: its file system is a folder, and there is nothing around it. */
export interface Image {
  /** The folder that stands for `/`. */
  root: string;
  /** As the image sees it. */
  workdir: string;
  environment: Record<string, string>;
  user: number;
  command: string[];
  healthcheck: string[];
  /** Deletes everything that was built. */
  remove(): Promise<void>;
}

/** What {@link buildImage} needs. */
export interface BuildOptions {
  dockerfile: string;
  context: string;
  /** Told of every step before it is taken. */
  onStep?: (step: string) => void;
}

/**
 * Carries out a Dockerfile without a container engine: every stage is a folder, and the base image's Node is the one
 * that runs this. Nothing locks a step in, so it proves what the steps do, not what an image keeps out.
 */
export async function buildImage({ dockerfile, context, onStep }: BuildOptions): Promise<Image> {
  if (process.getuid?.() !== 0) throw new Error("A Dockerfile changes users, which only root can.");
  const steps = parseDockerfile(await readFile(dockerfile, "utf8"));
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  // What a container has, whatever this machine is set to.
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

/** The home folder of a user in an image, as the image sees it. */
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

  /** The stage that is being built. */
  get stage(): Omit<Image, "remove"> {
    const stage = this.#stages.at(-1);
    if (!stage) throw new Error("A Dockerfile begins with FROM.");
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
    if (from !== undefined && !sourceStage) throw new Error(`There is no stage ${from}.`);
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
    if (code !== 0) throw new Error(`RUN ${command} ended with ${code}:\n${output}`);
  }
}

/** How this machine gets at the registry, which a container engine would be told as well. */
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
