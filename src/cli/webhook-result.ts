import { maskUrl } from "../core/urls.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import { formatWatched } from "../payload/watch.ts";
import type { Column, Output, Result } from "./output.ts";

const stateColors: Readonly<Record<string, "green" | "yellow" | "red">> = {
  enabled: "green",
  disabled: "yellow",
  suspended: "red",
};

const columns: readonly Column[] = [
  { key: "id", title: "ID" },
  { key: "state", title: "State", color: (state) => stateColors[state] },
  { key: "target", title: "Target" },
  { key: "watched", title: "Watched" },
  { key: "domains", title: "Domains" },
  { key: "secret", title: "Secret" },
  { key: "lastTrigger", title: "Last trigger", empty: "never" },
];

/** Prints a list of webhooks, then how to create the first webhook or how to enable suspended webhooks. */
export function printWebhooks(output: Output, webhooks: readonly Webhook[]): void {
  output.printResult(webhookResult(webhooks, { json: webhooks.map(withoutSecrets) }));
  if (webhooks.length === 0) {
    output.log("No webhooks yet. To create one, run: npx hub-webhooks create --url https://… --watch model:owner/name");
  }
  logSuspended(output, webhooks);
}

/** Prints a webhook. If the webhook is suspended, also prints how to enable it. */
export function printWebhook(output: Output, webhook: Webhook): void {
  output.printResult({ ...webhookResult([webhook], { json: withoutSecrets(webhook) }), asBlocks: true });
  logSuspended(output, [webhook]);
}

/** Describes the URL or job that receives the deliveries of a webhook. */
export function describeDestination({ url, job, jobSourceId }: Webhook): string {
  if (url !== undefined) return maskUrl(url);
  if (jobSourceId !== undefined) return `copy of job ${jobSourceId}`;
  if (job === undefined) return "";
  const image = job.spaceId ?? job.dockerImage;
  // A job without an image is a command that a local Hub runs on its machine.
  return image === undefined ? `job on ${job.flavor}` : `job in ${image} on ${job.flavor}`;
}

/** Formats the watched items of a webhook as values of `--watch`. */
export function describeWatched({ watched }: Webhook): string {
  return formatWatched(watched).join(",");
}

function webhookResult(webhooks: readonly Webhook[], { json }: { json: unknown }): Result {
  return {
    json,
    quiet: webhooks.map(({ id }) => id),
    columns,
    rows: webhooks.map((webhook) => [
      webhook.id,
      stateOf(webhook),
      describeDestination(webhook),
      describeWatched(webhook),
      webhook.domains.join(","),
      isSecretSet(webhook) ? "set" : "not set",
      webhook.lastTriggerAt ?? "",
    ]),
  };
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
function isSecretSet(webhook: Webhook): boolean {
  if (webhook.secret !== undefined) return webhook.secret !== "";
  return "hasSecret" in webhook && webhook.hasSecret === true;
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
