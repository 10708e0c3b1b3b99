import type { Command } from "commander";
import { examples } from "../examples.ts";
import type { Invocation } from "../invocation.ts";

/** Adds `hub-webhooks replay`. */
export function addReplay(program: Command, invocation: Invocation): void {
  program
    .command("replay")
    .argument("<id>", "id of the webhook, as list shows it")
    .argument("<log-id>", "id of the delivery, as the webhook's Activity tab on the Hub shows it")
    .description("send a delivery again, to the webhook's present URL; fails unless the answer is 2xx")
    .addHelpText(
      "after",
      examples(
        "hub-webhooks replay 654bbbc16f2ec14d77f109cc 65f2a1b07c3d4e5f6a7b8c9d",
        "hub-webhooks replay 654bbbc16f2ec14d77f109cc 65f2a1b07c3d4e5f6a7b8c9d --format quiet    # the status alone",
      ),
    )
    .action(async (id: string, logId: string) => {
      const { output } = invocation;
      const hub = await invocation.connect();
      const { status } = await hub.webhooks.replay(id, logId);
      output.result({
        json: { id, logId, status },
        quiet: [String(status)],
        columns: [
          { key: "id", title: "Webhook" },
          { key: "logId", title: "Delivery" },
          { key: "status", title: "Status", color: (text) => (isSuccess(Number(text)) ? "green" : "red") },
        ],
        rows: [[id, logId, String(status)]],
        asBlocks: true,
      });
      if (!isSuccess(status)) {
        const answered = status === 502 ? "502, or did not answer at all" : String(status);
        output.say(`The receiver answered ${answered}, and only 2xx is a success: see its log, mend it, replay again.`);
        invocation.exitCode = 1;
      }
    });
}

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}
