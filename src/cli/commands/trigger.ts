import { InvalidArgumentError, Option } from "commander";
import { readJson } from "../../core/text.ts";
import { defaultLocalHubUrl } from "../../core/urls.ts";
import type { PayloadEdit } from "../../payload/samples.ts";
import { checkSecretOptions, readJsonFile } from "../input.ts";
import { type Invocation, stopSignal } from "../invocation.ts";
import { type CliCommand, helpHint, numberBetween, usageError } from "../usage.ts";
import { deliveriesResult, isFailed, isWithoutEffect, type TriggeredDelivery } from "./trigger/results.ts";
import type { TriggerOptions } from "./trigger/run-trigger.ts";

export function addTrigger(program: CliCommand, invocation: Invocation): void {
  const edits: PayloadEdit[] = [];
  const collect = (parse: (text: string) => PayloadEdit) => (text: string) => {
    edits.push(parse(text));
    return true;
  };
  program
    .command("trigger")
    .argument("[type:name]", "repository of the event; types: model, dataset, space, bucket, kernel")
    .description(
      "send a test event to the webhooks of a local Hub, or directly to --url; fails unless every response is 2xx",
    )
    .option(
      "--scope <scope>",
      "repo, repo.content, repo.config, discussion, discussion.comment, or a narrower scope (default: repo.content)",
    )
    .option("--action <action>", "create, delete, update, or move (default: depends on the scope)")
    .option(
      "--set <path=value...>",
      "set fields of the payload to JSON values; a value that is not valid JSON is used as text",
      collect(parseSet),
    )
    .option("--unset <path...>", "remove fields from the payload", collect(parseUnset))
    .option(
      "--file <file>",
      'merge this JSON file into the payload, or send a recorded payload ("-" for standard input)',
    )
    .option(
      "--add <path=file...>",
      "push these files to the local Hub, as path in the repository=local file",
      collectText,
    )
    .option("--delete <path...>", "push the deletion of these files to the local Hub", collectText)
    .option("--pr", "open a pull request instead of pushing to the main branch")
    .option("--ref <ref>", "push to this ref of the local Hub, such as refs/pr/1 or refs/heads/dev")
    .option("--url <url>", "send to this URL directly instead of to a local Hub")
    .option(
      "--secret <secret>",
      "secret for --url (default: secret of the dev session at this URL, else WEBHOOK_SECRET); visible in the shell history and process list",
    )
    .option("--secret-stdin", "read the secret for --url from standard input")
    .option("--repeat <number>", "number of events to send, 1 to 10000", numberBetween(1, 10_000), 1)
    .option("--concurrency <number>", "number of events to send in parallel, 1 to 100", numberBetween(1, 100), 1)
    .option("--dry-run", "show the payload without sending it, and its destinations if a local Hub is running")
    .withoutHubOptions(
      new Option(
        "--hub-url <url>",
        `URL of the local Hub (default: HF_ENDPOINT, else the local Hub that was started in this folder, else ${defaultLocalHubUrl})`,
      ),
    )
    .examples(
      "trigger dataset:me/data",
      "trigger dataset:me/data --scope repo.config --set updatedConfig.private=true repo.private=true",
      "trigger model:me/net --scope repo --action move --set movedTo.name=me/new",
      "trigger dataset:me/data --add data/train.csv=./bad.csv --delete old.csv",
      "trigger space:me/app --scope discussion.comment --set comment.content='@bot hello'",
      "trigger dataset:me/data --url http://127.0.0.1:7860/webhooks/retrain --repeat 100 --concurrency 10",
      "trigger --file recorded.json --dry-run",
    )
    .action(async (repo: string | undefined, options: TriggerOptions) => {
      checkOptions(options, { edits, invocation });
      const { runTrigger } = await import("./trigger/run-trigger.ts");
      await runTrigger({ repo, options, edits, invocation });
    });
}

function checkOptions(
  options: TriggerOptions,
  { edits, invocation }: { edits: readonly PayloadEdit[]; invocation: Invocation },
): void {
  const { hubOptions: hub } = invocation;
  const { url, secret, secretStdin, file, add, delete: deleted, pr, ref, scope, repeat } = options;
  if (add || deleted || pr || ref !== undefined) {
    if (url !== undefined) throw usageError("--add, --delete, --pr and --ref change a local Hub. Remove --url.");
    if (scope !== undefined) throw usageError("--add, --delete, --pr and --ref choose the scope. Remove --scope.");
    if (file !== undefined)
      throw usageError("--file describes another event. Remove --file, or --add, --delete, --pr and --ref.");
    if (pr && ref !== undefined) throw usageError("--pr opens a pull request with a ref of its own. Remove --ref.");
    if (edits.some(({ path }) => path.startsWith("updatedRefs"))) {
      throw usageError("--set updatedRefs changes only the payload, not the push. Use --ref instead.");
    }
    if (deleted && repeat > 1) throw usageError("Files can be deleted only once. Remove --repeat or --delete.");
  }
  if (url !== undefined && hub.hubUrl !== undefined) {
    throw usageError("--url sends without a Hub, so it cannot be combined with --hub-url. Remove one of them.");
  }
  if (url === undefined && (secret !== undefined || secretStdin)) {
    throw usageError(
      "A secret requires --url. To set the secret of a webhook on the local Hub, run: npx hub-webhooks update ID --secret-stdin",
    );
  }
  checkSecretOptions(options);
  if (file === "-" && secretStdin) {
    throw usageError("--file - and --secret-stdin both read standard input. Pass the payload as a file.");
  }
}

