import { PassThrough } from "node:stream";
import { run } from "../../src/cli/main.ts";

/** Renders the page of the command line from the help texts. */
export async function renderCommandLine(): Promise<string> {
  const commands = await readCommands([]);
  const pages = commands.map(({ words, help }) => {
    const heading = words.length === 0 ? "hub-webhooks" : `hub-webhooks ${words.join(" ")}`;
    return `## ${heading}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`;
  });
  return `# Command line

Every command supports \`--format json\` for programs. Exit codes: 0 success, 1 failure, 2 wrong usage. Without a terminal,
commands do not prompt.

\`\`\`sh
npx hub-webhooks --help
\`\`\`

${pages.join("\n")}
## Next

- Send test events and read the log: [Local development](../guides/local-development.md).
- Manage webhooks step by step: [Manage webhooks](../guides/manage-webhooks.md).
`;
}

interface CommandHelp {
  words: readonly string[];
  help: string;
}

/** The help of a command, followed by that of its subcommands. */
async function readCommands(words: readonly string[]): Promise<CommandHelp[]> {
  const help = await readHelp([...words, "--help"]);
  // Commands are listed below headings such as "Develop:"; only lists of commands have names without dashes.
  const lists = help.matchAll(/\n(?!Arguments|Examples?)[A-Z][a-z ]*:\n(.*?)\n(?=\n|$)/gs);
  const names = [...lists]
    .flatMap(([, list = ""]) => [...list.matchAll(/^ {2}(\w[\w-]*)/gm)].map(([, name = ""]) => name))
    .filter((name) => name !== "help");
  const nested = await Promise.all(names.map((name) => readCommands([...words, name])));
  return [{ words, help }, ...nested.flat()];
}

async function readHelp(words: readonly string[]): Promise<string> {
  let help = "";
  const stdout = new PassThrough().on("data", (chunk) => {
    help += String(chunk);
  });
  await run(words, {
    stdin: new PassThrough().end(),
    stdout: Object.assign(stdout, { isTTY: false, columns: 100 }),
    stderr: Object.assign(new PassThrough().resume(), { isTTY: false, columns: 100 }),
    env: {},
    untilStopped: () => Promise.resolve(),
    stop() {},
  });
  return help;
}
