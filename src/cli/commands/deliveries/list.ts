import { type Command, Option } from "commander";
import { toShellWord } from "../../../core/text.ts";
import type { DeliveryStatus } from "../../../inbox/inbox.ts";
import { examples, numberBetween } from "../../usage.ts";
import { deliveriesResult, describeEmptyList, listDeliveries } from "./delivery-list.ts";
import { type DeliveriesContext, endpointOption, statusOption } from "./delivery-options.ts";

interface ListOptions {
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
    .addOption(endpointOption("only list deliveries of this endpoint"))
    .addOption(statusOption("only list deliveries with this status"))
    .option("--limit <number>", "maximum number of deliveries, 1 to 1000", numberBetween(1, 1_000), 50)
    .option("--cursor <cursor>", "list the next page; use the cursor that the previous page printed")
    .addOption(new Option("--all", "list all deliveries").conflicts("limit"))
    .addHelpText(
      "after",
      examples(
        "deliveries list",
        "deliveries list --endpoint retrain --status dead",
        "deliveries list --all --format json    # for programs; use show for the body",
      ),
    )
    .action(({ status, limit, cursor, all, ...options }: ListOptions) => {
      const { output } = invocation;
      const { endpoint } = options;
      return access.use(async (inbox) => {
        const filter = { ...(endpoint !== undefined && { endpoint }), ...(status !== undefined && { status }) };
        const found = await listDeliveries(inbox, {
          ...filter,
          ...(cursor !== undefined && { cursor }),
          limit: all ? Number.POSITIVE_INFINITY : limit,
        });
        output.printResult(deliveriesResult(found.deliveries));
        if (found.deliveries.length === 0) output.log(await describeEmptyList(inbox, { endpoint }));
        if (found.next === undefined) return;
        // `next` is also set after the last page if that page is full.
        const { deliveries: more } = await inbox.list({ ...filter, cursor: found.next, limit: 1 });
        if (more.length > 0)
          output.log(
            `There are more deliveries. Add --cursor ${toShellWord(found.next)} to list the next page, or --all to list all deliveries.`,
          );
      });
    });
}
