import { HubError } from "../../../core/errors.ts";
import { plainJson } from "../../../core/terminal.ts";
import { defaultLocalHubUrl } from "../../../core/urls.ts";
import { createId, createSha } from "../../../local-hub/accounts.ts";
import { type ParsedEvent, serializeEvent } from "../../../local-hub/events/event-request.ts";
import type { PayloadEdit } from "../../../payload/samples.ts";
import { readSecretOption } from "../../input.ts";
import { type Invocation, type Output, type Shell, stopSignal } from "../../invocation.ts";
import { describeEvent, hubUrl as eventHubUrl, readPayloadFile, readPush } from "./event.ts";
import {
  addDelivery,
  createProgress,
  deliveriesResult,
  describeSummary,
  type EventSender,
  isFailed,
  isWithoutEffect,
  summarize,
  type TriggeredDelivery,
  type TriggerOutcome,
  type TriggerPreview,
  toListed,
} from "./results.ts";

/** The options of `trigger`, as commander parses them. */
export interface TriggerOptions {
  scope?: string;
  action?: string;
  file?: string;
  /** `path=file`, for each file to push. */
  add?: readonly string[];
  /** The paths of the files to delete. */
  delete?: readonly string[];
  /** Whether the files are in a new pull request. */
  pr?: boolean;
  ref?: string;
  url?: string;
  secret?: string;
  secretStdin?: boolean;
  repeat: number;
  concurrency: number;
  dryRun?: boolean;
}

/** One run of `hub-webhooks trigger`. */
export interface TriggerRun {
  /** The repository, as `type:name`. */
  repo: string | undefined;
  options: TriggerOptions;
  /** The values of `--set` and `--unset`, in the given order. */
  edits: readonly PayloadEdit[];
  invocation: Invocation;
}

/** Sends the event, or only shows it if `--dry-run` is given. */
export async function runTrigger(run: TriggerRun): Promise<void> {
  const sender = await openSender(run);
  if (sender === undefined) return;
  try {
    if (run.options.dryRun) await preview(sender, run.invocation);
    else await send(sender, run);
  } finally {
    sender.close?.();
  }
}

/** Returns `undefined` if the payload was printed without a local Hub, because `--dry-run` does not require one. */
async function openSender({ repo, options, edits, invocation }: TriggerRun): Promise<EventSender | undefined> {
  const { scope, action, url } = options;
  const { shell, output } = invocation;
  const file = options.file === undefined ? undefined : await readPayloadFile({ file: options.file, shell });
  const pushed = await readPush(options);
  const { event, warnings } = describeEvent(
    { repo, scope: pushed?.scope ?? scope, action, file, pushed: pushed?.fields, edits },
    { hasWebhooks: url === undefined },
  );
  for (const warning of warnings) output.log(`warning: ${warning}`);
  if (url !== undefined) {
    const { UrlSender } = await import("./url-sender.ts");
    return new UrlSender({ url, event, secret: await findSecret({ ...options, url }, shell) });
  }
  const [{ LocalHubSender }, hubUrl] = await Promise.all([import("./local-hub-sender.ts"), findLocalHub(invocation)]);
  try {
    return await LocalHubSender.connect({ event, hubUrl });
  } catch (error) {
    if (!options.dryRun || !HubError.isInstance(error) || error.code !== "HUB_UNREACHABLE") throw error;
    previewOffline(event, output);
    output.log(`note: No local Hub is running at ${hubUrl}, so the destinations are unknown.`);
    return undefined;
  }
}

/** Prints the payload of an event without its destinations. */
function previewOffline(event: ParsedEvent, output: Output): void {
  const bodyFor = serializeEvent(event, { hubUrl: eventHubUrl, createId, createSha });
  printPreview({ payload: JSON.parse(bodyFor(createId())), receivers: [], notFired: [] }, output);
}

function printPreview(preview: TriggerPreview, output: Output): void {
  if (output.format === "json") output.print(plainJson(preview, 2));
  else if (output.format !== "quiet") output.print(plainJson(preview.payload, 2));
}

/** Returns the URL of the local Hub to use: `--hub-url`, `HF_ENDPOINT`, or that of this folder. */
export async function findLocalHub({ hubOptions, shell, output }: Invocation): Promise<string> {
  const { findHubUrl } = await import("../../../hub/hub-url.ts");
  // An empty variable counts as unset.
  return findHubUrl(hubOptions.hubUrl || shell.env.HF_ENDPOINT || (await findDefaultHub(output)));
}

