import { type Command, Option } from "commander";
import { toShellWord } from "../../../core/escape.ts";
import type { DeliveryStatus } from "../../../inbox/stored-delivery.ts";
import { examples } from "../../examples.ts";
import {
  type DeliveriesContext,
  endpointName,
  endpointOption,
  numberBetween,
  statusOption,
} from "./delivery-options.ts";
import { deliveriesResult, describeNothing, listDeliveries } from "./delivery-result.ts";

interface ListCommandOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  limit: number;
  cursor?: string;
  all?: boolean;
}

/** Adds `hub-webhooks deliveries list`. */
export function addListDeliveries(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("list")
    .alias("ls")
    .description("list deliveries, newest first")
    .addOption(endpointOption("only those of this endpoint of the server"))
    .addOption(statusOption("only those that are in this status"))
    .option("--limit <number>", "how many, 1 to 1000", numberBetween(1, 1_000), 50)
    .option("--cursor <cursor>", "go on where the list before ended, as that has told")
    .addOption(new Option("--all", "all of them, however many").conflicts("limit"))
    .addHelpText(
      "after",
      examples(
        "hub-webhooks deliveries list",
        "hub-webhooks deliveries list --endpoint retrain --status dead",
        "hub-webhooks deliveries list --all --format json    # for programs; show gives the body",
      ),
    )
    .action(({ status, limit, cursor, all, ...options }: ListCommandOptions) =>
      access.use(async (inbox) => {
        const { output } = invocation;
        const endpoint = endpointName(options, invocation);
        const filter = { ...(endpoint !== undefined && { endpoint }), ...(status !== undefined && { status }) };
        const found = await listDeliveries(inbox, {
          ...filter,
          ...(cursor !== undefined && { cursor }),
          limit: all ? Number.POSITIVE_INFINITY : limit,
        });
        output.result(deliveriesResult(found.deliveries));
        if (found.deliveries.length === 0) output.say(await describeNothing(inbox, { endpoint }));
        if (found.next === undefined) return;
        // The page may have been the last one, full to the brim.
        const { deliveries: more } = await inbox.list({ ...filter, cursor: found.next, limit: 1 });
        if (more.length > 0)
          output.say(`There are more: add --cursor ${toShellWord(found.next)}, or --all for all of them.`);
      }),
    );
}
