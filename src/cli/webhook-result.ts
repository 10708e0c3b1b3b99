import { maskUrl } from "../core/urls.ts";
import type { Webhook } from "../hub/webhooks/schemas.ts";
import type { Column, Output, Result } from "./output.ts";

const stateColors: Readonly<Record<string, "green" | "yellow" | "red">> = {
  enabled: "green",
  disabled: "yellow",
  suspended: "red",
};

const columns: readonly Column[] = [
  { key: "id", title: "Id" },
  { key: "state", title: "State", color: (state) => stateColors[state] },
  { key: "target", title: "Target" },
  { key: "watched", title: "Watched" },
  { key: "domains", title: "Domains" },
  { key: "secret", title: "Secret" },
  { key: "lastTrigger", title: "Last trigger", empty: "never" },
];

/** Writes a list of webhooks, or says how to create the first one, and how to resume the suspended ones. */
export function writeWebhooks(output: Output, webhooks: readonly Webhook[]): void {
  output.result(webhookResult(webhooks, { json: webhooks.map(withoutSecrets) }));
  if (webhooks.length === 0) {
    output.say("There are no webhooks yet. Create one: hub-webhooks create --url https://… --watch model:owner/name");
  }
  sayRemedies(output, webhooks);
}

/** Writes one webhook, and how to resume it where it is suspended. */
export function writeWebhook(output: Output, webhook: Webhook): void {
  output.result({ ...webhookResult([webhook], { json: withoutSecrets(webhook) }), asBlocks: true });
  sayRemedies(output, [webhook]);
}

/** The URL, job or Space that a webhook's deliveries go to, for people. */
export function describeTarget({ url, job, jobSourceId }: Webhook): string {
  if (url !== undefined) return maskUrl(url);
  if (jobSourceId !== undefined) return `job like ${jobSourceId}`;
  if (job === undefined) return "";
  const image = job.spaceId ?? job.dockerImage;
  // Without an image it is a command, as a local Hub runs it on its own machine.
  return image === undefined ? `job on ${job.flavor}` : `job in ${image} on ${job.flavor}`;
}

/** What a webhook watches, as `--watch` takes it. */
export function describeWatched({ watched }: Webhook): string {
  return watched.map(({ type, name }) => `${type}:${name}`).join(",");
}

function webhookResult(webhooks: readonly Webhook[], { json }: { json: unknown }): Result {
  return {
    json,
    quiet: webhooks.map(({ id }) => id),
    columns,
    rows: webhooks.map((webhook) => [
      webhook.id,
      stateOf(webhook),
      describeTarget(webhook),
      describeWatched(webhook),
      webhook.domains.join(","),
      isSecretSet(webhook) ? "set" : "not set",
      webhook.lastTriggerAt ?? "",
    ]),
  };
}

/** The Hub's object without the secret. The job of an answer has its secrets by name only. */
function withoutSecrets(webhook: Webhook): object {
  const { secret: _secret, ...rest } = webhook;
  return {
    ...rest,
    ...(webhook.url !== undefined && { url: maskUrl(webhook.url) }),
    secretIsSet: isSecretSet(webhook),
  };
}

/** A Hub that hides the secret may say `hasSecret` in its place. */
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

function sayRemedies(output: Output, webhooks: readonly Webhook[]): void {
  for (const { id } of webhooks.filter(isSuspended)) {
    output.say(`Webhook ${id} is suspended: its deliveries failed. Mend its receiver, then: hub-webhooks enable ${id}`);
  }
}
