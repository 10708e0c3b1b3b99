import { type Command, Option } from "commander";
import type { WebhookJob, WebhookJobRequest } from "../../hub/jobs.ts";
import type { WebhookChanges } from "../../hub/webhooks/changes.ts";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { addWebhookOptions, readWebhookOptions, type WebhookOptions } from "../webhook-options.ts";
import { writeWebhook } from "../webhook-result.ts";
import { wrongUsage } from "../wrong-usage.ts";

interface UpdateOptions extends WebhookOptions {
  noSecret?: boolean;
}

/** Adds `hub-webhooks update`. */
export function addUpdate(program: Command, invocation: Invocation): void {
  addWebhookOptions(program.command("update").argument("<id>", "id of the webhook, as list shows it"), {
    defaultDomains: "replaces the list",
  })
    .addOption(noSecretOption())
    .description("change what is given of a webhook and keep the rest")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks update 654bbbc16f2ec14d77f109cc --url https://example.com/hook",
        "hub-webhooks update 654bbbc16f2ec14d77f109cc --watch model:me/a model:me/b    # replaces the list",
        "hub-webhooks update 654bbbc16f2ec14d77f109cc --no-secret",
      ),
    )
    .action(async (id: string, options: UpdateOptions) => {
      const { noSecret, ...described } = options;
      if (Object.keys(options).length === 0) {
        throw wrongUsage(
          "Nothing is to be changed: give --url, --job-source-id, --job, --watch, --domain, --secret or --no-secret.",
        );
      }
      if (noSecret && (described.secret !== undefined || described.secretStdin)) {
        throw wrongUsage("--no-secret removes the secret that another option sets: give one of them.");
      }
      const { job, ...changes } = await readWebhookOptions(described, invocation.shell);
      const hub = await invocation.connect();
      const webhook = await hub.webhooks.update(id, {
        ...changes,
        ...(job && { job: wholeJob({ job, before: (await hub.webhooks.get(id)).job }) }),
        ...(noSecret && { secret: null }),
      });
      writeWebhook(invocation.output, webhook);
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

/** The client lays changes over the job there was. A file is the whole job: what it leaves out is to be gone. */
function wholeJob({ job, before }: { job: WebhookJobRequest; before: WebhookJob | undefined }): WebhookChanges["job"] {
  const goneSecrets = Object.fromEntries((before?.secrets ?? []).map((name) => [name, null]));
  return { ...emptyJob, ...job, secrets: job.secrets ? { ...goneSecrets, ...job.secrets } : null };
}

/** Commander takes `--no-secret` for `--secret` turned off, and would let the last of both win without a word. */
function noSecretOption(): Option {
  const option = new Option("--no-secret", "remove the secret");
  option.negate = false;
  return option;
}
