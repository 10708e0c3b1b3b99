import type { Command } from "commander";
import type { WebhookError } from "../../core/errors.ts";
import { plainJson } from "../../core/terminal-text.ts";
import type { PayloadEdit } from "../../payload/edit.ts";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import type { Output } from "../output.ts";
import { readSecret } from "../read-input.ts";
import type { Shell } from "../shell.ts";
import { wrongUsage } from "../wrong-usage.ts";
import { numberBetween } from "./deliveries/delivery-options.ts";
import { parseSet, parseUnset } from "./trigger/event-edits.ts";
import type { TriggerTarget } from "./trigger/target.ts";

interface TriggerOptions {
  scope?: string;
  action?: string;
  file?: string;
  url?: string;
  secret?: string;
  secretStdin?: boolean;
  repeat: number;
  concurrency: number;
  dryRun?: boolean;
}

/** What an action of `trigger` has beside its own options. */
interface TriggerContext {
  invocation: Invocation;
  /** What was given as `--endpoint`. */
  endpoint: string | undefined;
  /** What `--set` and `--unset` say, in the order in which they were given. */
  edits: readonly PayloadEdit[];
}

/** Adds `hub-webhooks trigger`. */
export function addTrigger(program: Command, invocation: Invocation): void {
  const edits: PayloadEdit[] = [];
  const collect = (parse: (text: string) => PayloadEdit) => (text: string) => {
    edits.push(parse(text));
    return true;
  };
  program
    .command("trigger")
    .argument("[type:name]", "the repository on which it happens; types: model, dataset, space, bucket, kernel")
    .description(
      "let something happen on the local Hub (--endpoint, else HF_ENDPOINT, else http://127.0.0.1:5050), so that the webhooks that watch it fire, or send a delivery to a URL; fails unless every answer is 2xx",
    )
    .option(
      "--scope <scope>",
      "repo, repo.content, repo.config, discussion, discussion.comment or a narrower one (default: repo.content)",
    )
    .option("--action <action>", "create, delete, update, move (default: what fits the scope)")
    .option(
      "--set <path=value...>",
      "put a value into the payload; JSON where it can be read as JSON, else text",
      collect(parseSet),
    )
    .option("--unset <path...>", "take a field out of the payload", collect(parseUnset))
    .option(
      "--file <file>",
      'lay the fields of this JSON file over the payload, or send a recorded one ("-": standard input)',
    )
    .option("--url <url>", "send straight to this URL, without a Hub")
    .option(
      "--secret <secret>",
      "sent to --url (default: that of the dev session there, else WEBHOOK_SECRET); it shows in the shell's history and the process list",
    )
    .option("--secret-stdin", "read the secret from standard input: one line")
    .option("--repeat <number>", "let it happen so many times, 1 to 10000", numberBetween(1, 10_000), 1)
    .option("--concurrency <number>", "how many at once, 1 to 100", numberBetween(1, 100), 1)
    .option("--dry-run", "show the payload and who would get it, and send nothing")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks trigger dataset:me/data",
        "hub-webhooks trigger dataset:me/data --scope repo.config --set updatedConfig.private=true repo.private=true",
        "hub-webhooks trigger model:me/net --scope repo --action move --set movedTo.name=me/new",
        "hub-webhooks trigger space:me/app --scope discussion.comment --set comment.content='@bot hello'",
        "hub-webhooks trigger dataset:me/data --url http://127.0.0.1:7860/webhooks/retrain --repeat 100 --concurrency 10",
        "hub-webhooks trigger --file recorded.json --dry-run",
      ),
    )
    .action(async (repo: string | undefined, options: TriggerOptions) => {
      const context = { invocation, endpoint: invocation.hub.endpoint, edits };
      checkOptions(options, context);
      const target = await openTarget({ ...options, repo }, context);
      try {
        if (options.dryRun) await preview(target, context);
        else await send(target, options, context);
      } finally {
        target.close();
      }
    });
}

function checkOptions({ url, secret, secretStdin, file }: TriggerOptions, { endpoint }: TriggerContext): void {
  if (url !== undefined && endpoint !== undefined) {
    throw wrongUsage("--url sends without a Hub, and --endpoint is the address of one: give one of them.");
  }
  if (url === undefined && (secret !== undefined || secretStdin)) {
    throw wrongUsage(
      "A secret goes with --url; webhooks of the local Hub have their own: hub-webhooks update ID --secret-stdin.",
    );
  }
  if (secret !== undefined && secretStdin) {
    throw wrongUsage("--secret and --secret-stdin exclude each other: give one of them.");
  }
  if (file === "-" && secretStdin) {
    throw wrongUsage("--file - and --secret-stdin both read standard input: give the payload as a file.");
  }
}

