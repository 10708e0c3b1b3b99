/** The commands that manage webhooks on the Hub: list, info, create, update, enable, disable, delete, and replay. */
import { Option } from "commander";
import { maskUrl } from "../../core/urls.ts";
import type { WebhookJob, WebhookJobRequest } from "../../hub/jobs/definition.ts";
import type { Webhook } from "../../hub/webhooks/schemas.ts";
import type { WebhookChanges } from "../../hub/webhooks/webhooks.ts";
import { formatWatched, webhookDomains } from "../../payload/watch.ts";
import { requestConfirmation, requireConfirmable } from "../input.ts";
import { type Invocation, type ItemColumn, type Output, type Result, tableOf } from "../invocation.ts";
import { type CliCommand, usageError } from "../usage.ts";
import { addWebhookOptions, givenDestinations, readWebhookOptions, type WebhookOptions } from "../webhook-options.ts";
import { isSuccess } from "./trigger/results.ts";

const idDescription = "webhook ID, as shown by list";
const exampleId = "654bbbc16f2ec14d77f109cc";

/** Adds the commands that manage webhooks on the Hub. */
export function addWebhookCommands(program: CliCommand, invocation: Invocation): void {
  addList(program, invocation);
  addInfo(program, invocation);
  addCreate(program, invocation);
  addUpdate(program, invocation);
  addSetState(program, invocation, "enable");
  addSetState(program, invocation, "disable");
  addDelete(program, invocation);
  addReplay(program, invocation);
}

function addList(program: CliCommand, invocation: Invocation): void {
  program
    .command("list")
    .alias("ls")
    .description("list your webhooks")
    .examples("list", "list --format json", "list | cut -f 1,3    # piped: tab-separated, with a header")
    .action(async () => {
      const hub = await invocation.connect();
      printWebhooks(invocation.output, await hub.webhooks.list());
    });
}

function addInfo(program: CliCommand, invocation: Invocation): void {
  program
    .command("info")
    .argument("<id>", idDescription)
    .description("show a webhook")
    .examples(`info ${exampleId}`, `info ${exampleId} --format json`)
    .action(async (id: string) => {
      const hub = await invocation.connect();
      printWebhook(invocation.output, await hub.webhooks.get(id));
    });
}

function addCreate(program: CliCommand, invocation: Invocation): void {
  addWebhookOptions(program.command("create"), { domainNote: "default: both" })
    .description("create a webhook")
    .examples(
      "create --url https://me-bot.hf.space/webhooks/retrain --watch dataset:me/data",
      "create --url https://example.com/hook --watch org:acme user:me --domain discussion",
      "create --url https://example.com/hook --watch model:me/m --secret-stdin < secret.txt",
      "create --job job.json --watch dataset:me/data --domain repo",
    )
    .action(async (options: WebhookOptions) => {
      const { watch = [] } = options;
      if (givenDestinations(options).length === 0) {
        throw usageError("The destination is missing. Add --url, --job-source-id, or --job.");
      }
      if (watch.length === 0) {
        throw usageError("The watch list is missing. Add --watch type:name, such as --watch model:me/my-model.");
      }
      const described = await readWebhookOptions(options, invocation.shell);
      const hub = await invocation.connect();
      const webhook = await hub.webhooks.create({ domains: [...webhookDomains], ...described, watched: [...watch] });
      if (webhook.url !== undefined && described.secret === undefined) {
        invocation.output.log(
          `note: The webhook has no secret, so anyone who knows the URL can send requests to the server. To set a secret, run: npx hub-webhooks update ${webhook.id} --secret-stdin. Then set WEBHOOK_SECRET on the server to the same value.`,
        );
      }
      printWebhook(invocation.output, webhook);
    });
}

/** By default, commander treats the option as the negation of `--secret`, and the last of the two options silently wins. */
const noSecretOption = Object.assign(new Option("--no-secret", "remove the secret"), { negate: false });