/** Returns the URL of the local Hub that `dev` or `hub` runs in this folder, or the default URL of a local Hub if none is running. */
async function findDefaultHub(output: Output): Promise<string> {
  const { findSessionHub } = await import("../../../dev/session-file.ts");
  const sessionHub = findSessionHub(process.cwd());
  if (sessionHub === undefined || sessionHub === defaultLocalHubUrl) return defaultLocalHubUrl;
  output.log(`note: Using ${sessionHub}, the local Hub that was started in this folder.`);
  return sessionHub;
}

async function findSecret(
  { url, secret, secretStdin }: TriggerOptions & { url: string },
  shell: Shell,
): Promise<string | undefined> {
  const given = await readSecretOption({ secret, secretStdin }, shell);
  if (given !== undefined) return given;
  const { findSessionSecret } = await import("../../../dev/session-file.ts");
  return findSessionSecret(url) ?? (shell.env.WEBHOOK_SECRET || undefined);
}

async function preview(sender: EventSender, invocation: Invocation): Promise<void> {
  const { output } = invocation;
  const previewed = await sender.preview();
  const { receivers, notFired } = previewed;
  printPreview(previewed, output);
  for (const { url, webhookId } of receivers) {
    output.log(`Would be sent to ${url}${webhookId === undefined ? "" : ` (webhook ${webhookId})`}.`);
  }
  if (receivers.length > 0) {
    for (const line of sender.advise({ deliveries: [], notFired, notified: [] })) output.log(line);
    return;
  }
  logAsError(output, sender.explainNothingSent(notFired));
  invocation.exitCode = 1;
}

/**
 * Sends an event up to `repeat` times. Stops when an event has no effect, because the next event would have no effect either, and at any
 * error except a failed delivery. Prints the results until then.
 */
async function send(sender: EventSender, { options: { repeat, concurrency }, invocation }: TriggerRun): Promise<void> {
  const { output, shell } = invocation;
  const signal = stopSignal(shell);
  const failed = new AbortController();
  // Running events are not awaited after a stop.
  const stopped = AbortSignal.any([signal, failed.signal]);
  const progress = repeat > 1 ? createProgress({ stream: shell.stderr, total: repeat }) : undefined;
  const deliveries: TriggeredDelivery[] = [];
  const advice = new Set<string>();
  const notified = new Set<string>();
  let explanation: readonly string[] = [];
  let [started, fired, failures] = [0, 0, 0];
  let hasNoEffect = false;
  let failure: unknown;

  const record = (outcome: TriggerOutcome) => {
    if (isWithoutEffect(outcome)) {
      hasNoEffect = true;
      explanation = sender.explainNothingSent(outcome.notFired);
    } else fired += 1;
    for (const delivery of outcome.deliveries) {
      addDelivery(deliveries, delivery, { all: !output.isText, failures });
      if (isFailed(delivery)) failures += 1;
    }
    for (const line of sender.advise(outcome)) advice.add(line);
    for (const user of outcome.notified) notified.add(user);
    progress?.show({ done: fired, failed: failures });
  };
  const work = async () => {
    while (started < repeat && !hasNoEffect && !stopped.aborted) {
      started += 1;
      try {
        record(await sender.trigger(stopped));
      } catch (error) {
        if (stopped.aborted) return;
        failure = error;
        failed.abort();
      }
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: Math.min(concurrency, repeat) }, work));
  progress?.clear();

  const summary = summarize(deliveries, { elapsedMs: performance.now() - startedAt });
  const listed = toListed(deliveries, { all: !output.isText });
  output.printResult(deliveriesResult(listed, { json: { deliveries: listed, notified: [...notified], summary } }));
  if (output.isText && repeat > 1) output.log(describeSummary(summary));
  if (fired < repeat && (repeat > 1 || signal.aborted)) output.log(`Stopped after ${fired} of ${repeat} events.`);
  if (notified.size > 0) output.log(`Users notified on the local Hub: ${[...notified].join(", ")}.`);
  if (explanation.length > 0) logAsError(output, explanation);
  else for (const line of advice) output.log(line);
  if (failures > 0 || fired < repeat) invocation.exitCode = 1;
  if (failure !== undefined) throw failure;
}

function logAsError(output: Output, [first, ...more]: readonly string[]): void {
  output.log(`error: ${first}`);
  for (const line of more) output.log(line);
}
