import type { Command } from "commander";
import type { DeliveryCounts } from "../../../inbox/inbox.ts";
import { examples } from "../../examples.ts";
import { type DeliveriesContext, endpointName, endpointOption } from "./delivery-options.ts";
import { describeNothing, statusColor } from "./delivery-result.ts";

type Counts = DeliveryCounts & { total: number };

const none: Counts = { queued: 0, running: 0, succeeded: 0, dead: 0, total: 0 };

/** Adds `hub-webhooks deliveries counts`. */
export function addCounts(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("counts")
    .description("count deliveries by endpoint and status")
    .addOption(endpointOption("only those of this endpoint of the server"))
    .addHelpText(
      "after",
      examples(
        "hub-webhooks deliveries counts",
        "hub-webhooks deliveries counts --endpoint retrain --format json",
        "hub-webhooks deliveries counts --format quiet    # the total alone",
      ),
    )
    .action((options: { endpoint?: string }) =>
      access.use(async (inbox) => {
        const endpoint = endpointName(options, invocation);
        const { output } = invocation;
        const counted = Object.entries(await inbox.counts())
          .filter(([name]) => endpoint === undefined || name === endpoint)
          .sort(([left], [right]) => (left < right ? -1 : 1))
          .map(([name, counts]): [string, Counts] => [name, add(none, counts)]);
        const total = counted.reduce((sum, [, counts]) => add(sum, counts), none);
        output.result({
          json: { endpoints: Object.fromEntries(counted), total },
          quiet: [String(total.total)],
          columns: [
            { key: "endpoint", title: "Endpoint" },
            { key: "queued", title: "Queued" },
            { key: "running", title: "Running" },
            { key: "succeeded", title: "Succeeded" },
            { key: "dead", title: "Dead", color: (count) => (count === "0" ? undefined : statusColor("dead")) },
            { key: "total", title: "Total" },
          ],
          rows: counted.length === 0 ? [] : [...counted, ["total", total] as const].map(([name, c]) => row(name, c)),
        });
        if (counted.length === 0) output.say(await describeNothing(inbox, { endpoint }));
      }),
    );
}

function add(left: Counts, { queued, running, succeeded, dead }: DeliveryCounts): Counts {
  return {
    queued: left.queued + queued,
    running: left.running + running,
    succeeded: left.succeeded + succeeded,
    dead: left.dead + dead,
    total: left.total + queued + running + succeeded + dead,
  };
}

function row(name: string, { queued, running, succeeded, dead, total }: Counts): readonly string[] {
  return [name, ...[queued, running, succeeded, dead, total].map(String)];
}
