import { chmod, chown, copyFile, cp, mkdir, mkdtemp, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { runProgram, startProgram } from "./program.ts";
import { root as checkout } from "./project-folder.ts";
import { waitFor } from "./wait-for.ts";

/** A built stage. Its file system is a folder, without isolation from this machine. */
interface Stage {
  /** The folder that serves as `/`. */
  root: string;
  /** The path inside the image. */
  workdir: string;
  environment: Record<string, string>;
  user: number;
  command: string[];
  healthcheck: string[];
}

export interface Image extends Stage {
  /** Deletes all files of the build. */
  remove(): Promise<void>;
}

/** A process that runs an image's `CMD` as its user. */
export interface Container {
  pid: number | undefined;
  /** The output so far. */
  output(): string;
  /** Waits until the image's `HEALTHCHECK` succeeds. */
  healthy(): Promise<void>;
  /** Sends a signal, and returns the exit code, or `null` if the process was killed. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** The forms of the instructions of this repository's Dockerfiles. The list form of `CMD` starts no shell, which would get the signals. */
const forms: Readonly<Record<string, RegExp>> = {
  FROM: /^node:\S+(?: AS (?<name>\w+))?$/,
  WORKDIR: /^(?<path>\/[\w./-]*)$/,
  COPY: /^(?:--from=(?<from>\w+) )?(?<sources>[\w./-]+(?: [\w./-]+)*) (?<destination>[\w./-]+)$/,
  // Commands are not confined to the stage's folder, so that an absolute path would refer to this machine.
  RUN: /^(?!--|\[)(?!(?:.*[\s='":>])?\/)(?!.*<<)(?<command>.+)$/,
  ENV: /^(?<variables>\w+=[\w.]+(?: \w+=[\w.]+)*)$/,
  USER: /^(?<user>0|1000)$/,
  EXPOSE: /^\d+$/,
  HEALTHCHECK: /^(?:--[\w-]+=\w+ )*CMD (?<command>\[".+"\])$/,
  CMD: /^(?<command>\[".+"\])$/,
};

/** The checkout was installed with this command and the same lock file, which takes longer than all other steps. */
const installCommand = "npm ci --ignore-scripts";

/**
 * Parses a Dockerfile.
 *
 * @throws {Error} With the text of an instruction of another form: skipping a step would make the test worthless.
 */
export function parseDockerfile(text: string): { name: string; part: (name: string) => string | undefined }[] {
  const lines = text.replaceAll(/^\s*#.*$/gm, "").replaceAll(/\s*\\\n\s*/g, " ");
  return lines
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [name = "", rest = ""] = line.split(/ (.*)/s);
      const form = forms[name]?.exec(rest);
      if (!form) throw new Error(`The test does not support this form: ${line}`);
      return { name, part: (key) => form.groups?.[key] };
    });
}

/**
 * Runs the Dockerfile of a folder without a container engine. Each stage is a folder, and the base image's Node is this machine's Node.
 * Steps are not isolated: this tests what the steps do, not what they cannot access.
 */
export async function buildImage(context: string): Promise<Image> {
  if (process.getuid?.() !== 0) throw new Error("Run as root: the steps of a Dockerfile change users.");
  const folder = await mkdtemp(join(tmpdir(), "image-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  // Containers have this umask, regardless of this machine's.
  const umaskBefore = process.umask(0o022);
  try {
    await chmod(folder, 0o755);
    return { ...(await runSteps(context, folder)), remove };
  } catch (error) {
    await remove();
    throw error;
  } finally {
    process.umask(umaskBefore);
  }
}

async function runSteps(context: string, folder: string): Promise<Stage> {
  const programs = await createBaseImage(join(folder, "base"));
  const included = join(folder, "context");
  await copyContext(resolve(context), included);
  const stages = new Map<string | undefined, Stage>();
  let stage: Stage | undefined;
  for (const { name, part } of parseDockerfile(await readFile(join(context, "Dockerfile"), "utf8"))) {
    if (name === "FROM") {
      const root = join(folder, `stage-${stages.size}`);
      const environment = { PATH: `${programs}:/usr/local/bin:/usr/bin:/bin` };
      stage = { root, workdir: "/", environment, user: 0, command: [], healthcheck: [] };
      stages.set(part("name"), stage);
      for (const user of [0, 1000]) {
        await mkdir(join(root, homeOf(user)), { recursive: true });
        await chown(join(root, homeOf(user)), user, user);
      }
    }
    if (!stage) throw new Error("A Dockerfile must start with FROM.");
    const workdir = join(stage.root, stage.workdir);
    const command = part("command") ?? "[]";
    switch (name) {
      case "WORKDIR":
        stage.workdir = part("path") ?? "";
        await mkdir(join(stage.root, stage.workdir), { recursive: true });
        break;
      case "COPY": {
        const from = part("from");
        const sourceRoot = from === undefined ? included : stages.get(from)?.root;
        if (sourceRoot === undefined) throw new Error(`Unknown stage "${from}".`);
        const sources = part("sources")?.split(" ") ?? [];
        for (const source of sources) await copy(join(sourceRoot, source), `${workdir}/${part("destination")}`);
        break;
      }
      case "RUN": {
        if (command === installCommand) {
          await symlink(join(checkout, "node_modules"), join(workdir, "node_modules"));
          break;
        }
        const environment = { ...(await machineSettings()), ...stage.environment };
        const { code, output } = await runProgram(
          ["/bin/sh", "-c", command],
          processOptions({ ...stage, environment }),
        );
        if (code !== 0) throw new Error(`RUN ${command} exited with ${code}:\n${output}`);
        break;
      }
      case "ENV":
        for (const [, key = "", value] of part("variables")?.matchAll(/(\w+)=(\S+)/g) ?? []) {
          stage.environment[key] = value ?? "";
        }
        break;
      case "USER":
        stage.user = Number(part("user"));
        break;
      case "HEALTHCHECK":
        stage.healthcheck = JSON.parse(command);
        break;
      case "CMD":
        stage.command = JSON.parse(command);
    }
  }
  if (!stage) throw new Error("The Dockerfile is empty.");
  return stage;
}

function homeOf(user: number): string {
  return user === 0 ? "/root" : "/home/node";
}

function processOptions({ root, workdir, environment, user }: Stage) {
  const env = { HOME: join(root, homeOf(user)), ...environment };
  return { cwd: join(root, workdir), env, uid: user, gid: user };
}

/** Returns this machine's npm registry and proxy settings, which a container engine would also pass to a build. */
async function machineSettings(): Promise<Record<string, string>> {
  const { output } = await runProgram(["npm", "config", "get", "registry", "--silent"], {});
  const settings: Record<string, string> = { npm_config_registry: output.trim() };
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && /^(?:https?_proxy|no_proxy|node_extra_ca_certs)$/i.test(name)) settings[name] = value;
  }
  return settings;
}

/** Copies like Docker: the contents of a folder, or a file into a folder. */
async function copy(source: string, destination: string): Promise<void> {
  const isFile = (await stat(source)).isFile();
  if (isFile && !destination.endsWith("/")) throw new Error(`Write ${destination}/, into which files are copied.`);
  const target = isFile ? join(destination, basename(source)) : destination;
  await cp(source, target, { recursive: true, verbatimSymlinks: true });
}

/** Copies a build context without the paths that its `.dockerignore` excludes. */
async function copyContext(context: string, destination: string): Promise<void> {
  const ignore = parseDockerIgnore(await readFile(join(context, ".dockerignore"), "utf8"));
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

/** Parses a `.dockerignore` file. The last matching rule decides. */
export function parseDockerIgnore(content: string) {
  const rules = content
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const keeps = line.startsWith("!");
      const text = line.slice(keeps ? 1 : 0);
      if (/[^\w./*-]/.test(text)) throw new Error(`.dockerignore, ${line}: only * and ** are supported.`);
      // `**/` also matches zero folders. A pattern that matches a folder also matches its contents.
      const source = text.replaceAll(/\*\*\/|\*\*|\*|\./g, (part) => {
        if (part === "**/") return "(?:.*/)?";
        if (part === "**") return ".*";
        return part === "*" ? "[^/]*" : "\\.";
      });
      return { text, keeps, pattern: new RegExp(`^${source}(?:/.*)?$`) };
    });
  const ignores = (path: string) => rules.findLast(({ pattern }) => pattern.test(path))?.keeps === false;
  const ignoresAllBelow = (folder: string) =>
    ignores(folder) && !rules.some(({ keeps, text }) => keeps && (text.includes("*") || text.startsWith(`${folder}/`)));
  return { ignores, ignoresAllBelow };
}

/** Creates a replacement for the `node` base image, which all users can read: this machine's Node and npm. Returns its program folder. */
async function createBaseImage(folder: string): Promise<string> {
  const programs = join(folder, "bin");
  await mkdir(programs, { recursive: true });
  const node = join(programs, "node");
  await copyFile(process.execPath, node);
  await chmod(node, 0o755);
  const { output } = await runProgram(["/bin/sh", "-c", 'realpath "$(command -v npm)"'], {});
  const npm = join(folder, "lib", "node_modules", "npm");
  await cp(dirname(dirname(output)), npm, { recursive: true, verbatimSymlinks: true });
  await symlink(join(npm, "bin", "npm-cli.js"), join(programs, "npm"));
  return programs;
}

/** Starts the `CMD` of an image. */
export function startContainer(image: Image, variables: Readonly<Record<string, string>>): Container {
  const options = processOptions({ ...image, environment: { ...image.environment, ...variables } });
  const { child, ended, output } = startProgram(image.command, options);
  return {
    pid: child.pid,
    output,
    healthy: () =>
      waitFor(async () => {
        const { code } = await runProgram(image.healthcheck, options);
        if (code !== 0) throw new Error(`The HEALTHCHECK did not succeed. Output of the server:\n${output()}`);
      }),
    async stop(signal) {
      child.kill(signal);
      return (await ended).code;
    },
  };
}