function addUpdate(program: CliCommand, invocation: Invocation): void {
  addWebhookOptions(program.command("update").argument("<id>", idDescription), { domainNote: "replaces the list" })
    .addOption(noSecretOption)
    .description("update the given fields of a webhook")
    .examples(
      `update ${exampleId} --url https://example.com/hook`,
      `update ${exampleId} --watch model:me/a model:me/b    # replaces the list`,
      `update ${exampleId} --no-secret`,
    )
    .action(async (id: string, { noSecret, ...options }: WebhookOptions & { noSecret?: boolean }) => {
      if (!noSecret && Object.keys(options).length === 0) {
        throw usageError(
          "No changes given. Add --url, --job-source-id, --job, --watch, --domain, --secret, --secret-stdin, or --no-secret.",
        );
      }
      if (noSecret && (options.secret !== undefined || options.secretStdin)) {
        throw usageError("--no-secret cannot be combined with --secret or --secret-stdin. Remove one of them.");
      }
      const { job, ...changes } = await readWebhookOptions(options, invocation.shell);
      const hub = await invocation.connect();
      const webhook = await hub.webhooks.update(id, {
        ...changes,
        ...(job && { job: replaceJob(job, (await hub.webhooks.get(id)).job) }),
        ...(noSecret && { secret: null }),
      });
      printWebhook(invocation.output, webhook);
    });
}

const emptyJob = {
  spaceId: null,
  dockerImage: null,
  arguments: null,
  command: null,
  environment: null,
  arch: null,
  timeoutSeconds: null,
  attempts: null,
  labels: null,
  volumes: null,
  expose: null,
  ssh: null,
  resourceGroupId: null,
} satisfies Record<keyof Omit<WebhookJobRequest, "flavor" | "secrets">, null>;

/**
 * Sets every field that the file omits to `null`. The file describes the complete job, but the client merges changes
 * into the existing job.
 */
function replaceJob(job: WebhookJobRequest, before: WebhookJob | undefined): WebhookChanges["job"] {
  const removedSecrets = Object.fromEntries((before?.secrets ?? []).map((name) => [name, null]));
  return { ...emptyJob, ...job, secrets: job.secrets ? { ...removedSecrets, ...job.secrets } : null };
}

function addSetState(program: CliCommand, invocation: Invocation, name: "enable" | "disable"): void {
  program
    .command(name)
    .argument("<id>", idDescription)
    .description(name === "enable" ? "enable a disabled or suspended webhook" : "disable a webhook without deleting it")
    .examples(`${name} ${exampleId}`)
    .action(async (id: string) => {
      const hub = await invocation.connect();
      printWebhook(invocation.output, await hub.webhooks[name](id));
    });
}

function addDelete(program: CliCommand, invocation: Invocation): void {
  program
    .command("delete")
    .argument("<id>", idDescription)
    .description("delete a webhook permanently; prompts for confirmation unless --yes is given")
    .examples(`delete ${exampleId}`, `delete ${exampleId} --yes    # in a script`)
    .action(async (id: string) => {
      requireConfirmable(invocation, "delete");
      const hub = await invocation.connect();
      if (!invocation.skipsPrompts) {
        const webhook = await hub.webhooks.get(id);
        const question = `Permanently delete webhook ${webhook.id} (${describeWatched(webhook)} to ${describeDestination(webhook)})?`;
        if (!(await requestConfirmation(invocation, question))) return;
      }
      await hub.webhooks.delete(id);
      invocation.output.printResult({
        json: { id, deleted: true },
        quiet: [id],
        columns: { id: "ID", state: "State" },
        rows: [[id, "deleted"]],
        asBlocks: true,
      });
    });
}

function addReplay(program: CliCommand, invocation: Invocation): void {
  program
    .command("replay")
    .argument("<id>", idDescription)
    .argument("<log-id>", "delivery ID, as shown in the Activity tab of the webhook on the Hub")
    .description("send a delivery again, to the webhook's current URL; fails unless the response is 2xx")
    .examples(
      `replay ${exampleId} 65f2a1b07c3d4e5f6a7b8c9d`,
      `replay ${exampleId} 65f2a1b07c3d4e5f6a7b8c9d --format quiet    # only the status`,
    )
    .action(async (id: string, logId: string) => {
      const { output } = invocation;
      const hub = await invocation.connect();
      const { status } = await hub.webhooks.replay(id, logId);
      output.printResult({
        json: { id, logId, status },
        quiet: [String(status)],
        columns: {
          id: "Webhook",
          logId: "Delivery",
          status: { title: "Status", color: (text) => (isSuccess(Number(text)) ? "green" : "red") },
        },
        rows: [[id, logId, String(status)]],
        asBlocks: true,
      });
      if (isSuccess(status)) return;
      const answer = status === 502 ? "answered 502 or did not answer" : `answered ${status}`;
      output.log(`The server ${answer}. Fix the problem shown in the server's log, then replay the delivery again.`);
      invocation.exitCode = 1;
    });
}

