import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { writeWebhook } from "../webhook-result.ts";

/** Adds `hub-webhooks enable`. */
export function addEnable(program: Command, invocation: Invocation): void {
  program
    .command("enable")
    .argument("<id>", "id of the webhook, as list shows it")
    .description("let a disabled or suspended webhook deliver again")
    .addHelpText("after", examples("hub-webhooks enable 654bbbc16f2ec14d77f109cc"))
    .action(async (id: string) => {
      const hub = await invocation.connect();
      writeWebhook(invocation.output, await hub.webhooks.enable(id));
    });
}
