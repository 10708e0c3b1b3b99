import { resolve } from "node:path";
import { WebhookError } from "../../core/errors.ts";
import { plainText } from "../../core/terminal.ts";
import type { DeployEvent, DeployOptions } from "../../deploy/deploy.ts";
import { canPrompt, confirm, promptSecret } from "../input.ts";
import { type Invocation, type Shell, stopSignal } from "../invocation.ts";
import { type CliCommand, usageError } from "../usage.ts";

interface DeployCommandOptions {
  folder: string;
  envFile?: string;
  inbox?: string;
  public?: boolean;
  dryRun?: boolean;
  run?: boolean;
  saveEnv?: boolean;
}

type LogOptions = { folder: string; build?: boolean; follow?: boolean };

export function addDeploy(program: CliCommand, invocation: Invocation): void {
  const deploy = program
    .command("deploy")
    .argument("[space]", "the Space, as owner/name (default: the one of the last deployment from this folder)")
    .description("deploy the bot in this folder to a Space, and prove that deliveries arrive")
    .option("--folder <path>", "folder of the project", ".")
    .option("--env-file <file>", "set all variables in this file as secrets (default: the known ones in .env)")
    .option("--inbox <place>", "bucket or disk (default: bucket, if there are S3 credentials)")
    .option("--public", "make the Space public without a question (default: protected, if your plan allows it)")
    .option("--dry-run", "show the changes without making them")
    .option("--run", "let the test delivery run the handlers")
    .option("--save-env", "keep generated secrets in .env (default: prompts)")
    .option("--no-save-env", "do not keep generated secrets")
    .examples(
      "deploy me/my-bot",
      "deploy --dry-run",
      "deploy me/my-bot --yes --save-env --env-file .env.production",
      "deploy logs --build --follow",
      "deploy rotate-secret",
    )
    .action((space: string | undefined, options: DeployCommandOptions) => run(invocation, { space, options }));

  // The options of the parent command are read wherever they stand.
  const folderOption = ["--folder <path>", "folder of the project", "."] as const;
  deploy
    .command("status")
    .argument("[space]", "the Space, as owner/name")
    .description("show whether the Space runs")
    .option(...folderOption)
    .action((space: string | undefined, _options: LogOptions, command: CliCommand) =>
      printStatus(invocation, { space, options: command.optsWithGlobals() }),
    );
  deploy
    .command("logs")
    .argument("[space]", "the Space, as owner/name")
    .description("print the log of the Space")
    .option(...folderOption)
    .option("--build", "print the log of the build instead")
    .option("--follow", "go on until stopped")
    .action((space: string | undefined, _options: LogOptions, command: CliCommand) =>
      printLogs(invocation, { space, options: command.optsWithGlobals() }),
    );
  deploy
    .command("rotate-secret")
    .argument("[space]", "the Space, as owner/name")
    .description("replace the secret on the Space and on its webhooks without refusing a delivery")
    .option(...folderOption)
    .option("--save-env", "keep the new secret in .env (default: prompts)")
    .option("--no-save-env", "do not keep the new secret")
    .action((space: string | undefined, _options: DeployCommandOptions, command: CliCommand) =>
      run(invocation, { space, options: command.optsWithGlobals(), rotates: true }),
    );
}

async function run(
  invocation: Invocation,
  { space, options, rotates = false }: { space: string | undefined; options: DeployCommandOptions; rotates?: boolean },
): Promise<void> {
  const { shell, output } = invocation;
  const { inbox, dryRun, run: runsHandlers, saveEnv, envFile, public: isPublic } = options;
  if (inbox !== undefined && inbox !== "bucket" && inbox !== "disk") {
    throw usageError(`Unknown place for the inbox "${inbox}". Use --inbox bucket or --inbox disk.`);
  }
  const folder = resolve(options.folder);
  if (space !== undefined && !/^[^/]+\/[^/]+$/.test(space)) {
    throw usageError(`"${space}" is neither a Space nor a command. Use owner/name, or status, logs, or rotate-secret.`);
  }
  const { deploy, rotateSecret } = await import("../../deploy/deploy.ts");
  const { findServerFile } = await import("../../server-file/find-server-file.ts");
  const { describeServerFile } = await import("../../server-file/server-process.ts");
  const signal = stopSignal(shell);
  const prompts = canPrompt(shell) && !invocation.skipsPrompts;
  const started: DeployOptions = {
    ...{ client: await invocation.connect({ attempts: 8 }), folder, space, inbox, dryRun, runsHandlers },
    ...{ savesSecrets: saveEnv, isPublic, environmentFile: envFile, signal },
    describe: () => describeServerFile(findServerFile({ folder }), { signal }),
    async confirm(question) {
      if (invocation.skipsPrompts) return true;
      if (prompts) return confirm(shell, question);
      throw usageError(`There is no terminal for the question: ${question} Add --yes, or answer with an option.`);
    },
    async askFor(name, why) {
      if (!prompts) return undefined;
      return (await promptSecret(shell, `${name}, ${why} (empty: none)`)) || undefined;
    },
  };
  const steps = rotates ? rotateSecret(started) : deploy(started);
  for (;;) {
    const { done, value } = await steps.next().catch((error: unknown) => {
      if (output.isText) showProgress(shell, "");
      if (!signal.aborted) throw error;
      throw new WebhookError("Canceled. Run the command again to go on.", { code: "DEPLOY_FAILED" });
    });
    if (!done) print(invocation, value);
    else if (value) return printEnd(invocation, value);
    else return output.isText ? output.print("Nothing was changed. Run the command without --dry-run.") : undefined;
  }
}

