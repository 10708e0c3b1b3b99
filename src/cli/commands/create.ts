import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { allDomains } from "../watched.ts";
import { addWebhookOptions, givenTargets, readWebhookOptions, type WebhookOptions } from "../webhook-options.ts";
import { writeWebhook } from "../webhook-result.ts";
import { wrongUsage } from "../wrong-usage.ts";

/** Adds `hub-webhooks create`. */
export function addCreate(program: Command, invocation: Invocation): void {
  addWebhookOptions(program.command("create"), { defaultDomains: "default: both" })
    .description("create a webhook")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks create --url https://me-bot.hf.space/webhooks/retrain --watch dataset:me/data",
        "hub-webhooks create --url https://example.com/hook --watch org:acme user:me --domain discussion",
        "openssl rand -hex 32 | hub-webhooks create --url https://example.com/hook --watch model:me/m --secret-stdin",
        "hub-webhooks create --job job.json --watch dataset:me/data --domain repo",
      ),
    )
    .action(async (options: WebhookOptions) => {
      const { watch = [] } = options;
      if (givenTargets(options).length === 0) {
        throw wrongUsage("Nothing says where deliveries go: give one of --url, --job-source-id and --job.");
      }
      if (watch.length === 0) {
        throw wrongUsage(
          "Nothing is watched: give --watch type:name at least once, such as --watch model:me/my-model.",
        );
      }
      const described = await readWebhookOptions(options, invocation.shell);
      const hub = await invocation.connect();
      const webhook = await hub.webhooks.create({ domains: [...allDomains], ...described, watched: [...watch] });
      if (webhook.url !== undefined && described.secret === undefined) {
        invocation.output.say(
          "note: The webhook has no secret, so anyone who knows its URL can post to it: delete it and create it with --secret-stdin, and give its receiver the same as WEBHOOK_SECRET.",
        );
      }
      writeWebhook(invocation.output, webhook);
    });
}
