import { basename, resolve } from "node:path";
import { toShellWord } from "../../../core/escape.ts";
import { plainText } from "../../../core/terminal-text.ts";
import { canAsk } from "../../confirm.ts";
import type { Invocation } from "../../invocation.ts";
import { readVersion } from "../../own-package.ts";
import type { Shell } from "../../shell.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import { checkExample, type ExampleName, exampleNames, examples, withExample } from "./example.ts";
import { checkIsFree, writeFiles } from "./project-folder.ts";
import { checkName, nameFromFolder } from "./project-name.ts";
import { readTemplate, type TemplateName, templateNames, templatePurposes } from "./template.ts";

/** The options of `hub-webhooks init`, as commander reads them. */
export interface InitCommandOptions {
  template?: TemplateName;
  example?: string;
  name?: string;
}

/** One run of `hub-webhooks init`. */
export interface InitRun {
  /** As the user gave it. */
  directory: string | undefined;
  options: InitCommandOptions;
  invocation: Invocation;
}

/**
 * Makes a project, and says what to do next. What is not given is asked for on a terminal.
 *
 * @throws `ARGUMENT_INVALID`, `FOLDER_UNUSABLE`.
 */
export async function runInit({ directory: given, options, invocation }: InitRun): Promise<void> {
  const { output, shell } = invocation;
  // Before any question: nobody is to answer in vain.
  if (options.name !== undefined) checkName(options.name);
  const named = options.example === undefined ? undefined : checkExample(options.example);
  const path = given ?? (await askDirectory(shell));
  // As of a variable that is not set: this folder is not what was meant.
  if (path === "")
    throw wrongUsage("The folder has no name: give one, as in hub-webhooks init my-bot, or . for this one.");
  const directory = resolve(path);
  await checkIsFree(directory);
  const { template, example } = await chooseKind(options, { named, shell });
  const name = options.name ?? nameFromFolder(basename(directory));

  const blank = await readTemplate(template, { name, version: readVersion() });
  const files = example === undefined ? blank : await withExample(blank, example);
  await writeFiles(directory, files);

  if (output.format === "json") {
    const json = { directory, template, ...(example && { example }), files: [...files.keys()] };
    return output.result({ json, quiet: [], columns: [], rows: [] });
  }
  if (output.format === "quiet") return output.write(plainText(directory));
  output.write(nextSteps({ path, directory, name, template, example, fileCount: files.size }));
}

interface Kind {
  template: TemplateName;
  example: ExampleName | undefined;
}

/** Whoever is asked for the template has not told all, and is asked for an example as well. */
async function chooseKind(
  { template }: InitCommandOptions,
  { named: example, shell }: { named: ExampleName | undefined; shell: Shell },
): Promise<Kind> {
  if (template !== undefined) return { template, example };
  const chosen = await askTemplate(shell);
  return { template: chosen, example: example ?? (await askExample(shell)) };
}

async function askDirectory(shell: Shell): Promise<string> {
  if (!canAsk(shell)) {
    throw wrongUsage("Nothing says where the project goes: give a folder, as in hub-webhooks init my-bot.");
  }
  const prompts = await import("@clack/prompts");
  const answer = await prompts.text({
    message: "Where does the project go? A folder that is new or empty.",
    placeholder: "my-bot",
    defaultValue: "my-bot",
    input: shell.stdin,
    output: shell.stderr,
  });
  return prompts.isCancel(answer) ? stopped() : answer;
}

async function askTemplate(shell: Shell): Promise<TemplateName> {
  if (!canAsk(shell)) {
    const choices = templateNames.map((name) => `--template ${name} for ${templatePurposes[name]}`);
    throw wrongUsage(`Nothing says where the project is to run: give ${choices.join(", or ")}.`);
  }
  const prompts = await import("@clack/prompts");
  const answer = await prompts.select({
    message: "Where is it to run?",
    options: templateNames.map((name) => ({ value: name, label: name, hint: templatePurposes[name] })),
    input: shell.stdin,
    output: shell.stderr,
  });
  return prompts.isCancel(answer) ? stopped() : answer;
}

/** What the select of an example says for a project without one. */
const none = "none";

async function askExample(shell: Shell): Promise<ExampleName | undefined> {
  const prompts = await import("@clack/prompts");
  const answer = await prompts.select<ExampleName | typeof none>({
    message: "Which example does it begin with?",
    options: [
      { value: none, label: none, hint: "a small handler of your own to begin with" },
      ...exampleNames.map((name) => ({ value: name, label: name, hint: examples[name].purpose })),
    ],
    input: shell.stdin,
    output: shell.stderr,
  });
  if (prompts.isCancel(answer)) return stopped();
  return answer === none ? undefined : answer;
}

function stopped(): never {
  throw wrongUsage("The question was not answered, and nothing was written.");
}

interface Made {
  /** As the user gave it. */
  path: string;
  directory: string;
  name: string;
  template: TemplateName;
  example: ExampleName | undefined;
  fileCount: number;
}

function nextSteps({ path, directory, name, template, example, fileCount }: Made): string {
  const where = template === "space" ? "into a Space" : "onto a server";
  const origin = example ? `the example ${example} and the template ${template}` : `the template ${template}`;
  return [
    `A project from ${origin}, ${fileCount} files: ${plainText(directory)}`,
    // What was made of the folder's name; of one that was given, it says nothing new.
    ...(name === basename(directory) ? [] : [`Its name in package.json: ${name}`]),
    "",
    ...(directory === resolve() ? [] : [`  cd ${toShellWord(plainText(path))}`]),
    "  npm install",
    "  npm test",
    ...(example ? runExample(example) : runTemplate),
    "",
    `server.ts has the handler. README.md says how to bring it ${where}.`,
  ].join("\n");
}

const runTemplate = [
  "  npx hub-webhooks dev    # with a Hub on this machine, while you write it",
  ...inAnotherTerminal("trigger dataset:local-user/data"),
  "  npm start               # without that Hub",
];

function runExample(example: ExampleName): string[] {
  const environment = Object.entries(examples[example].environment);
  return [
    "  npx hub-webhooks dev    # a dry run, with a Hub on this machine",
    ...inAnotherTerminal(examples[example].trigger),
    `  npm start               # for real${environment.length > 0 ? ", with these variables set:" : ""}`,
    ...(environment.length > 0 ? [""] : []),
    ...environment.map(([name, meaning]) => `  ${name.padEnd(22)}  ${meaning}`),
  ];
}

/** It goes where the server runs on. */
function inAnotherTerminal(trigger: string): string[] {
  return ["  # in another terminal, let something happen:", `  npx hub-webhooks ${trigger}`];
}
