import { readdir, readFile } from "node:fs/promises";
import { suggest } from "../../../core/options.ts";
import { exampleFolder } from "../../shipped-files.ts";
import { usageError } from "../../usage.ts";
import { withoutComments } from "./project.ts";

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
  const folder = exampleFolder(name);
  for (const file of await readdir(folder)) {
    if (!file.endsWith(".ts")) continue;
    files.set(file, await readFile(new URL(file, folder), "utf8"));
  }
  const readme = joinReadme({
    example: await readFile(new URL("README.md", folder), "utf8"),
    template: template.get("README.md") ?? "",
    endpoint: name.replaceAll("-", "_"),
    variables: Object.keys(projectExamples[name].environment),
    isBackground: projectExamples[name].isBackground,
  });
  const agents = template.get("AGENTS.md") ?? "";
  files.set("README.md", readme);
  files.set("package.json", await withDependencies(template.get("package.json") ?? "{}", projectExamples[name]));
  files.set("AGENTS.md", agents.replace(templateTrigger, `npx hub-webhooks ${projectExamples[name].trigger}`));
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
function joinReadme({
  example,
  template,
  endpoint,
  variables,
  isBackground,
}: {
  /** The README of the example. */
  example: string;
  /** The README of the template. */
  template: string;
  /** The name of the example's endpoint, which replaces the name of the template's endpoint. */
  endpoint: string;
  /** The variables that the example requires in addition to the secret. */
  variables: readonly string[];
  isBackground: boolean;
}): string {
  const [head = "", ...parts] = sectionsOf(forProject(example));
  const title = /^# (.*)$/m.exec(head)?.[1] ?? "";
  const [top = "", install = "", ...deployment] = sectionsOf(template.replaceAll("on_new_data", endpoint));
  const frontMatter = /^---\n.*?\n---\n+/s.exec(top)?.[0] ?? "";
  return [
    frontMatter.replace(/^title: .*$/m, `title: ${title}`),
    head,
    // The README of the example explains how to start the server.
    install.replace(/^(?:npm start|npx hub-webhooks dev).*\n/gm, ""),
    ...parts.map((part) => `${part.trimEnd()}\n\n`),
    ...deployment
      .map((part, index) => (index === 0 ? withVariables(part, variables) : part))
      .map((part) => (isBackground ? asBackground(part) : part)),
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
