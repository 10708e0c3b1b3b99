import type { Command } from "commander";
import { examples } from "../../examples.ts";
import type { DeliveriesContext } from "./delivery-options.ts";

/** Adds `hub-webhooks deliveries compact`. */
export function addCompact(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("compact")
    .description("give the unused space of a SQLite inbox back to the disk; stop the receiver first")
    .addHelpText(
      "after",
      examples("hub-webhooks deliveries compact", "hub-webhooks deliveries compact --inbox sqlite:./data/inbox.db"),
    )
    .action(() =>
      access.useUrl(async (url) => {
        const { compactInbox } = await import("../../../inbox/open-inbox.ts");
        const { bytesBefore, bytesAfter } = await compactInbox(url);
        invocation.output.result({
          json: { bytesBefore, bytesAfter },
          quiet: [String(bytesAfter)],
          columns: [
            { key: "before", title: "Before" },
            { key: "after", title: "After" },
          ],
          rows: [[megabytes(bytesBefore), megabytes(bytesAfter)]],
          asBlocks: true,
        });
      }),
    );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