/** Replaces one line on a terminal. Elsewhere, it would only be noise. */
function showProgress({ stderr }: Shell, message: string): void {
  if (stderr.isTTY) stderr.write(`\r${message}\u001b[K`);
}

const styles = {
  planned: { mark: "+", color: "green" },
  done: { mark: "✓", color: "green" },
  unchanged: { mark: "=", color: undefined },
  warning: { mark: "!", color: "yellow" },
  next: { mark: "→", color: "yellow" },
  log: { mark: " ", color: undefined },
} as const;

function print({ output, shell }: Invocation, event: DeployEvent): void {
  const { step, status, message } = event;
  if (!output.isText) {
    output.print(JSON.stringify(event));
    return;
  }
  showProgress(shell, status === "progress" ? message : "");
  if (status === "progress") return;
  const { mark, color } = styles[status];
  const line = `${mark} ${step.padEnd("webhooks".length)}  ${message}`;
  output.print(color ? output.colorize(line, color) : line);
}

function printEnd({ output }: Invocation, { url }: { url: string }): void {
  const consoleUrl = `${url}/_console/`;
  const text = [
    `\nDeployed: ${url}`,
    `Console:  ${consoleUrl}    sign in with CONSOLE_TOKEN`,
    "A change of what an endpoint watches appears there as a delivery. After an edit, run deploy again.",
  ];
  output.print(output.isText ? text.join("\n") : JSON.stringify({ step: "end", status: "done", url, consoleUrl }));
}

async function openSpace(
  invocation: Invocation,
  { space, options }: { space: string | undefined; options: LogOptions },
  signal?: AbortSignal,
) {
  const { findDeployedSpace, RemoteSpace } = await import("../../deploy/remote-space.ts");
  const name = space ?? (await findDeployedSpace(resolve(options.folder)));
  if (name === undefined) throw usageError('Which Space? Add its name, such as "me/my-bot".');
  return new RemoteSpace(await invocation.connect(), name, { signal });
}

async function printStatus(
  invocation: Invocation,
  given: { space: string | undefined; options: LogOptions },
): Promise<void> {
  const space = await openSpace(invocation, given);
  const info = await space.info();
  if (!info) throw noSuchSpace(space.name);
  const runtime = await space.runtime();
  const { stage, errorMessage = "", hardware, sha = "" } = runtime;
  const url = info.host ?? "";
  invocation.output.printResult({
    json: { space: space.name, url, ...runtime },
    quiet: [stage],
    asBlocks: true,
    columns: {
      space: "Space",
      stage: "Stage",
      reason: "Reason",
      address: "Address",
      hardware: "Hardware",
      commit: "Commit",
    },
    rows: [[space.name, stage, errorMessage, url, hardware?.current ?? hardware?.requested ?? "", sha.slice(0, 7)]],
  });
  if (isError(stage)) invocation.exitCode = 1;
}

function isError(stage: string): boolean {
  return /ERROR|NO_APP_FILE/.test(stage);
}

function noSuchSpace(name: string) {
  return usageError(`There is no Space ${name}. Deploy it: npx hub-webhooks deploy ${name}`);
}

/** The time without a new line after which a log is complete, because the Hub keeps the stream open. */
const quietMs = 1_000;
/** The time after which a log to which the Space keeps adding lines ends. */
const maxLogMs = 10_000;

async function printLogs(
  invocation: Invocation,
  given: { space: string | undefined; options: LogOptions },
): Promise<void> {
  const { build, follow } = given.options;
  const stop = new AbortController();
  void invocation.shell.untilStopped().then(() => stop.abort());
  const space = await openSpace(invocation, given, stop.signal);
  let [timer, limit]: (NodeJS.Timeout | undefined)[] = [];
  const endWhenQuiet = () => {
    clearTimeout(timer);
    if (!follow) timer = setTimeout(() => stop.abort(), quietMs);
  };
  const endBusyLog = () => {
    invocation.output.log("note: The Space keeps adding lines. To print all of them, add --follow.");
    stop.abort();
  };
  try {
    if (!(await space.info())) throw noSuchSpace(space.name);
    const { stage } = await space.runtime();
    if (!build && isError(stage) && stage !== "RUNTIME_ERROR")
      invocation.output.log(`note: The Space does not build (${stage}). To print the log of the build, add --build.`);
    const kind = build ? "build" : "run";
    const { signal } = stop;
    const lines = follow ? space.follow(kind, { signal }) : await space.logs(kind, { signal });
    endWhenQuiet();
    if (!follow) limit = setTimeout(endBusyLog, maxLogMs);
    for await (const line of lines) {
      endWhenQuiet();
      invocation.output.print(invocation.output.isText ? plainText(line) : JSON.stringify({ line }));
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    clearTimeout(timer);
    clearTimeout(limit);
  }
}
