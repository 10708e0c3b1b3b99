import { basename, resolve } from "node:path";
import { Option } from "commander";
import { packageVersion } from "../../core/files.ts";
import { plainJson, plainText } from "../../core/terminal.ts";
import { toShellWord } from "../../core/text.ts";
import { canPrompt, promptStreams } from "../input.ts";
import type { Invocation, Shell } from "../invocation.ts";
import { type CliCommand, usageError } from "../usage.ts";
import {
  checkName,
  type ExampleName,
  exampleNames,
  nameFromFolder,
  parseExample,
  projectExamples,
  readTemplate,
  requireEmptyFolder,
  type TemplateName,
  templateNames,
  templatePurposes,
  withExample,
  writeFiles,
} from "./init-project.ts";

export function addInit(program: CliCommand, invocation: Invocation): void {
  program
    .command("init")
    .argument("[directory]", "folder of the project, new or empty; . for the current folder")
    .description("create a new project with a server, tests, and a Dockerfile")
    .addOption(
      new Option("--template <name>", "space: a Docker Space on the Hub; server: your own machine").choices(
        templateNames,
      ),
    )
    .option("--example <name>", `start from an example: ${exampleNames.join(", ")}`)
    .option("--ci", "add a GitHub Actions workflow that tests each change and deploys the main branch to the Space")
    .option("--name <name>", "name in package.json (default: based on the folder name)")
    .withoutHubOptions()
    .examples(
      "init my-bot --template space",
      "init . --template server --name @me/bot",
      "init my-bot --template space --example discussion-bot",
      "init my-bot --template space --ci",
    )
    .action((directory: string | undefined, options: InitOptions) => runInit(invocation, directory, options));
}

interface Project {
  template: TemplateName;
  example: ExampleName | undefined;
}

interface InitOptions {
  template?: TemplateName;
  example?: string;
  name?: string;
  ci?: boolean;
}

/**
 * Creates a project and prints the next steps. Prompts for missing options on a terminal.
 *
 * @throws `ARGUMENT_INVALID`, `FOLDER_UNUSABLE`.
 */
async function runInit(invocation: Invocation, given: string | undefined, options: InitOptions): Promise<void> {
  const { output, shell } = invocation;
  // Reject an invalid name before the prompts.
  if (options.name !== undefined) checkName(options.name);
  const named = options.example === undefined ? undefined : parseExample(options.example);
  const path = given ?? (await askDirectory(shell));
  // An empty path is most likely an unset variable, so it must not select the current folder.
  if (path === "") {
    throw usageError(
      "The folder name is empty. Add a folder name, such as npx hub-webhooks init my-bot, or use . for the current folder.",
    );
  }
  const directory = resolve(path);
  await requireEmptyFolder(directory);
  const { template, example } = await chooseProject(options, { named, shell });
  const { ci: hasWorkflow = false } = options;
  if (hasWorkflow && template !== "space") {
    throw usageError("The workflow of --ci deploys to a Space. Add --template space, or omit --ci.");
  }
  const name = options.name ?? nameFromFolder(basename(directory));

  const blank = await readTemplate(template, { name, version: packageVersion(), hasWorkflow });
  const files = example === undefined ? blank : await withExample(blank, example);
  await writeFiles(directory, files);

  if (output.format === "json") {
    const created = { directory, template, ...(example && { example }), files: [...files.keys()] };
    return output.print(plainJson(created, 2));
  }
  if (output.format === "quiet") return output.print(plainText(directory));
  output.print(nextSteps({ path, directory, name, template, example, hasWorkflow, fileCount: files.size }));
}

/**
 * Returns the given template and example. If `--template` is not given, prompts for the template, and for an example
 * unless `--example` is given.
 */
async function chooseProject(
  { template }: InitOptions,
  { named: example, shell }: { named: ExampleName | undefined; shell: Shell },
): Promise<Project> {
  if (template !== undefined) return { template, example };
  const chosen = await askTemplate(shell);
  return { template: chosen, example: example ?? (await askExample(shell)) };
}

