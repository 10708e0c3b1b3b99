import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { writeWebhooks } from "../webhook-result.ts";

/** Adds `hub-webhooks list`. */
export function addList(program: Command, invocation: Invocation): void {
  program
    .command("list")
    .alias("ls")
    .description("list your webhooks")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks list",
        "hub-webhooks list --format json",
        "hub-webhooks list | cut -f 1,3    # piped: tab-separated, with a header",
      ),
    )
    .action(async () => {
      const hub = await invocation.connect();
      writeWebhooks(invocation.output, await hub.webhooks.list());
    });
}
