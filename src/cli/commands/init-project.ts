import { mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { describeError } from "../../core/describe.ts";
import { WebhookError } from "../../core/errors.ts";
import { packageRoot } from "../../core/files.ts";
import { suggest } from "../../core/options.ts";
import { usageError } from "../usage.ts";

/** A folder that contains only `.git` counts as empty, because users run `git init` first. */
const gitFolder = ".git";

/** Checks that a folder does not exist, or contains nothing but `.git`. @throws `FOLDER_UNUSABLE`. */
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
      await createFolder(dirname(path), created);
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

/** Derives a package name from a folder name: characters that npm does not allow are removed or replaced by a hyphen. */
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

/** The workflow of GitHub Actions that `--ci` adds. */
const workflow = { path: ".github/workflows/deploy.yml", template: "deploy.yml" };

/**
 * Reads the files of a template as the files of a new project, sorted by name.
 *
 * @param project The name for package.json, the exact version of hub-webhooks to depend on, and whether to add the workflow.
 */
export async function readTemplate(
  template: TemplateName,
  project: { name: string; version: string; hasWorkflow: boolean },
): Promise<ReadonlyMap<string, string>> {
  const folder = new URL(`templates/${template}/`, packageRoot);
  const readShared = (name: string) => readFile(new URL(`templates/${name}`, packageRoot), "utf8");
  const files = new Map([[sharedFile, await readShared(sharedFile)]]);
  if (project.hasWorkflow) files.set(workflow.path, await readShared(workflow.template));
  for (const packed of await readdir(folder)) {
    const name = packed === packedGitignore ? ".gitignore" : packed;
    const text = await readFile(new URL(packed, folder), "utf8");
    const content = name === "package.json" ? fillManifest(text, project) : text;
    files.set(name, name === "README.md" ? withoutComments(content) : content);
  }
  return sortFiles(files);
}

function fillManifest(text: string, { name, version }: { name: string; version: string }): string {
  const manifest: Manifest = JSON.parse(text);
  manifest.name = name;
  manifest.dependencies["hub-webhooks"] = version;
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Removes comments from a README, because only the tests of this repository use them. */
function withoutComments(readme: string): string {
  return readme.replace(/^ *<!--.*-->\n/gm, "");
}

/** The metadata of an example, which prompts and help texts show. */
interface Example {
  /** A one-line description. */
  purpose: string;
  /** The first `trigger` command in the README of the example. */
  trigger: string;
  /** Whether the example has a background endpoint, which requires storage for deliveries. */
  isBackground: boolean;
  /** The variables that `start.ts` of the example requires, with a description of each. */
  environment: Readonly<Record<string, string>>;
  /** The packages that the example imports, with their versions. */
  dependencies: Readonly<Record<string, string>>;
}

/** The examples that `init --example` can copy, by folder name. */
export const projectExamples = {
  "auto-retrain": {
    purpose: "starts a training job when a dataset is updated",
    trigger: "trigger dataset:local-user/data",
    isBackground: true,
    environment: {
      HF_TOKEN: "a token with permission to start jobs",
      JOB_NAMESPACE: "the user or organization that pays for the jobs",
    },
    dependencies: {},
  },
  "discussion-bot": {
    purpose: "replies to comments that mention the bot",
    trigger: 'trigger model:local-user/net --scope discussion.comment --set comment.content="@local-user hello"',
    isBackground: true,
    environment: {
      HF_TOKEN: "a token of the bot's account with permission to write discussions",
      MODEL_NAME: "a chat model",
    },
    dependencies: {},
  },
  "metadata-review": {
    purpose: "comments on missing metadata of repository cards",
    trigger: "trigger dataset:local-user/data",
    isBackground: true,
    environment: {
      HF_TOKEN: "a token with permission to write discussions",
    },
    dependencies: {},
  },
  "mirror-repository": {
    purpose: "copies datasets to another account",
    trigger: "trigger dataset:local-user/data",
    isBackground: true,
    environment: {
      HF_TOKEN: "a token with permission to read the datasets and to write to TARGET_OWNER",
      TARGET_OWNER: "the user or organization that receives the copies",
    },
    dependencies: { "@huggingface/hub": "2.17.5" },
  },
  "private-to-public": {
    purpose: "opens a discussion with a checklist when a repository becomes public",
    trigger: "trigger dataset:local-user/data --scope repo.config --set updatedConfig.private=false",
    isBackground: true,
    environment: { HF_TOKEN: "a token with permission to write discussions" },
    dependencies: {},
  },
  "trigger-training": {
    purpose: "calls your function when a dataset is updated",
    trigger: "trigger dataset:local-user/data",
    isBackground: false,
    environment: {},
    dependencies: {},
  },
} as const satisfies Readonly<Record<string, Example>>;

/** The name of an example. */
export type ExampleName = keyof typeof projectExamples;

/** The values of `--example`. */
export const exampleNames: readonly ExampleName[] = Object.keys(projectExamples).filter(isExample);

/** @throws `ARGUMENT_INVALID` for an unknown name. */
export function parseExample(name: string): ExampleName {
  if (isExample(name)) return name;
  throw usageError(
    `Unknown example "${name}".${suggest(name, exampleNames)} Valid examples: ${exampleNames.join(", ")}.`,
  );
}

function isExample(name: string): name is ExampleName {
  return Object.hasOwn(projectExamples, name);
}

/** The command in AGENTS.md that an example replaces. */
const templateTrigger = "npx hub-webhooks trigger dataset:local-user/data";

/** Files of a template that an example replaces. */
const replacedFiles = ["server.ts", "start.ts", "server.test.ts"];

/** Replaces the server of a template with the files of an example. */
export async function withExample(
  template: ReadonlyMap<string, string>,
  name: ExampleName,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map([...template].filter(([file]) => !replacedFiles.includes(file)));
  const folder = new URL(`examples/${name}/`, packageRoot);
  for (const file of await readdir(folder)) {
    if (!file.endsWith(".ts")) continue;
    files.set(file, await readFile(new URL(file, folder), "utf8"));
  }
  const example = await readFile(new URL("README.md", folder), "utf8");
  const agents = template.get("AGENTS.md") ?? "";
  files.set("README.md", joinReadme(example, template.get("README.md") ?? "", name));
  files.set("package.json", await withDependencies(template.get("package.json") ?? "{}", projectExamples[name]));
  files.set("AGENTS.md", agents.replace(templateTrigger, `npx hub-webhooks ${projectExamples[name].trigger}`));
  return sortFiles(files);
}

function sortFiles(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** Adds the packages that an example imports to the manifest of a template. */
async function withDependencies(manifest: string, { dependencies }: Example): Promise<string> {
  // The help of the command line must not load zod.
  const z = await import("zod");
  const parsed = z.looseObject({ dependencies: z.record(z.string(), z.string()) }).parse(JSON.parse(manifest));
  const all = Object.entries({ ...parsed.dependencies, ...dependencies }).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return `${JSON.stringify({ ...parsed, dependencies: Object.fromEntries(all) }, null, 2)}\n`;
}

/** Inserts the README of an example between the first and last sections of the template's README. */
function joinReadme(example: string, template: string, name: ExampleName): string {
  const { environment, isBackground } = projectExamples[name];
  const [head = "", ...parts] = sectionsOf(forProject(example));
  const title = /^# (.*)$/m.exec(head)?.[1] ?? "";
  const [top = "", install = "", secret = "", ...deployment] = sectionsOf(
    template.replaceAll("on_new_data", name.replaceAll("-", "_")),
  );
  const frontMatter = /^---\n.*?\n---\n+/s.exec(top)?.[0] ?? "";
  return [
    frontMatter.replace(/^title: .*$/m, `title: ${title}`),
    head,
    // The README of the example explains how to start the server.
    install.replace(/^(?:npm start|npx hub-webhooks dev).*\n/gm, ""),
    ...parts.map((part) => `${part.trimEnd()}\n\n`),
    ...[withVariables(secret, Object.keys(environment)), ...deployment].map((part) =>
      isBackground ? asBackground(part) : part,
    ),
  ].join("");
}

/** Rewrites the general sentence about background endpoints to describe this endpoint. */
function asBackground(section: string): string {
  return section.replace(
    "Endpoints with `background: true` store their",
    "The endpoint has `background: true` and stores its",
  );
}

/** Adapts the README of an example to a project: removes the quoted notes about this repository and rewrites links. */
function forProject(readme: string): string {
  return withoutComments(readme)
    .replace(/^>.*\n/gm, "")
    .replace(/\n{3,}/g, "\n\n")
    .replaceAll("](../../docs/", "](node_modules/hub-webhooks/docs/");
}

/** Splits a README at its second-level headings. The first section is the text before them. */
function sectionsOf(readme: string): string[] {
  return readme.split(/^(?=## )/m);
}

/** Adds the required variables to the section that sets the secret. */
function withVariables(section: string, variables: readonly string[]): string {
  if (variables.length === 0) return section;
  const named = variables.map((name) => `\`${name}\``).join(" and ");
  const note = `This server also needs ${named}. Set them in the same way.`;
  return section
    .replace(/(?<=`WEBHOOK_SECRET`.*?)everyone\./s, (end) => `${end}\n   ${note}`)
    .replace("-e WEBHOOK_SECRET", ["WEBHOOK_SECRET", ...variables].map((name) => `-e ${name}`).join(" "));
}
