import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { messageOf } from "../core/describe-error.ts";
import { HubError, WebhookError } from "../core/errors.ts";
import { plainText } from "../core/terminal-text.ts";
import { maskUrl } from "../core/urls.ts";
import { addCreate } from "./commands/create.ts";
import { addDelete } from "./commands/delete.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDev } from "./commands/dev.ts";
import { addDisable } from "./commands/disable.ts";
import { addEnable } from "./commands/enable.ts";
import { addHub } from "./commands/hub.ts";
import { addInfo } from "./commands/info.ts";
import { addInit } from "./commands/init.ts";
import { addJob } from "./commands/job.ts";
import { addList } from "./commands/list.ts";
import { addReplay } from "./commands/replay.ts";
import { addSync } from "./commands/sync.ts";
import { addTrigger } from "./commands/trigger.ts";
import { addUpdate } from "./commands/update.ts";
import { examples } from "./examples.ts";
import { type GlobalOptions, Invocation } from "./invocation.ts";
import { formats } from "./output.ts";
import { readVersion } from "./own-package.ts";
import { processShell, type Shell } from "./shell.ts";
import { framesOf } from "./stack-frames.ts";

/** Every command, in the order of the help. What a command needs beyond its options it imports when it runs. */
const commands = [
  addInit,
  addList,
  addInfo,
  addCreate,
  addUpdate,
  addEnable,
  addDisable,
  addDelete,
  addReplay,
  addSync,
  addDeliveries,
  addDev,
  addTrigger,
  addJob,
  addHub,
];

/** How wide help is where no terminal says it; some terminals say 0. */
const widthUnknown = 100;

/** 0: done. 1: failed. 2: used wrongly. */
export type ExitCode = 0 | 1 | 2;

/**
 * Runs the command line and returns its exit code. It never ends the process and never rejects: what goes wrong is told
 * on standard error, with what to do next.
 *
 * @example
 * ```ts
 * process.exitCode = await run(["list", "--format", "quiet"]);
 * ```
 */
export async function run(argv: readonly string[], shell: Shell = processShell()): Promise<ExitCode> {
  const program = createProgram(shell);
  const invocation = new Invocation({ shell, readOptions: () => program.opts<GlobalOptions>() });
  for (const addCommand of commands) addCommand(program, invocation);
  for (const command of program.commands) {
    command.showHelpAfterError(`See: ${program.name()} ${command.name()} --help`);
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return invocation.exitCode;
  } catch (error) {
    return tell(error, shell);
  }
}

function createProgram(shell: Shell): Command {
  return new Command("hub-webhooks")
    .description("Manage the webhooks of the Hugging Face Hub, and run a Hub on this machine to develop them.")
    .version(readVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command]", "show the help of a command")
    .option(
      "--token <token>",
      "access token of the Hub (default: HF_TOKEN, else the token file of `hf auth login`)",
      parseToken,
    )
    .option("--endpoint <url>", "address of the Hub (default: HF_ENDPOINT, else https://huggingface.co)")
    .addOption(
      new Option("--format <format>", "how results are written (default: table; tab-separated when piped)").choices(
        formats,
      ),
    )
    .option("-y, --yes", "answer yes to every question")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks list",
        "hub-webhooks create --url https://example.com/hook --watch dataset:me/data org:acme",
        "hub-webhooks hub    # a Hub on this machine, to try all of it without an account",
      ),
    )
    .showHelpAfterError("See: hub-webhooks --help")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      outputError: (text, write) => write(`${plainText(maskUrl(withoutValues(text))).trimEnd()}\n`),
      getOutHelpWidth: () => shell.stdout.columns || widthUnknown,
      getErrHelpWidth: () => shell.stderr.columns || widthUnknown,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
}

/** What commander quotes of arguments that it did not expect may be part of a secret. */
function withoutValues(text: string): string {
  return text
    .replace(/^(error: too many arguments.* but got \d+): .*$/s, "$1. Put quotes around what holds a space.")
    .replace(/^(error: unknown option '[^'=]+)=.*?('\n|'$)/s, "$1$2");
}

/** An empty one is most likely a variable that is not set: to act as somebody else then would be worse than to stop. */
function parseToken(token: string): string {
  if (token === "") throw new InvalidArgumentError("It is empty: leave the option out, or give a token.");
  return token;
}

const wrongUsageCodes: ReadonlySet<string> = new Set([
  "ARGUMENT_INVALID",
  "OPTION_INVALID",
  "HUB_TOKEN_INVALID",
  "VALUE_UNREADABLE",
]);

/** Says what went wrong, unless commander has said it, and decides the exit code. */
function tell(error: unknown, shell: Shell): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message = messageOf(error);
  shell.stderr.write(`error: ${plainText(message)}\n`);
  for (const frame of serverFileFrames(error)) shell.stderr.write(`${frame}\n`);
  for (const line of nextSteps(error)) shell.stderr.write(`${plainText(line)}\n`);
  return WebhookError.isInstance(error) && wrongUsageCodes.has(error.code) ? 2 : 1;
}

/** Where the user's file threw. */
function serverFileFrames(error: unknown): readonly string[] {
  if (!WebhookError.isInstance(error) || error.code !== "SERVER_FILE_INVALID") return [];
  return error.cause instanceof Error ? framesOf({ reason: error.message, stack: error.cause.stack }) : [];
}

/** Where an error speaks of arguments, the options that give them; where it is none of ours, what can be done about it. */
function nextSteps(error: unknown): readonly string[] {
  if (!WebhookError.isInstance(error))
    return ["That should not happen: please report it, with the command and this line."];
  if (!HubError.isInstance(error) || error.code !== "VALUE_UNREADABLE") return [];
  const aboutSecret = error.fields.includes("secret")
    ? ["Give the secret again with --secret-stdin or --secret, or remove it with --no-secret."]
    : [];
  const aboutJob = error.fields.some((field) => field.startsWith("job"))
    ? ["Give the whole job again with --job FILE."]
    : [];
  return [...aboutSecret, ...aboutJob];
}
