import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { Duration } from "../../../core/options.ts";
import { plainJson, plainText } from "../../../core/terminal.ts";
import type { DeliveryStatus } from "../../../inbox/inbox.ts";
import { type Output, padColumn } from "../../output.ts";
import { examples, numberBetween } from "../../usage.ts";
import { DeliveryFollower } from "./delivery-follower.ts";
import { type DeliverySummary, deliveryColumns, deliveryRow } from "./delivery-list.ts";
import { type DeliveriesContext, endpointOption, parseDuration, statusOption } from "./delivery-options.ts";

interface TailOptions {
  endpoint?: string;
  status?: DeliveryStatus;
  last: number;
  interval: Duration;
}

/** Adds `hub-webhooks deliveries tail`. */
export function addTailDeliveries(deliveries: Command, { invocation, access }: DeliveriesContext): void {
  deliveries
    .command("tail")
    .description("print a line whenever a delivery arrives or changes, until stopped")
    .addOption(endpointOption("only print deliveries of this endpoint"))
    .addOption(statusOption("only print deliveries with this status"))
    .option("--last <number>", "number of existing deliveries to print first, 0 to 100", numberBetween(0, 100), 10)
    .option<Duration>("--interval <duration>", "poll interval", parseDuration, "1s")
    .addHelpText(
      "after",
      examples(
        "deliveries tail",
        "deliveries tail --status dead --last 0",
        "deliveries tail --format json | jq .id    # one object per line",
      ),
    )
    .action(async ({ status, last, interval, ...options }: TailOptions) => {
      const { endpoint } = options;
      const { toMilliseconds } = await import("../../../core/options.ts");
      const intervalMs = toMilliseconds(interval, "--interval");
      const { output, shell } = invocation;
      const stop = new AbortController();
      const onStop = () => stop.abort();
      shell.untilStopped().then(onStop);
      await access.use(async (inbox) => {
        const follower = new DeliveryFollower({ inbox, endpoint });
        const printer = new DeliveryPrinter(output);
        for (const delivery of await follower.start({ last, status })) printer.print(delivery);
        while (await waitForPoll(intervalMs, stop.signal)) {
          const { changed, hasMissed } = await follower.poll();
          for (const delivery of changed) {
            if (status === undefined || delivery.status === status) printer.print(delivery);
          }
          if (hasMissed)
            output.log(
              "Some deliveries were missed, because more arrived than one poll reads. Use a shorter --interval.",
            );
          // Wait for a slow reader. Otherwise, the output accumulates in memory.
          if (shell.stdout.writableNeedDrain) await once(shell.stdout, "drain", { signal: stop.signal }).catch(onStop);
        }
      });
    });
}

/** Waits until the next poll. Resolves with `true`, or with `false` if the command is stopped. */
async function waitForPoll(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await wait(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}

/**
 * The column widths, in characters. They are fixed because lines are printed one at a time. Most of the Hub's delivery
 * IDs have 36 characters.
 */
const widths: Readonly<Record<string, number>> = {
  id: 36,
  endpoint: 16,
  status: 9,
  event: 25,
  repo: 24,
  receivedAt: 24,
  duration: 8,
  attempts: 8,
};

/** Prints each delivery on one line: as a JSON object, an ID, or the columns of a list. */
class DeliveryPrinter {
  readonly #output: Output;
  #hasHeading = false;

  constructor(output: Output) {
    this.#output = output;
  }

  print(delivery: DeliverySummary): void {
    const { format } = this.#output;
    if (format === "json") this.#output.print(plainJson(delivery));
    else if (format === "quiet") this.#output.print(plainText(delivery.id));
    else this.#printRow(deliveryRow(delivery).map(plainText));
  }

  #printRow(row: readonly string[]): void {
    const isTable = this.#output.format === "table";
    if (!this.#hasHeading) {
      this.#hasHeading = true;
      this.#printCells(deliveryColumns.map(({ key, title }) => (isTable ? title.toUpperCase() : key)));
    }
    this.#printCells(isTable ? row.map((value) => value || "-") : row);
  }

  #printCells(cells: readonly string[]): void {
    const isTable = this.#output.format === "table";
    const padded = cells.map((cell, index) => padColumn(cell, widths[deliveryColumns[index]?.key ?? ""] ?? 0));
    this.#output.print(isTable ? padded.join("  ").trimEnd() : cells.join("\t"));
  }
}
