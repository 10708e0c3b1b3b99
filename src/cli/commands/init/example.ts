import { readdir, readFile } from "node:fs/promises";
import { suggest } from "../../../core/option-error.ts";
import { exampleFolder } from "../../own-package.ts";
import { wrongUsage } from "../../wrong-usage.ts";
import { joinReadme } from "./readme.ts";

/** What there is to know of an example before its files are read. */
interface Example {
  /** What it does, in a few words. */
  purpose: string;
  /** What lets it act in `dev`: the first that its README tries. */
  trigger: string;
  /** Whether its endpoint works in the background, so that its deliveries have to be kept somewhere. */
  isBackground: boolean;
  /** The variables without which its `start.ts` does not start, and what each is. */
  environment: Readonly<Record<string, string>>;
}

/** The examples that a project can begin with, by the name of their folder. */
export const examples = {
  "auto-retrain": {
    purpose: "starts a training job when a dataset was pushed to",
    trigger: "trigger dataset:local-user/data",
    isBackground: true,
    environment: {
      HF_TOKEN: "a token that may start jobs",
      JOB_NAMESPACE: "the user or organization that pays for them",
    },
  },
  "discussion-bot": {
    purpose: "replies to comments that mention it",
    trigger: 'trigger model:local-user/net --scope discussion.comment --set comment.content="@my-bot hello"',
    isBackground: true,
    environment: {
      HF_TOKEN: "a token of the bot's own account, which may write discussions",
      MODEL_NAME: "a model that can chat",
    },
  },
  "metadata-review": {
    purpose: "posts what a card lacks",
    trigger: "trigger dataset:local-user/data",
    isBackground: true,
    environment: {
      HF_TOKEN: "a token that may write discussions",
      BOT_NAME: "the name of the account that it belongs to",
    },
  },
  "private-to-public": {
    purpose: "opens a checklist where a repository was made public",
    trigger: "trigger dataset:local-user/data --scope repo.config --set updatedConfig.private=false",
    isBackground: true,
    environment: { HF_TOKEN: "a token that may write discussions" },
  },
  "trigger-training": {
    purpose: "calls a function of yours when a dataset was pushed to",
    trigger: "trigger dataset:local-user/data",
    isBackground: false,
    environment: {},
  },
} as const satisfies Readonly<Record<string, Example>>;

/** One of the examples that a project can begin with. */
export type ExampleName = keyof typeof examples;

/** The values of `--example`. */
export const exampleNames: readonly ExampleName[] = Object.keys(examples).filter(isExample);

/** @throws `ARGUMENT_INVALID`, with what there is, for a name that no example has. */
export function checkExample(name: string): ExampleName {
  if (isExample(name)) return name;
  throw wrongUsage(
    `There is no example ${JSON.stringify(name)}.${suggest(name, exampleNames)} Choose one of ${exampleNames.join(", ")}.`,
  );
}

function isExample(name: string): name is ExampleName {
  return Object.hasOwn(examples, name);
}

/** What of a template an example brings of its own. */
const replaced = ["server.ts", "start.ts", "server.test.ts"];

/** The files of a project from a template, with those of an example in the place of the template's server. */
export async function withExample(
  template: ReadonlyMap<string, string>,
  name: ExampleName,
): Promise<ReadonlyMap<string, string>> {
  const files = new Map([...template].filter(([file]) => !replaced.includes(file)));
  const folder = exampleFolder(name);
  for (const file of await readdir(folder)) {
    if (!file.endsWith(".ts")) continue;
    files.set(file, await readFile(new URL(file, folder), "utf8"));
  }
  const readme = joinReadme({
    example: await readFile(new URL("README.md", folder), "utf8"),
    template: template.get("README.md") ?? "",
    endpoint: name.replaceAll("-", "_"),
    variables: Object.keys(examples[name].environment),
    isBackground: examples[name].isBackground,
  });
  return new Map([...files.set("README.md", readme)].sort(([left], [right]) => (left < right ? -1 : 1)));
}
