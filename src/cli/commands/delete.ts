import type { Command } from "commander";
import { plainText } from "../../core/terminal-text.ts";
import { canAsk, confirm } from "../confirm.ts";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";
import { describeTarget, describeWatched } from "../webhook-result.ts";
import { wrongUsage } from "../wrong-usage.ts";

/** Adds `hub-webhooks delete`. */
export function addDelete(program: Command, invocation: Invocation): void {
  program
    .command("delete")
    .argument("<id>", "id of the webhook, as list shows it")
    .description("delete a webhook for good; asks before, unless --yes is given")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks delete 654bbbc16f2ec14d77f109cc",
        "hub-webhooks delete 654bbbc16f2ec14d77f109cc --yes    # in a script",
      ),
    )
    .action(async (id: string) => {
      const { output, shell, isConfirmed } = invocation;
      if (!isConfirmed && !canAsk(shell)) {
        throw wrongUsage("delete asks before it deletes, and there is no terminal to ask on: add --yes.");
      }
      const hub = await invocation.connect();
      if (!isConfirmed) {
        const webhook = await hub.webhooks.get(id);
        const question = `Delete webhook ${webhook.id} (${describeWatched(webhook)} to ${describeTarget(webhook)}) for good?`;
        if (!(await confirm({ shell, question: plainText(question) }))) {
          output.say("Nothing was deleted.");
          invocation.exitCode = 1;
          return;
        }
      }
      await hub.webhooks.delete(id);
      output.result({
        json: { id, deleted: true },
        quiet: [id],
        columns: [
          { key: "id", title: "Id" },
          { key: "state", title: "State" },
        ],
        rows: [[id, "deleted"]],
        asBlocks: true,
      });
    });
}
