import { constants, openAsBlob } from "node:fs";
import { access, readdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { WebhookError } from "../core/errors.ts";
import { createIgnore, parsePattern } from "../local-hub/resources/repositories/upload-mode.ts";

/** What never leaves the machine, whatever the ignore files say. */
const alwaysIgnored = createIgnore(
  [".git", "node_modules", ".env*", "!.env.example", ".hub-webhooks", ".npmrc", "*.pem", ".DS_Store"].join("\n"),
);
/** What a Space needs, even if `.dockerignore` leaves it out of the image. */
const alwaysUploaded = new Set(["Dockerfile", "README.md", ".dockerignore", ".gitattributes", ".gitignore"]);

/** A segment of a path that no file has, and that no rule ignores: `data/*` does not ignore the folder itself. */
const unnamed = "\0";

export type ProjectFiles = ReadonlyMap<string, Blob>;

/**
 * Finds the files of a project that belong on its Space: those that neither `.gitignore` nor `.dockerignore` excludes. Symbolic links are
 * left out, and so is the file with the secrets, whatever its name. The files are read when they are uploaded.
 *
 * @throws `DEPLOY_FAILED` if the folder is not the project of a Docker Space.
 */
export async function readProject(folder: string, environmentFile: string): Promise<ProjectFiles> {
  const files = new Map<string, Blob>();
  const isOutsideImage = createDockerIgnore(await readText(join(folder, ".dockerignore")));
  const root = await realPath(folder);
  const secretsPath = await realPath(resolve(folder, environmentFile));
  const add = async (path: string, rulesAbove: readonly string[]): Promise<void> => {
    const rules = [...rulesAbove, ...rulesOf(await readText(join(folder, path, ".gitignore")), path)];
    const isIgnored = createIgnore([...rules, `!${unnamed}`].join("\n"));
    const entries = await readdir(join(folder, path), { withFileTypes: true }).catch(throwUnusable);
    for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
      const name = path === "" ? entry.name : `${path}/${entry.name}`;
      // A rule for folders only applies to a path with another segment.
      const probe = entry.isDirectory() ? `${name}/${unnamed}` : name;
      if (isIgnored(probe) || alwaysIgnored(probe)) continue;
      if (join(root, name) === secretsPath) continue;
      if (entry.isDirectory()) await add(name, rules);
      else if (entry.isFile() && (alwaysUploaded.has(name) || !isOutsideImage(name))) {
        // The error of a `Blob` names no file.
        await access(join(folder, name), constants.R_OK).catch(throwUnusable);
        files.set(name, await openAsBlob(join(folder, name)));
      }
    }
  };
  await add("", []);
  await checkProject(files);
  return files;
}

/** Returns the rules of a `.gitignore` as rules of the root, where they override those of the folders above. */
function rulesOf(gitignore: string, path: string): string[] {
  const folder = path === "" ? "" : `/${path.replace(/[\\*?[\]]/g, "\\$&")}`;
  const rules = gitignore.matchAll(/^[^\S\n]*(?!#)(!?)(\S.*?)\s*$/gm);
  return [...rules].map(([, negation, pattern = ""]) => {
    const isAnchored = pattern.slice(0, -1).includes("/");
    // The folder itself is not in `folder/**`.
    const below = pattern.replace(/^\//, "").replace(/\/\*\*$/, "/**/*");
    return `${negation}${folder}/${isAnchored ? "" : "**/"}${below}`;
  });
}

/**
 * Returns a function that decides whether `.dockerignore` excludes a file. Unlike in `.gitignore`, the last rule that matches the file or
 * a folder above it decides, and patterns without a slash are relative to the folder too.
 */
function createDockerIgnore(dockerignore: string): (path: string) => boolean {
  const rules = dockerignore.split("\n").flatMap((line) => {
    const [, negation, pattern = ""] = /^\s*(!?)\s*(?:\.?\/)*(.*?)\/*\s*$/.exec(line) ?? [];
    if (pattern === "" || line.startsWith("#")) return [];
    return [{ isNegated: negation === "!", matches: parsePattern(`/${pattern}`) }];
  });
  return (path) => {
    const above = path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    return rules.findLast(({ matches }) => above.some(matches))?.isNegated === false;
  };
}

/** Returns the path without symbolic links, or the unchanged path if nothing is there. */
function realPath(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

async function checkProject(files: ProjectFiles): Promise<void> {
  const readme = (await files.get("README.md")?.text()) ?? "";
  const sdk = /^\uFEFF?---\r?\n[\s\S]*?^sdk:[ \t]*["']?(\w+)/m.exec(readme)?.[1];
  const problem = !files.has("Dockerfile")
    ? "There is no Dockerfile in this folder"
    : sdk !== "docker"
      ? 'README.md has no metadata with "sdk: docker", which makes a repository a Docker Space'
      : undefined;
  if (problem === undefined) return;
  throw deployFailed(
    `${problem}. Run the command in the folder of a bot, or create one with: npx hub-webhooks init my-bot --template space`,
  );
}

export function deployFailed(message: string, cause?: unknown): WebhookError {
  return new WebhookError(message, { code: "DEPLOY_FAILED", ...(cause !== undefined && { cause }) });
}

/** Adds the next step to an error of the file system, whose message contains the path. */
export function throwUnusable(cause: Error): never {
  throw deployFailed(`${cause.message}. Check the path and its permissions`, cause);
}

export type EnvironmentFile = Awaited<ReturnType<typeof openEnvironmentFile>>;

export async function openEnvironmentFile(file: string) {
  const values = parseEnv((await readText(file)).replace(/^\uFEFF/, ""));
  const changedAt = await stat(file).then(
    // A file that replaces another one keeps the time of its content.
    ({ mtimeMs, ctimeMs }) => Math.max(mtimeMs, ctimeMs),
    () => 0,
  );
  return {
    /** Milliseconds since the epoch, or 0 if there is no file. */
    changedAt,
    names: () => Object.keys(values),
    get: (name: string): string | undefined => values[name] || undefined,
    /** Sets a variable in the file, which only its owner can read from now on. */
    async set(name: string, value: string): Promise<void> {
      const lines = (await readText(file)).split("\n");
      if (lines.at(-1) === "") lines.pop();
      const index = lines.findLastIndex((line) => line.trimStart().startsWith(`${name}=`));
      lines.splice(index === -1 ? lines.length : index, 1, `${name}=${value}`);
      const path = await realPath(file);
      // A full disk or an interruption must not destroy the other values. The name is never uploaded.
      const temporary = join(dirname(path), ".env.tmp");
      await rm(temporary, { force: true });
      await writeFile(temporary, `${lines.join("\n")}\n`, { mode: 0o600, flag: "wx", flush: true })
        .then(() => rename(temporary, path))
        .catch(async (error: Error) => {
          await rm(temporary, { force: true });
          throwUnusable(error);
        });
      values[name] = value;
    },
  };
}

async function readText(path: string): Promise<string> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw deployFailed(`Cannot read ${path} (${error.code}). Check the path and its permissions`, error);
  });
}
