import type { Command } from "commander";
import { defaultInboxUrl } from "../../../core/urls.ts";
import { examples } from "../../usage.ts";
import { type DeliveriesContext, takeOverOption } from "./delivery-options.ts";
import type { TakeOverOptions } from "./inbox-access.ts";

/** Adds `hub-webhooks deliveries repair`. */
export function addRepair(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("repair")
    .description("repair an inbox in a bucket whose records are missing or unreadable; stop the server first")
    .addOption(takeOverOption())
    .addHelpText(
      "after",
      examples("deliveries repair", "deliveries repair --inbox hf://buckets/me/inbox", "deliveries repair --take-over"),
    )
    .action(({ takeOver }: TakeOverOptions) =>
      access.useUrl(async (url = defaultInboxUrl) => {
        const { repairInbox } = await import("../../../inbox/open-inbox.ts");
        const { output } = invocation;
        const repaired = await repairInbox(url, {
          ...access.settings,
          ...(takeOver !== undefined && { takeOver }),
        });
        output.printResult({
          json: repaired,
          quiet: repaired.map(({ record }) => String(record)),
          columns: [
            { key: "record", title: "Record" },
            { key: "isReadable", title: "Changes" },
            { key: "recovered", title: "Recovered deliveries" },
          ],
          rows: repaired.map(({ record, isReadable, recovered }) => [
            String(record),
            isReadable ? "readable" : "lost",
            String(recovered),
          ]),
        });
        if (repaired.length === 0) output.log("The inbox has no damaged records.");
        else if (repaired.some(({ isReadable }) => !isReadable)) {
          output.log(
            "Deliveries of lost records are missing. To send them again, replay the deliveries of the webhook on the Hub: https://huggingface.co/settings/webhooks",
          );
        }
      }),
    );
}