const stateColors: Readonly<Record<string, "green" | "yellow" | "red">> = {
  enabled: "green",
  disabled: "yellow",
  suspended: "red",
};

const columns: Readonly<Record<string, ItemColumn<Webhook>>> = {
  id: { title: "ID", cell: ({ id }) => id },
  state: { title: "State", color: (state) => stateColors[state], cell: stateOf },
  target: { title: "Target", cell: describeDestination },
  watched: { title: "Watched", cell: describeWatched },
  domains: { title: "Domains", cell: ({ domains }) => domains.join(",") },
  secret: { title: "Secret", cell: (webhook) => (isSecretSet(webhook) ? "set" : "not set") },
  lastTrigger: { title: "Last trigger", empty: "never", cell: ({ lastTriggerAt }) => lastTriggerAt ?? "" },
};

/** Prints a list of webhooks, then how to create the first webhook or how to enable suspended webhooks. */
function printWebhooks(output: Output, webhooks: readonly Webhook[]): void {
  output.printResult(webhookResult(webhooks));
  if (webhooks.length === 0) {
    output.log("No webhooks yet. To create one, run: npx hub-webhooks create --url https://… --watch model:owner/name");
  }
  logSuspended(output, webhooks);
}

/** Prints a webhook. If the webhook is suspended, also prints how to enable it. */
function printWebhook(output: Output, webhook: Webhook): void {
  output.printResult({ ...webhookResult([webhook]), json: withoutSecrets(webhook), asBlocks: true });
  logSuspended(output, [webhook]);
}

/** Describes the URL or job that receives the deliveries of a webhook. */
function describeDestination({ url, job, jobSourceId }: Webhook): string {
  if (url !== undefined) return maskUrl(url);
  if (jobSourceId !== undefined) return `copy of job ${jobSourceId}`;
  if (job === undefined) return "";
  const image = job.spaceId ?? job.dockerImage;
  // A job without an image is a command that a local Hub runs on its machine.
  return image === undefined ? `job on ${job.flavor}` : `job in ${image} on ${job.flavor}`;
}

/** Formats the watched items of a webhook as values of `--watch`. */
function describeWatched({ watched }: Webhook): string {
  return formatWatched(watched).join(",");
}

function webhookResult(webhooks: readonly Webhook[]): Result {
  const json = webhooks.map(withoutSecrets);
  return { json, quiet: webhooks.map(({ id }) => id), ...tableOf(columns, webhooks) };
}

/** Returns a webhook without its secret. A job in it contains only the names of secrets. */
function withoutSecrets(webhook: Webhook): object {
  const { secret: _secret, ...rest } = webhook;
  return {
    ...rest,
    ...(webhook.url !== undefined && { url: maskUrl(webhook.url) }),
    secretIsSet: isSecretSet(webhook),
  };
}

/** Whether the webhook has a secret. Some Hubs return `hasSecret` instead of the secret. */
function isSecretSet({ secret, hasSecret }: Webhook): boolean {
  return secret === undefined ? hasSecret === true : secret !== "";
}

function isSuspended({ disabled }: Webhook): boolean {
  return disabled === "suspended-after-failure";
}

function stateOf(webhook: Webhook): string {
  if (isSuspended(webhook)) return "suspended";
  if (typeof webhook.disabled === "string") return webhook.disabled;
  return webhook.disabled ? "disabled" : "enabled";
}

function logSuspended(output: Output, webhooks: readonly Webhook[]): void {
  for (const { id } of webhooks.filter(isSuspended)) {
    output.log(
      `Webhook ${id} is suspended because its deliveries failed. Fix the server that receives the deliveries, then run: npx hub-webhooks enable ${id}`,
    );
  }
}
