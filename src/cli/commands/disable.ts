import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { writeWebhook } from "../webhook-result.ts";

/** Adds `hub-webhooks disable`. */
export function addDisable(program: Command, invocation: Invocation): void {
  program
    .command("disable")
    .argument("<id>", "id of the webhook, as list shows it")
    .description("stop a webhook's deliveries and keep the webhook")
    .addHelpText("after", examples("hub-webhooks disable 654bbbc16f2ec14d77f109cc"))
    .action(async (id: string) => {
      const hub = await invocation.connect();
      writeWebhook(invocation.output, await hub.webhooks.disable(id));
    });
}
