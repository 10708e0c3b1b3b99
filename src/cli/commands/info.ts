import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { writeWebhook } from "../webhook-result.ts";

/** Adds `hub-webhooks info`. */
export function addInfo(program: Command, invocation: Invocation): void {
  program
    .command("info")
    .argument("<id>", "id of the webhook, as list shows it")
    .description("show one webhook")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks info 654bbbc16f2ec14d77f109cc",
        "hub-webhooks info 654bbbc16f2ec14d77f109cc --format json",
      ),
    )
    .action(async (id: string) => {
      const hub = await invocation.connect();
      writeWebhook(invocation.output, await hub.webhooks.get(id));
    });
}
