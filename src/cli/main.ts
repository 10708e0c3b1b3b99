import { CommanderError, Option } from "commander";
import { messageOf } from "../core/describe.ts";
import { HubError, WebhookError } from "../core/errors.ts";
import { packageVersion } from "../core/files.ts";
import { plainText } from "../core/terminal.ts";
import { maskUrl } from "../core/urls.ts";
import { addDeliveries } from "./commands/deliveries.ts";
import { addDeploy } from "./commands/deploy.ts";
import { addDev } from "./commands/dev.ts";
import { addDoctor } from "./commands/doctor.ts";
import { addHub } from "./commands/hub.ts";
import { addInbox } from "./commands/inbox.ts";
import { addInit } from "./commands/init.ts";
import { addCatchUp, addJob } from "./commands/job.ts";
import { addSync } from "./commands/sync.ts";
import { addScenario, addTrigger } from "./commands/trigger.ts";
import { addWebhookCommands } from "./commands/webhooks.ts";
import { extraStackLines, formats, type GlobalOptions, Invocation, processShell, type Shell } from "./invocation.ts";
import { CliCommand, helpHint, notEmpty } from "./usage.ts";

/** The commands, grouped and ordered as in the help. Most modules are imported only when a command runs. */
const commandGroups = {
  "Develop:": [addInit, addDev, addTrigger, addScenario, addHub],
  "Deploy:": [addDeploy, addDoctor],
  "Manage webhooks:": [addWebhookCommands, addSync],
  "Run:": [addDeliveries, addInbox, addCatchUp, addJob],
};

/** The width of the help if there is no terminal or the terminal reports a width of 0. */
const defaultHelpWidth = 100;

/** The exit code: 0 for success, 1 for failure, 2 for incorrect usage. */
export type ExitCode = 0 | 1 | 2;

/**
 * Runs the command line and returns its exit code. Never exits the process and never rejects. Errors are printed to
 * standard error with a remedy.
 */
export async function run(argv: readonly string[], shell: Shell = processShell()): Promise<ExitCode> {
  const program = createProgram(shell);
  const invocation = new Invocation({ shell, readOptions: () => program.opts<GlobalOptions>() });
  for (const [heading, addCommands] of Object.entries(commandGroups)) {
    program.commandsGroup(heading);
    for (const addCommand of addCommands) addCommand(program, invocation);
  }
  for (const command of program.commands) command.showHelpAfterError(helpHint(command.name()));
  try {
    await program.parseAsync(argv, { from: "user" });
    return invocation.exitCode;
  } catch (error) {
    return report(error, shell);
  }
}

function createProgram(shell: Shell): CliCommand {
  return new CliCommand("hub-webhooks")
    .description("Manage webhooks of the Hugging Face Hub, and develop webhook servers with a local Hub.")
    .version(packageVersion(), "-V, --version", "show the version")
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command]", "show the help of a command")
    .option(
      "--token <token>",
      "Hub access token (default: HF_TOKEN, else the token of `hf auth login`)",
      notEmpty("token"),
    )
    .option("--hub-url <url>", "URL of the Hub (default: HF_ENDPOINT, else https://huggingface.co)", notEmpty("URL"))
    .addOption(
      new Option("--format <format>", "output format (default: table on a terminal, tab-separated when piped)").choices(
        formats,
      ),
    )
    .option("-y, --yes", "skip confirmation prompts")
    .examples(
      "hub    # start a local Hub to try webhooks without an account",
      "create --url https://example.com/hook --watch dataset:me/data org:acme",
      "list",
    )
    .showHelpAfterError(helpHint())
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void shell.stdout.write(text),
      writeErr: (text) => void shell.stderr.write(text),
      outputError: (text, write) => write(`${plainText(maskUrl(withoutValues(text))).trimEnd()}\n`),
      getOutHelpWidth: () => shell.stdout.columns || defaultHelpWidth,
      getErrHelpWidth: () => shell.stderr.columns || defaultHelpWidth,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
}

/** Removes arguments and option values that commander quotes, because they can be part of a secret. */
function withoutValues(text: string): string {
  return text
    .replace(/^(error: too many arguments.* but got \d+): .*$/s, "$1. Quote values that contain spaces.")
    .replace(/^(error: unknown option '[^'=]+)=.*?('\n|'$)/s, "$1$2");
}

const usageErrorCodes: ReadonlySet<string> = new Set([
  "ARGUMENT_INVALID",
  "OPTION_INVALID",
  "HUB_TOKEN_INVALID",
  "VALUE_UNREADABLE",
]);

/** Prints an error that commander has not printed already, and returns the exit code. */
function report(error: unknown, shell: Shell): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const message = messageOf(error);
  shell.stderr.write(`error: ${plainText(message)}\n`);
  for (const line of serverFileStack(error)) shell.stderr.write(`${line}\n`);
  for (const line of nextSteps(error)) shell.stderr.write(`${plainText(line)}\n`);
  return WebhookError.isInstance(error) && usageErrorCodes.has(error.code) ? 2 : 1;
}

/** Returns the stack of an error that the server file threw. */
function serverFileStack(error: unknown): readonly string[] {
  if (!WebhookError.isInstance(error) || error.code !== "SERVER_FILE_INVALID") return [];
  return error.cause instanceof Error ? extraStackLines({ reason: error.message, stack: error.cause.stack }) : [];
}

/** Returns the options that resolve an error about unreadable fields, or how to report an unexpected error. */
function nextSteps(error: unknown): readonly string[] {
  if (!WebhookError.isInstance(error)) {
    return ["This is a bug in hub-webhooks. Please report it with the command and this message."];
  }
  if (!HubError.isInstance(error) || error.code !== "VALUE_UNREADABLE") return [];
  const secretStep = error.fields.includes("secret")
    ? ["Set the secret again with --secret-stdin or --secret, or remove it with --no-secret."]
    : [];
  const jobStep = error.fields.some((field) => field.startsWith("job"))
    ? ["Set the whole job again with --job FILE."]
    : [];
  return [...secretStep, ...jobStep];
}
