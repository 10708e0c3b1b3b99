import { PassThrough } from "node:stream";
import { run } from "../../src/cli/main.ts";

/** Lists of commands, below headings such as "Develop:". Only these lists have names without dashes. */
const commandLists = /\n(?!Arguments|Examples?)[A-Z][a-z ]*:\n( {2}\w.*?)\n(?=\n|$)/gs;

/**
 * Renders the page of the command line from the help texts. A command omits the options that it shares with its parents, the list of its
 * commands, whose sections follow, and its examples, because the guides show each command.
 */
export async function renderCommandLine(): Promise<string> {
  const commands = await readCommands([]);
  const pages = commands.map(({ words, help }) => {
    const heading = words.length === 0 ? "hub-webhooks" : `hub-webhooks ${words.join(" ")}`;
    const parents = commands.filter(
      (parent) => parent.words.length < words.length && parent.words.every((word, index) => word === words[index]),
    );
    const shared = new Set(parents.flatMap((parent) => entriesOf(parent.help)));
    const text = withoutShared(help, shared)
      .replaceAll(commandLists, "")
      .replace(/\nExamples?:\n.*$/s, "");
    return `## ${heading}\n\n\`\`\`text\n${text.trim()}\n\`\`\`\n`;
  });
  return `# Command line

Every command supports \`--format json\` for programs. Exit codes: 0 success, 1 failure, 2 wrong usage. Without a terminal,
commands do not prompt. The options of \`hub-webhooks\` and of \`hub-webhooks deliveries\` also apply to their commands. The help
of a command also shows examples:

\`\`\`sh
npx hub-webhooks --help
\`\`\`

${pages.join("\n")}`;
}

/** An option with its description, which can span several lines. */
const entryPattern = /^ {2}-.*\n(?: {4,}\S.*\n)*/gm;

/** The options in a help text, with single spaces. */
function entriesOf(help: string): string[] {
  return [...help.matchAll(entryPattern)].map(([entry]) => entry.replaceAll(/\s+/g, " "));
}

/** Removes options from a help text, and the headings that then have none. */
function withoutShared(help: string, shared: ReadonlySet<string>): string {
  return help
    .replaceAll(entryPattern, (entry) => (shared.has(entry.replaceAll(/\s+/g, " ")) ? "" : entry))
    .replaceAll(/\n(?:Global )?Options:\n(?=\n|$)/g, "");
}

interface CommandHelp {
  words: readonly string[];
  help: string;
}

/** The help of a command, followed by that of its subcommands. */
async function readCommands(words: readonly string[]): Promise<CommandHelp[]> {
  const help = await readHelp([...words, "--help"]);
  const names = [...help.matchAll(commandLists)]
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