async function openTarget(
  { repo, scope, action, file, url, ...options }: TriggerOptions & { repo: string | undefined },
  { invocation, endpoint, edits }: TriggerContext,
): Promise<TriggerTarget> {
  const { shell, output } = invocation;
  const [{ readPayloadFile }, { describeEvent }] = await Promise.all([
    import("./trigger/payload-file.ts"),
    import("./trigger/event.ts"),
  ]);
  const fields = file === undefined ? undefined : await readPayloadFile({ file, shell });
  const words = { repo, scope, action, file: fields, edits };
  const { event, doubts } = describeEvent(words, { hasWebhooks: url === undefined });
  for (const doubt of doubts) output.say(`warning: ${doubt}`);
  if (url !== undefined) {
    const { UrlTarget } = await import("./trigger/url-target.ts");
    return new UrlTarget({ url, event, secret: await secretFor({ ...options, url }, shell) });
  }
  const [{ LocalHubTarget }, { defaultEndpoint }, { findEndpoint }] = await Promise.all([
    import("./trigger/local-hub-target.ts"),
    import("./trigger/local-hub-request.ts"),
    import("../../hub/token.ts"),
  ]);
  // An empty variable counts as not set.
  const address = findEndpoint(endpoint || shell.env.HF_ENDPOINT || defaultEndpoint);
  return LocalHubTarget.connect({ event, endpoint: address });
}

async function secretFor(
  { url, secret, secretStdin }: Partial<TriggerOptions> & { url: string },
  shell: Shell,
): Promise<string | undefined> {
  const given = secretStdin ? await readSecret(shell) : secret;
  if (given === "") throw secretIsEmpty();
  if (given !== undefined) return given;
  const { findSessionSecret } = await import("../../dev/session-secret.ts");
  return findSessionSecret(url) ?? (shell.env.WEBHOOK_SECRET || undefined);
}

function secretIsEmpty(): WebhookError {
  return wrongUsage("The secret is empty: give one of a character or more, or leave the option out.");
}

async function preview(target: TriggerTarget, { invocation }: TriggerContext): Promise<void> {
  const { output } = invocation;
  const previewed = await target.preview();
  const { payload, receivers, notFired } = previewed;
  if (output.format === "json") output.write(plainJson(previewed, 2));
  else if (output.format !== "quiet") output.write(plainJson(payload, 2));
  for (const { url, webhookId } of receivers) {
    output.say(`Would be sent to ${url}${webhookId === undefined ? "" : ` (webhook ${webhookId})`}.`);
  }
  if (receivers.length > 0) {
    for (const line of target.advise({ deliveries: [], notFired, notified: [] })) output.say(line);
    return;
  }
  sayAsError(output, target.explainSilence(notFired));
  invocation.exitCode = 1;
}

async function send(target: TriggerTarget, { repeat, concurrency }: TriggerOptions, context: TriggerContext) {
  const { invocation } = context;
  const { output, shell } = invocation;
  const [{ isWithoutEffect }, { repeatTrigger }, { Tally }, { Progress }, result] = await Promise.all([
    import("./trigger/target.ts"),
    import("./trigger/repeat.ts"),
    import("./trigger/tally.ts"),
    import("./trigger/progress.ts"),
    import("./trigger/result.ts"),
  ]);
  const stop = new AbortController();
  shell.untilStopped().then(() => stop.abort());
  const tally = new Tally({ keepsAll: !output.isText });
  const progress = repeat > 1 ? new Progress({ stream: shell.stderr, total: repeat }) : undefined;
  const advice = new Set<string>();
  const notified = new Set<string>();
  let silence: readonly string[] = [];
  let fired = 0;
  const startedAt = performance.now();
  const { error } = await repeatTrigger({
    target,
    times: repeat,
    concurrency,
    signal: stop.signal,
    onOutcome: (outcome) => {
      if (isWithoutEffect(outcome)) silence = target.explainSilence(outcome.notFired);
      else fired += 1;
      for (const delivery of outcome.deliveries) tally.add(delivery);
      for (const line of target.advise(outcome)) advice.add(line);
      for (const user of outcome.notified) notified.add(user);
      progress?.show({ done: fired, failed: tally.failures });
    },
  });
  progress?.clear();
  const summary = tally.summary({ elapsedMs: performance.now() - startedAt });
  output.result(
    result.deliveriesResult(tally.listed, { json: { deliveries: tally.listed, notified: [...notified], summary } }),
  );
  if (output.isText && repeat > 1) output.say(result.describeSummary(summary));
  if (fired < repeat && (repeat > 1 || stop.signal.aborted)) output.say(`Stopped after ${fired} of ${repeat}.`);
  if (notified.size > 0) output.say(`Notified on the local Hub: ${[...notified].join(", ")}.`);
  if (silence.length > 0) sayAsError(output, silence);
  else for (const line of advice) output.say(line);
  if (tally.failures > 0 || fired < repeat) invocation.exitCode = 1;
  if (error !== undefined) throw error;
}

function sayAsError(output: Output, [first, ...more]: readonly string[]): void {
  output.say(`error: ${first}`);
  for (const line of more) output.say(line);
}