function collectText(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

/**
 * Parses `--set path=value`. The value is parsed as JSON; if it is not valid JSON, it is used as text.
 *
 * @throws `InvalidArgumentError` if the text does not have the form `path=value`.
 */
function parseSet(text: string): PayloadEdit {
  const equals = text.indexOf("=");
  if (equals === -1) {
    throw new InvalidArgumentError(
      isRepoName(text)
        ? "This looks like a repository. Put the repository before --set."
        : 'Use path=value, such as "repo.private=true" or "updatedRefs.0.ref=refs/heads/dev".',
    );
  }
  return { path: parsePath(text.slice(0, equals)), value: parseValue(text.slice(equals + 1)) };
}

/**
 * Parses `--unset path`. A separate option is needed because `--set` cannot remove a field: an empty value is the empty
 * string, and `null` is null.
 *
 * @throws `InvalidArgumentError` for an invalid path.
 */
function parseUnset(text: string): PayloadEdit {
  if (isRepoName(text)) {
    throw new InvalidArgumentError("This looks like a repository. Put the repository before --unset.");
  }
  if (text.includes("=")) throw new InvalidArgumentError('Use only the path, such as "repo.headSha".');
  return { path: parsePath(text), remove: true };
}

function isRepoName(text: string): boolean {
  return /^[a-z]+:[^/=]+\/[^/=]+$/.test(text);
}

function parsePath(path: string): string {
  if (path.split(".").every((key) => key !== "")) return path;
  throw new InvalidArgumentError('Separate the keys of a path with dots, such as "repo.private".');
}

function parseValue(text: string): unknown {
  const value = readJson(text);
  return value === undefined ? text : value;
}

export function addScenario(program: CliCommand, invocation: Invocation): void {
  const scenario = program
    .command("scenario")
    .withoutHubOptions()
    .description("let things happen on a local Hub, as a JSON file lists them");
  scenario
    .command("run")
    .argument("<file>", 'JSON file ("-" for standard input), such as {"events": [{"repo": …, "event": …, "files": …}]}')
    .description("trigger the events of a file one after the other on a local Hub; fails unless every response is 2xx")
    .withoutHubOptions(
      new Option("--hub-url <url>", `URL of the local Hub (default: as for trigger, ${defaultLocalHubUrl} at last)`),
    )
    .showHelpAfterError(helpHint("scenario", "run"))
    .examples("scenario run bad-csv.json")
    .action((file: string) => runScenario(file, invocation));
}

async function runScenario(file: string, invocation: Invocation): Promise<void> {
  const { shell, output } = invocation;
  const content = await readJsonFile({ option: "<file>", file, shell });
  const [{ LocalHubSender }, { findLocalHub }, { parseScenario }] = await Promise.all([
    import("./trigger/local-hub-sender.ts"),
    import("./trigger/run-trigger.ts"),
    import("../../local-hub/events/event-request.ts"),
  ]);
  const events = parseScenario(content);
  const hubUrl = await findLocalHub(invocation);
  const signal = stopSignal(shell);
  const deliveries: TriggeredDelivery[] = [];
  const advice = new Set<string>();
  for (const [index, event] of events.entries()) {
    const sender = await LocalHubSender.connect({ event, hubUrl });
    const { repo, event: what } = event;
    output.log(`${index + 1} of ${events.length}: ${what.scope} ${what.action} of ${repo.type}:${repo.name}`);
    const outcome = await sender.trigger(signal).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    if (outcome === undefined) {
      output.log(`Stopped after ${index} of ${events.length} events.`);
      invocation.exitCode = 1;
      break;
    }
    deliveries.push(...outcome.deliveries);
    for (const line of sender.advise(outcome)) advice.add(line);
    if (isWithoutEffect(outcome) && !event.silent) output.log("  No webhook fired.");
  }
  output.printResult(deliveriesResult(deliveries, { json: { events: events.length, deliveries } }));
  for (const line of advice) output.log(line);
  if (deliveries.some(isFailed)) invocation.exitCode = 1;
}
