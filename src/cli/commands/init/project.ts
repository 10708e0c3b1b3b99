import { mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { describeError } from "../../../core/describe.ts";
import { WebhookError } from "../../../core/errors.ts";
import { sharedTemplateFolder, templateFolder } from "../../shipped-files.ts";
import { usageError } from "../../usage.ts";

/** A folder that contains only `.git` counts as empty, because users run `git init` first. */
const gitFolder = ".git";

/**
 * Checks that a folder does not exist, or contains nothing but `.git`.
 *
 * @throws `FOLDER_UNUSABLE`.
 */
export async function requireEmptyFolder(folder: string): Promise<void> {
  const entries = await readdir(folder).catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return [];
    throw unusable(`Cannot use ${folder} (${codeOf(cause)}). Choose a new or empty folder.`, cause);
  });
  const found = entries.filter((name) => name !== gitFolder).sort();
  if (found.length === 0) return;
  const shown = found.length > 3 ? `${found.slice(0, 3).join(", ")} and ${found.length - 3} more` : found.join(", ");
  throw unusable(
    `${folder} is not empty: it contains ${shown}. Nothing was created. Choose a new or empty folder, or move these files.`,
  );
}

/**
 * Creates a folder if needed and writes files into it. Never overwrites a file. If a file cannot be written, all
 * created files and folders are removed.
 *
 * @throws `FOLDER_UNUSABLE`; the message lists the files that could not be removed.
 */
export async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const created: string[] = [];
  try {
    await createFolder(folder, created);
    for (const [name, text] of files) {
      const path = join(folder, name);
      const writing = writeFile(path, text, { flag: "wx" });
      // If the disk is full, an incomplete file remains, which must be removed. An existing file must not be removed.
      await writing.then(
        () => created.push(path),
        async (error: unknown) => {
          if (codeOf(error) !== "EEXIST") created.push(path);
          throw error;
        },
      );
    }
  } catch (cause) {
    const remaining = await removeAll(created);
    const leftover = remaining.length === 0 ? "" : ` Could not remove: ${remaining.join(", ")}.`;
    throw unusable(
      `Cannot write to ${folder} (${codeOf(cause)}).${leftover} Check its permissions and the free disk space, or choose another folder.`,
      cause,
    );
  }
}

/** Creates a folder and its missing parents, and adds each of them to `created`. */
async function createFolder(folder: string, created: string[]): Promise<void> {
  const missing: string[] = [];
  for (let path = folder; !(await exists(path)); path = dirname(path)) missing.unshift(path);
  for (const path of missing) {
    await mkdir(path);
    created.push(path);
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

/** Removes files and empty folders, starting with the latest. Returns the paths that remain. */
async function removeAll(paths: readonly string[]): Promise<readonly string[]> {
  const remaining: string[] = [];
  for (const path of paths.toReversed()) {
    try {
      await ((await stat(path)).isDirectory() ? rmdir(path) : rm(path));
    } catch (error) {
      if (codeOf(error) !== "ENOENT") remaining.push(path);
    }
  }
  return remaining;
}

function unusable(message: string, cause?: unknown): WebhookError {
  return new WebhookError(message, { code: "FOLDER_UNUSABLE", cause });
}

function codeOf(error: unknown): string {
  const { code, message } = describeError(error);
  return String(code ?? message);
}

/** The package name if no part of the folder name is valid. */
const fallbackName = "my-hub-webhooks";
const maxNameLength = 214;

/**
 * Names that npm reserves, and the name of this package, because npm does not install a dependency that has the same
 * name as the project.
 */
const reservedNames: ReadonlySet<string> = new Set(["node_modules", "favicon.ico", "hub-webhooks"]);

/**
 * Derives a package name from a folder name: characters that npm does not allow are removed or replaced by a hyphen.
 *
 * @example
 * ```ts
 * nameFromFolder("Été 2026"); // "ete-2026"
 * ```
 */
export function nameFromFolder(folder: string): string {
  const name = folder
    .normalize("NFD")
    .replace(/\p{Mark}+/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, maxNameLength)
    .replace(/[._-]+$/, "");
  if (name === "") return fallbackName;
  return findNameProblem(name) === undefined ? name : `my-${name}`;
}

/** @throws `ARGUMENT_INVALID` for a name that npm does not accept. */
export function checkName(name: string): void {
  const problem = findNameProblem(name);
  if (problem !== undefined) throw usageError(`Invalid --name "${name}". ${problem}`);
}

function findNameProblem(name: string): string | undefined {
  if (name.length > maxNameLength) return `Use at most ${maxNameLength} characters.`;
  if (reservedNames.has(name)) return "This name is reserved. Choose another name.";
  if (isBuiltin(name)) return "A built-in module of Node has this name. Choose another name.";
  if (!/^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/.test(name)) {
    return `Use lowercase letters, digits, hyphens, dots, and underscores, such as "${nameFromFolder(name)}".`;
  }
  return undefined;
}

/** The values of `--template`. */
export const templateNames = ["space", "server"] as const;

/** The name of a template. */
export type TemplateName = (typeof templateNames)[number];

/** The purpose of each template. */
export const templatePurposes: Readonly<Record<TemplateName, string>> = {
  space: "a Docker Space on the Hub",
  server: "your own machine, with or without Docker",
};

/** The part of a template's package.json that a project replaces. */
interface Manifest {
  name: string;
  dependencies: Record<string, string>;
}

/** The name of `.gitignore` in the published package, because npm does not publish files named `.gitignore`. */
const packedGitignore = "_gitignore";

/** Instructions for coding assistants, which all templates share. */
const sharedFile = "AGENTS.md";

/**
 * Reads the files of a template as the files of a new project, sorted by name.
 *
 * @param project The name for package.json, and the exact version of hub-webhooks to depend on.
 */
export async function readTemplate(
  template: TemplateName,
  project: { name: string; version: string },
): Promise<ReadonlyMap<string, string>> {
  const folder = templateFolder(template);
  const files = new Map([[sharedFile, await readFile(new URL(sharedFile, sharedTemplateFolder()), "utf8")]]);
  for (const packed of await readdir(folder)) {
    const name = packed === packedGitignore ? ".gitignore" : packed;
    const text = await readFile(new URL(packed, folder), "utf8");
    const content = name === "package.json" ? fillManifest(text, project) : text;
    files.set(name, name === "README.md" ? withoutComments(content) : content);
  }
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function fillManifest(text: string, { name, version }: { name: string; version: string }): string {
  const manifest: Manifest = JSON.parse(text);
  manifest.name = name;
  manifest.dependencies["hub-webhooks"] = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Removes comments from a README, because only the tests of this repository use them. */
export function withoutComments(readme: string): string {
  return readme.replace(/^ *<!--.*-->\n/gm, "");
}