async function askDirectory(shell: Shell): Promise<string> {
  if (!canPrompt(shell)) {
    throw usageError("The folder is missing. Add a folder name, such as npx hub-webhooks init my-bot.");
  }
  const prompts = await import("@clack/prompts");
  const answer = await prompts.text({
    message: "Folder of the project (new or empty)",
    placeholder: "my-bot",
    defaultValue: "my-bot",
    ...promptStreams(shell),
  });
  return prompts.isCancel(answer) ? throwCanceled() : answer;
}

async function askTemplate(shell: Shell): Promise<TemplateName> {
  if (!canPrompt(shell)) {
    const choices = templateNames.map((name) => `--template ${name} (${templatePurposes[name]})`);
    throw usageError(`The template is missing. Add ${choices.join(" or ")}.`);
  }
  const prompts = await import("@clack/prompts");
  const answer = await prompts.select({
    message: "Where will the server run?",
    options: templateNames.map((name) => ({ value: name, label: name, hint: templatePurposes[name] })),
    ...promptStreams(shell),
  });
  return prompts.isCancel(answer) ? throwCanceled() : answer;
}

/** The prompt's value for a project without an example. */
const none = "none";

async function askExample(shell: Shell): Promise<ExampleName | undefined> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.select<ExampleName | typeof none>({
    message: "Start from an example?",
    options: [
      { value: none, label: none, hint: "a small handler to start with" },
      ...exampleNames.map((name) => ({ value: name, label: name, hint: projectExamples[name].purpose })),
    ],
    ...promptStreams(shell),
  });
  if (prompts.isCancel(answer)) return throwCanceled();
  return answer === none ? undefined : answer;
}

function throwCanceled(): never {
  throw usageError("Canceled. Nothing was created.");
}

function nextSteps({
  path,
  directory,
  name,
  template,
  example,
  hasWorkflow,
  fileCount,
}: Project & { path: string; directory: string; name: string; hasWorkflow: boolean; fileCount: number }): string {
  const origin = example ? `template ${template} and example ${example}` : `template ${template}`;
  return [
    `Created ${fileCount} files from ${origin} in ${plainText(directory)}`,
    // Print the name only if it differs from the folder name.
    ...(name === basename(directory) ? [] : [`Name in package.json: ${name}`]),
    "",
    ...(directory === resolve() ? [] : [`  cd ${toShellWord(plainText(path))}`]),
    "  npm install",
    "  npm test",
    ...(example ? runExample(example) : runTemplate),
    "",
    ...(template === "space"
      ? [
          "Edit the handler in server.ts, then deploy it to a Space. Run the command again after each edit:",
          "",
          `  npx hub-webhooks deploy me/${name.replace(/^@.*\//, "")}`,
          "",
          ...(hasWorkflow ? workflowSettings : []),
          ...spaceInbox,
        ]
      : ["Edit the handler in server.ts. README.md explains how to deploy to a server."]),
  ].join("\n");
}

const workflowSettings = [
  "After that, .github/workflows/deploy.yml deploys each push to main. It begins with the settings that it needs on GitHub.",
  "",
];

const spaceInbox = [
  "A Space loses its disk at every restart. To keep the deliveries of background endpoints, set these secrets of the Space:",
  "",
  "  INBOX_URL               a Storage Bucket, such as hf://buckets/me/my-inbox",
  "  AWS_ACCESS_KEY_ID       S3 credentials, which you generate from an access token",
  "  AWS_SECRET_ACCESS_KEY   in https://huggingface.co/settings/tokens",
];

const runTemplate = [
  "  npx hub-webhooks dev    # run with a local Hub, and reload on changes",
  ...inAnotherTerminal("trigger dataset:local-user/data"),
  "  npm start               # run without the local Hub",
];

function runExample(example: ExampleName): string[] {
  const environment = Object.entries(projectExamples[example].environment);
  return [
    "  npx hub-webhooks dev    # a dry run with a local Hub",
    ...inAnotherTerminal(projectExamples[example].trigger),
    `  npm start               # production${environment.length > 0 ? ", with these variables set:" : ""}`,
    ...(environment.length > 0 ? [""] : []),
    ...environment.map(([name, meaning]) => `  ${name.padEnd(22)}  ${meaning}`),
  ];
}

/**
 * Returns the command that sends a test event. The command needs another terminal, because the server keeps running in
 * the first terminal.
 */
function inAnotherTerminal(trigger: string): string[] {
  return ["  # in another terminal, send a test event:", `  npx hub-webhooks ${trigger}`];
}
